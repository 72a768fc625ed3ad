// A stream over TLS after its handshake, against OpenSSL's own client; what every stream promises is in stream_test.

#include "net/tls_stream.hpp"

#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <catch2/catch.hpp>

#include "support/net/raw_socket.hpp"
#include "support/net/tls_party.hpp"
#include "support/run.hpp"

using namespace oncegate;
namespace asio = boost::asio;
using namespace std::chrono_literals;
using net::IoResult;
using test::accepted;
using test::connected;
using test::in_background;
using test::pattern;
using test::read_into;
using test::run;
using test::TlsParty;
using test::TlsPeer;
using test::write_text;

namespace {

asio::awaitable<net::error_code> read_up_to(net::Stream& stream, std::string& all, std::size_t bytes) {
    std::string piece;
    while (all.size() < bytes) {
        const IoResult read = co_await read_into(stream, piece, std::min<std::size_t>(bytes - all.size(), 50'000));
        all += piece;
        if (read.error) co_return read.error;
    }
    co_return net::error_code();
}

/// How many records wait in a socket that no TLS reads.
std::vector<std::size_t> records_in(test::RawSocket& socket, std::size_t count) {
    std::vector<std::size_t> sizes;
    for (std::size_t i = 0; i < count; ++i) {
        const std::string head = socket.read(5);
        const std::size_t size =
            (static_cast<std::size_t>(static_cast<unsigned char>(head[3])) << 8U) | static_cast<unsigned char>(head[4]);
        socket.read(size);
        sizes.push_back(size);
    }
    return sizes;
}

}  // namespace

TEST_CASE("small pieces share a record and large ones are cut into whole records") {
    asio::io_context io;
    const TlsParty party;
    auto both = accepted(io, party, TLS1_2_VERSION);
    test::RawSocket wire(::dup(both.peer.descriptor()));
    constexpr std::size_t overhead = 24;  // of AES-GCM in TLS 1.2: explicit nonce and tag
    const std::string head(200, 'h');
    const std::string body(300, 'b');
    const std::string large(40'000, 'l');
    const std::string nothing;
    const auto write = [&](const std::vector<asio::const_buffer>& pieces) {
        const IoResult result = run(io, both.stream->write(pieces));
        REQUIRE_FALSE(result.error);
        REQUIRE(result.bytes == asio::buffer_size(pieces));
    };
    const auto before = both.stream->bytes_written();
    write({asio::buffer(head), asio::buffer(nothing), asio::buffer(body)});
    CHECK(records_in(wire, 1) == std::vector<std::size_t>{500 + overhead});
    write({asio::buffer(head), asio::buffer(large), asio::buffer(nothing), asio::buffer(head)});
    CHECK(records_in(wire, 3) ==
          std::vector<std::size_t>{16'384 + overhead, 16'384 + overhead, 400 + 40'000 - 2 * 16'384 + overhead});
    write({asio::buffer(large)});
    CHECK(records_in(wire, 3) ==
          std::vector<std::size_t>{16'384 + overhead, 16'384 + overhead, 40'000 - 2 * 16'384 + overhead});
    CHECK(both.stream->bytes_written() - before == 500 + 40'400 + 40'000);
}

TEST_CASE("what is gathered from many pieces arrives in order") {
    const auto version = GENERATE(TLS1_2_VERSION, TLS1_3_VERSION);
    asio::io_context io;
    const TlsParty party;
    auto both = accepted(io, party, version);
    std::vector<std::string> texts;
    std::vector<asio::const_buffer> pieces;
    std::string all;
    for (const std::size_t size : {0, 1, 16'383, 1, 16'384, 0, 16'385, 5, 40'000, 0, 7, 60'000, 3, 0})
        texts.push_back(pattern(size, static_cast<unsigned>(texts.size())));
    for (const auto& text : texts) {
        pieces.push_back(asio::buffer(text));
        all += text;
    }
    auto received = in_background([&] { return both.peer.read(all.size()); });
    const IoResult result = run(io, both.stream->write(pieces));
    CHECK_FALSE(result.error);
    CHECK(result.bytes == all.size());
    CHECK(received.get() == all);
}

TEST_CASE("large transfers in both directions at once arrive whole") {
    const auto version = GENERATE(TLS1_2_VERSION, TLS1_3_VERSION);
    asio::io_context io;
    const TlsParty party;
    auto both = accepted(io, party, version);
    auto& peer = both.peer;
    const std::string down = pattern(12U << 20, 1);
    const std::string up = pattern(12U << 20, 2);
    // Two threads must not share the peer's SSL object: it sends and receives in turns that do not match ours.
    auto echoing = in_background([&] {
        std::string received;
        for (std::size_t at = 0; at < up.size(); at += 3U << 20) {
            peer.write(up.substr(at, 3U << 20));
            received += peer.read(3U << 20);
        }
        return received;
    });
    std::string received;
    bool written = false;
    both.stream->deadline(20s);
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            const IoResult result = co_await write_text(*both.stream, down);
            if (!result.error && result.bytes == down.size()) written = true;
        },
        [](std::exception_ptr) {});
    CHECK_FALSE(run(io, read_up_to(*both.stream, received, up.size())));
    test::run_until(io, [&] { return written; });
    CHECK(echoing.get() == down);
    CHECK(received == up);
}

TEST_CASE("keys may be updated in the middle of transfers in both directions") {
    asio::io_context io;
    const TlsParty party;
    auto both = accepted(io, party);
    auto& peer = both.peer;
    const std::string down = pattern(4U << 20, 3);
    const std::string up = pattern(4U << 20, 4);
    auto echoing = in_background([&] {
        std::string received;
        for (std::size_t at = 0; at < up.size(); at += 1U << 19) {
            peer.update_keys();
            peer.write(up.substr(at, 1U << 19));
            received += peer.read(1U << 19);
        }
        return received;
    });
    std::string received;
    bool written = false;
    both.stream->deadline(20s);
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            const IoResult result = co_await write_text(*both.stream, down);
            if (!result.error) written = true;
        },
        [](std::exception_ptr) {});
    CHECK_FALSE(run(io, read_up_to(*both.stream, received, up.size())));
    test::run_until(io, [&] { return written; });
    CHECK(echoing.get() == down);
    CHECK(received == up);
}

TEST_CASE("a connection with session tickets unread is quiet", "[R130]") {
    const auto version = GENERATE(TLS1_2_VERSION, TLS1_3_VERSION);
    asio::io_context io;
    const TlsParty party;
    auto both = connected(io, party, version);
    CHECK(both.stream->is_quiet());
    CHECK(both.stream->is_quiet());
    both.peer.write("answer");
    CHECK_FALSE(both.stream->is_quiet());
    CHECK_FALSE(both.stream->is_quiet());
    std::string text;
    CHECK_FALSE(run(io, read_into(*both.stream, text, 3)).error);
    CHECK(text == "ans");
    CHECK_FALSE(both.stream->is_quiet());  // the rest is held by OpenSSL
    CHECK_FALSE(run(io, read_into(*both.stream, text, 100)).error);
    CHECK(text == "wer");
    CHECK(both.stream->is_quiet());
    both.peer.close_notify();
    CHECK_FALSE(both.stream->is_quiet());
}

TEST_CASE("a connection that ended is not quiet", "[R130]") {
    asio::io_context io;
    const TlsParty party;
    auto cut = connected(io, party);
    cut.peer.shut_down_sending();
    CHECK_FALSE(cut.stream->is_quiet());
    auto reset = connected(io, party);
    reset.peer.reset();
    CHECK_FALSE(reset.stream->is_quiet());
    auto closed = connected(io, party);
    closed.stream->close();
    CHECK_FALSE(closed.stream->is_quiet());
}

TEST_CASE("looking whether a connection is quiet takes nothing from a read that waits") {
    const bool waits_first = GENERATE(false, true);
    asio::io_context io;
    const TlsParty party;
    auto both = accepted(io, party);
    std::string text;
    bool finished = false;
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            if (waits_first) co_await both.stream->wait_readable();
            co_await read_into(*both.stream, text, 100);
            finished = true;
        },
        [](std::exception_ptr) {});
    io.restart();
    io.poll();
    CHECK(both.stream->is_quiet());
    both.peer.write("hello");
    CHECK_FALSE(both.stream->is_quiet());
    test::run_until(io, [&] { return finished; });
    CHECK(text == "hello");
}

TEST_CASE("waiting for input ends with something to read or an end and not with a ticket") {
    const auto version = GENERATE(TLS1_2_VERSION, TLS1_3_VERSION);
    asio::io_context io;
    const TlsParty party;
    auto both = connected(io, party, version);
    both.stream->deadline(50ms);
    CHECK(run(io, both.stream->wait_readable()) == asio::error::timed_out);
    both.stream->deadline(10s);
    both.peer.write("ab");
    std::string text;
    for (const char* expected : {"a", "b"}) {
        CHECK_FALSE(run(io, both.stream->wait_readable()));
        CHECK_FALSE(run(io, read_into(*both.stream, text, 1)).error);
        CHECK(text == expected);
    }
    both.peer.close_notify();
    CHECK_FALSE(run(io, both.stream->wait_readable()));
    CHECK(run(io, read_into(*both.stream, text, 1)).error == asio::error::eof);
}

TEST_CASE("a read over TLS ends with a timeout at the deadline and a new deadline gives a new chance") {
    asio::io_context io;
    const TlsParty party;
    auto both = accepted(io, party);
    std::string text;
    both.stream->deadline(10ms);
    CHECK(run(io, read_into(*both.stream, text, 10)).error == asio::error::timed_out);
    both.peer.write("late");
    CHECK(run(io, read_into(*both.stream, text, 10)).error == asio::error::timed_out);
    both.stream->deadline(10s);
    CHECK_FALSE(run(io, read_into(*both.stream, text, 10)).error);
    CHECK(text == "late");
}

TEST_CASE("cancel ends a read over TLS as aborted") {
    asio::io_context io;
    const TlsParty party;
    auto both = accepted(io, party);
    both.stream->deadline(10s);
    asio::post(io, [&] { asio::post(io, [&] { both.stream->cancel(); }); });
    std::string text;
    CHECK(run(io, read_into(*both.stream, text, 10)).error == asio::error::operation_aborted);
}

TEST_CASE("a reader over TLS that never has to wait lets others have a turn") {
    asio::io_context io;
    const TlsParty party;
    auto both = accepted(io, party);
    both.peer.write(std::string(1000, 'x'));
    int reads = 0;
    int reads_at_turn = -1;
    run(io, [&]() -> asio::awaitable<void> {
        asio::post(io, [&] { reads_at_turn = reads; });
        char byte = 0;
        for (; reads < 1000; ++reads) co_await both.stream->read_some(asio::buffer(&byte, 1));
    }());
    CHECK(reads_at_turn >= 0);
    CHECK(reads_at_turn < 100);
}
