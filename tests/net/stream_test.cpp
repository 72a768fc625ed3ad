#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "support/net/connected_pair.hpp"
#include "support/run.hpp"

using namespace oncegate;
namespace asio = boost::asio;
using namespace std::chrono_literals;
using net::IoResult;
using test::ConnectedPair;
using test::RawSocket;
using test::run;

namespace {

asio::awaitable<IoResult> write_text(net::Stream& stream, const std::string& text) {
    const std::array<asio::const_buffer, 1> pieces{asio::buffer(text)};
    co_return co_await stream.write(pieces);
}

asio::awaitable<IoResult> read_into(net::Stream& stream, std::string& into, std::size_t room) {
    into.resize(room);
    const IoResult result = co_await stream.read_some(asio::buffer(into));
    into.resize(result.bytes);
    co_return result;
}

/// More than any socket buffer of the system takes.
std::string too_much() { return std::string(32U << 20, 'x'); }

}  // namespace

TEST_CASE("a gather write arrives in order, empty pieces included") {
    asio::io_context io;
    ConnectedPair pair(io);
    std::vector<std::string> texts;
    std::vector<asio::const_buffer> pieces;
    std::string all;
    for (int i = 0; i < 40; ++i)
        texts.push_back(i % 3 == 1 ? "" : std::string(static_cast<std::size_t>(i), char('a' + i % 26)));
    for (const auto& text : texts) {
        pieces.push_back(asio::buffer(text));
        all += text;
    }
    const IoResult result = run(io, pair.ours.stream().write(pieces));
    CHECK_FALSE(result.error);
    CHECK(result.bytes == all.size());
    CHECK(pair.ours.stream().bytes_written() == all.size());
    pair.theirs.expect(all);
}

TEST_CASE("a write larger than the socket's buffers arrives whole") {
    asio::io_context io;
    ConnectedPair pair(io);
    const std::string text = too_much();
    std::string received;
    std::thread reader([&] { received = pair.theirs.read(text.size()); });
    const IoResult result = run(io, write_text(pair.ours.stream(), text));
    reader.join();
    CHECK_FALSE(result.error);
    CHECK(received == text);
}

TEST_CASE("a write that times out counts exactly the bytes the peer can read", "[R62]") {
    asio::io_context io;
    ConnectedPair pair(io);
    const std::string text = too_much();
    pair.ours.stream().deadline(50ms);
    const IoResult result = run(io, write_text(pair.ours.stream(), text));
    CHECK(result.error == asio::error::timed_out);
    CHECK(result.bytes > 0);
    CHECK(result.bytes < text.size());
    CHECK(pair.ours.stream().bytes_written() == result.bytes);
    // Read while we close: what the system took is delivered, and nothing more.
    pair.ours.stream().close_sending();
    CHECK(pair.theirs.read_all().size() == result.bytes);
}

TEST_CASE("a write that the peer resets reports what was taken before", "[R62]") {
    asio::io_context io;
    ConnectedPair pair(io);
    std::thread peer([&] {
        pair.theirs.read(1000);
        pair.theirs.reset();
    });
    const IoResult result = run(io, write_text(pair.ours.stream(), too_much()));
    peer.join();
    CHECK((result.error == asio::error::connection_reset || result.error == asio::error::broken_pipe));
    CHECK(result.bytes >= 1000);
    CHECK(pair.ours.stream().bytes_written() == result.bytes);
}

TEST_CASE("a write to a connection that was reset before takes no byte", "[R61]") {
    asio::io_context io;
    ConnectedPair pair(io);
    pair.theirs.reset();
    std::string ignored;
    CHECK(run(io, read_into(pair.ours.stream(), ignored, 10)).error == asio::error::connection_reset);
    const IoResult result = run(io, write_text(pair.ours.stream(), "hello"));
    CHECK(result.error);
    CHECK(result.bytes == 0);
    CHECK(pair.ours.stream().bytes_written() == 0);
}

TEST_CASE("reads give what is there, then the end of input") {
    asio::io_context io;
    ConnectedPair pair(io);
    pair.theirs.send("abcdef");
    pair.theirs.half_close();
    std::string text;
    std::string all;
    IoResult result;
    while (!(result = run(io, read_into(pair.ours.stream(), text, 2))).error) all += text;
    CHECK(all == "abcdef");
    CHECK(result.error == asio::error::eof);
}

TEST_CASE("a read ends with a timeout at the deadline, and a new deadline gives a new chance") {
    asio::io_context io;
    ConnectedPair pair(io);
    std::string text;
    pair.ours.stream().deadline(10ms);
    CHECK(run(io, read_into(pair.ours.stream(), text, 10)).error == asio::error::timed_out);
    // The deadline stays in force: what comes later does not count.
    pair.theirs.send("late");
    CHECK(run(io, read_into(pair.ours.stream(), text, 10)).error == asio::error::timed_out);

    pair.ours.stream().deadline(10s);
    CHECK_FALSE(run(io, read_into(pair.ours.stream(), text, 10)).error);
    CHECK(text == "late");
}

TEST_CASE("a deadline may be moved closer and farther while its timer runs") {
    asio::io_context io;
    ConnectedPair pair(io);
    std::string text;
    pair.ours.stream().deadline(1h);
    pair.ours.stream().deadline(10ms);
    CHECK(run(io, read_into(pair.ours.stream(), text, 10)).error == asio::error::timed_out);

    const auto begin = std::chrono::steady_clock::now();
    pair.ours.stream().deadline(1ms);
    pair.ours.stream().deadline(30ms);
    CHECK(run(io, read_into(pair.ours.stream(), text, 10)).error == asio::error::timed_out);
    CHECK(std::chrono::steady_clock::now() - begin >= 20ms);  // deadlines are as coarse as the system's tick
}

TEST_CASE("without a deadline an earlier one does not strike") {
    asio::io_context io;
    ConnectedPair pair(io);
    pair.ours.stream().deadline(1ms);
    pair.ours.stream().no_deadline();
    asio::steady_timer later(io, 20ms);
    later.async_wait([&](auto) { pair.theirs.send("hello"); });
    std::string text;
    CHECK_FALSE(run(io, read_into(pair.ours.stream(), text, 10)).error);
    CHECK(text == "hello");
}

TEST_CASE("a limit beyond the clock's range is no deadline") {
    asio::io_context io;
    ConnectedPair pair(io);
    pair.ours.stream().deadline(net::milliseconds::max());
    pair.theirs.send("x");
    std::string text;
    CHECK_FALSE(run(io, read_into(pair.ours.stream(), text, 10)).error);
}

TEST_CASE("cancel ends what is under way as aborted, not as timed out") {
    asio::io_context io;
    ConnectedPair pair(io);
    pair.ours.stream().deadline(10s);
    // The read starts between the two turns.
    asio::post(io, [&] { asio::post(io, [&] { pair.ours.stream().cancel(); }); });
    std::string text;
    CHECK(run(io, read_into(pair.ours.stream(), text, 10)).error == asio::error::operation_aborted);
}

TEST_CASE("a stream may go while its deadline's handler is queued") {
    asio::io_context io;
    {
        ConnectedPair pair(io);
        pair.ours.stream().deadline(0ms);
        // Due, and not yet run: the handler is called after the stream is gone.
    }
    io.restart();
    io.run();
    SUCCEED();
}

TEST_CASE("a stream may go when its deadline has fired and its operation was cancelled") {
    asio::io_context io;
    auto pair = std::make_unique<ConnectedPair>(io);
    std::string text;
    pair->ours.stream().deadline(5ms);
    CHECK(run(io, read_into(pair->ours.stream(), text, 10)).error == asio::error::timed_out);
    pair->ours.stream().deadline(5ms);
    pair.reset();
    io.restart();
    io.run();
}

TEST_CASE("close is an orderly end for the peer and reset is not", "[R147]") {
    asio::io_context io;
    ConnectedPair closed(io);
    run(io, write_text(closed.ours.stream(), "part of a message"));
    closed.ours.stream().close();
    CHECK(closed.theirs.wait_end() == RawSocket::End::closed);

    ConnectedPair reset(io);
    run(io, write_text(reset.ours.stream(), "part of a message"));
    reset.ours.stream().reset();
    CHECK(reset.theirs.wait_end() == RawSocket::End::reset);
}

TEST_CASE("after half-closing, the peer sees the end and can still be read") {
    asio::io_context io;
    ConnectedPair pair(io);
    pair.ours.stream().close_sending();
    CHECK(pair.theirs.read_all().empty());
    pair.theirs.send("still here");
    std::string text;
    CHECK_FALSE(run(io, read_into(pair.ours.stream(), text, 100)).error);
    CHECK(text == "still here");
}

TEST_CASE("a quiet connection is one that neither sent nor closed", "[R130]") {
    asio::io_context io;
    ConnectedPair pair(io);
    CHECK(pair.ours.stream().is_quiet());

    ConnectedPair sent(io);
    sent.theirs.send("?");
    sent.ours.stream().no_deadline();
    // Loopback delivers before send() returns, so that there is nothing to wait for.
    CHECK_FALSE(sent.ours.stream().is_quiet());

    ConnectedPair closed(io);
    closed.theirs.close();
    CHECK_FALSE(closed.ours.stream().is_quiet());

    ConnectedPair reset(io);
    reset.theirs.reset();
    CHECK_FALSE(reset.ours.stream().is_quiet());

    ConnectedPair ended(io);
    ended.ours.stream().close();
    CHECK_FALSE(ended.ours.stream().is_quiet());
}

TEST_CASE("the peer's address has no port") {
    asio::io_context io;
    ConnectedPair pair(io);
    CHECK(pair.ours.stream().peer_address() == "127.0.0.1");
}

TEST_CASE("the address of an IPv4 peer is IPv4 on a socket that takes both") {
    using asio::ip::tcp;
    asio::io_context io;
    tcp::acceptor acceptor(io);
    net::error_code unsupported;
    acceptor.open(tcp::v6(), unsupported);
    if (unsupported) return;
    acceptor.set_option(asio::ip::v6_only(false));
    acceptor.bind(tcp::endpoint(tcp::v6(), 0));
    acceptor.listen();
    const auto client = RawSocket::connect(acceptor.local_endpoint().port());
    CHECK(net::make_plain_stream(acceptor.accept())->peer_address() == "127.0.0.1");
}

TEST_CASE("a balancer's word on the peer replaces its address") {
    asio::io_context io;
    ConnectedPair pair(io);
    pair.ours.stream().announce_peer("203.0.113.7");
    CHECK(pair.ours.stream().peer_address() == "203.0.113.7");
}

TEST_CASE("a unix socket is a stream whose peer has no address") {
    using asio::local::stream_protocol;
    asio::io_context io;
    stream_protocol::socket ours(io);
    stream_protocol::socket theirs(io);
    asio::local::connect_pair(ours, theirs);
    const auto stream = net::make_plain_stream(std::move(ours));
    CHECK(stream->peer_address().empty());
    CHECK_FALSE(stream->encrypted());
    CHECK(stream->peer_certificate() == nullptr);
    CHECK(stream->is_quiet());
    CHECK_FALSE(run(io, write_text(*stream, "hello")).error);
    std::string text(5, '\0');
    asio::read(theirs, asio::buffer(text));
    CHECK(text == "hello");
    asio::write(theirs, asio::buffer(std::string("world")));
    CHECK_FALSE(run(io, read_into(*stream, text, 100)).error);
    CHECK(text == "world");
    theirs.close();
    CHECK(run(io, read_into(*stream, text, 100)).error == asio::error::eof);
}

TEST_CASE("what is layered on a stream reads and writes without waiting and waits without reading") {
    asio::io_context io;
    ConnectedPair pair(io);
    auto& stream = pair.ours.stream();
    std::string text(100, '\0');
    CHECK(stream.try_read(asio::buffer(text)).error == asio::error::would_block);

    pair.theirs.send("hello");
    CHECK_FALSE(run(io, stream.wait_readable()));
    const IoResult read = stream.try_read(asio::buffer(text));
    CHECK_FALSE(read.error);
    CHECK(text.substr(0, read.bytes) == "hello");

    const std::string large = too_much();
    const IoResult written = stream.try_write(asio::buffer(large));
    CHECK_FALSE(written.error);
    CHECK(written.bytes > 0);
    CHECK(written.bytes < large.size());
    CHECK(stream.bytes_written() == written.bytes);
    while (!stream.try_write(asio::buffer(large)).error) {
    }
    CHECK(stream.try_write(asio::buffer(large)).error == asio::error::would_block);
    stream.deadline(20ms);
    CHECK(run(io, stream.wait_writable()) == asio::error::timed_out);
    CHECK(run(io, stream.wait_readable()) == asio::error::timed_out);
    stream.deadline(10s);
    std::thread reader([&] { pair.theirs.read(stream.bytes_written()); });
    CHECK_FALSE(run(io, stream.wait_writable()));
    reader.join();

    pair.theirs.half_close();
    CHECK_FALSE(run(io, stream.wait_readable()));
    CHECK(stream.try_read(asio::buffer(text)).error == asio::error::eof);
}

namespace {

asio::awaitable<void> count_wait(net::Stream& stream, int& woken) {
    const auto error = co_await stream.wait_readable();
    if (!error) ++woken;
}

}  // namespace

TEST_CASE("several coroutines may wait for one stream") {
    asio::io_context io;
    ConnectedPair pair(io);
    int woken = 0;
    for (int i = 0; i < 3; ++i) asio::co_spawn(io, count_wait(pair.ours.stream(), woken), asio::detached);
    io.poll();
    CHECK(woken == 0);
    pair.theirs.send("x");
    test::run_until(io, [&] { return woken == 3; });
}

namespace {

/// Reads a byte at a time as long as there are any.
asio::awaitable<void> read_all_there_is(net::Stream& stream, int& reads) {
    char byte = 0;
    for (;;) {
        const auto read = co_await stream.read_some(asio::buffer(&byte, 1));
        if (read.error) co_return;
        ++reads;
    }
}

}  // namespace

TEST_CASE("a reader that never has to wait lets others have a turn") {
    asio::io_context io;
    ConnectedPair pair(io);
    pair.theirs.send(std::string(1000, 'x'));
    pair.theirs.half_close();
    int reads = 0;
    int reads_at_turn = -1;
    run(io, [&]() -> asio::awaitable<void> {
        asio::post(io, [&] { reads_at_turn = reads; });
        co_await read_all_there_is(pair.ours.stream(), reads);
    }());
    CHECK(reads == 1000);
    CHECK(reads_at_turn >= 0);
    CHECK(reads_at_turn < 100);
}
