// How connections over TLS end, well and badly, and what is said to have gone out by then.

#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <catch2/catch.hpp>

#include "net/tls_fault.hpp"
#include "net/tls_records.hpp"
#include "support/net/full_stream.hpp"
#include "support/net/raw_socket.hpp"
#include "support/net/tls_party.hpp"
#include "support/run.hpp"

using namespace oncegate;
namespace asio = boost::asio;
using namespace std::chrono_literals;
using net::IoResult;
using test::accepted;
using test::connected;
using test::Handshake;
using test::in_background;
using test::pattern;
using test::read_into;
using test::run;
using test::TlsParty;
using test::TlsPeer;
using test::write_text;

namespace {

/// Ours is the server, over a stream that can be made full.
Handshake accepted_over(asio::io_context& io, const TlsParty& party, const bool& full) {
    return Handshake(io, {}, [&](auto transport) {
        std::unique_ptr<net::Stream> layered = std::make_unique<test::FullStream>(std::move(transport), full);
        return party.server->accept(std::move(layered), 10s);
    });
}

}  // namespace

TEST_CASE("close_notify is the end of input and an end without it is not", "[R87]") {
    const auto version = GENERATE(TLS1_2_VERSION, TLS1_3_VERSION);
    asio::io_context io;
    const TlsParty party;
    std::string text;

    auto clean = accepted(io, party, version);
    clean.peer.write("all of it");
    clean.peer.close_notify();
    CHECK_FALSE(run(io, read_into(*clean.stream, text, 100)).error);
    CHECK(text == "all of it");
    CHECK(run(io, read_into(*clean.stream, text, 100)).error == asio::error::eof);
    CHECK(run(io, read_into(*clean.stream, text, 100)).error == asio::error::eof);

    auto cut = accepted(io, party, version);
    cut.peer.write("some of it");
    cut.peer.shut_down_sending();
    CHECK_FALSE(run(io, read_into(*cut.stream, text, 100)).error);
    CHECK(text == "some of it");
    CHECK(run(io, read_into(*cut.stream, text, 100)).error == net::tls_truncated());
    CHECK(run(io, read_into(*cut.stream, text, 100)).error == net::tls_truncated());

    auto reset = accepted(io, party, version);
    reset.peer.reset();
    CHECK(run(io, read_into(*reset.stream, text, 100)).error == asio::error::connection_reset);
}

TEST_CASE("a peer that ended what it sends can still be answered", "[R64]") {
    asio::io_context io;
    const TlsParty party;
    const bool clean = GENERATE(true, false);
    auto both = accepted(io, party);
    both.peer.write("request");
    if (clean) {
        both.peer.close_notify();
    } else {
        both.peer.shut_down_sending();
    }
    std::string text;
    run(io, read_into(*both.stream, text, 100));
    CHECK(run(io, read_into(*both.stream, text, 100)).error);
    CHECK_FALSE(run(io, write_text(*both.stream, "answer")).error);
    CHECK(both.peer.read(6) == "answer");
}

TEST_CASE("close ends with close_notify and reset does not", "[R147]") {
    const auto version = GENERATE(TLS1_2_VERSION, TLS1_3_VERSION);
    asio::io_context io;
    const TlsParty party;
    auto closed = accepted(io, party, version);
    run(io, write_text(*closed.stream, "answer"));
    closed.stream->close();
    CHECK(closed.peer.wait_end() == TlsPeer::End::close_notify);

    auto reset = accepted(io, party, version);
    run(io, write_text(*reset.stream, "part of an answer"));
    reset.stream->reset();
    CHECK(reset.peer.wait_end() == TlsPeer::End::fault);

    auto half = accepted(io, party, version);
    half.stream->close_sending();
    CHECK(half.peer.wait_end() == TlsPeer::End::close_notify);
    half.peer.write("still here");
    std::string text;
    CHECK_FALSE(run(io, read_into(*half.stream, text, 100)).error);
    CHECK(text == "still here");
}

TEST_CASE("close_notify that finds no room is sent by the reads of a staged close", "[R128]") {
    asio::io_context io;
    const TlsParty party;
    bool full = false;
    auto both = accepted_over(io, party, full);
    CHECK_FALSE(run(io, write_text(*both.stream, "answer")).error);
    full = true;
    both.stream->close_sending();
    full = false;
    auto end = in_background([&] {
        const auto how = both.peer.wait_end();
        both.peer.close_notify();
        return how;
    });
    std::string none;
    CHECK(run(io, read_into(*both.stream, none, 100)).error == asio::error::eof);
    CHECK(end.get() == TlsPeer::End::close_notify);
}

TEST_CASE("a record that found no room at all was not sent", "[R61]") {
    asio::io_context io;
    const TlsParty party;
    bool full = false;
    auto both = accepted_over(io, party, full);
    full = true;
    bool finished = false;
    IoResult result;
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            result = co_await write_text(*both.stream, "request");
            finished = true;
        },
        [](std::exception_ptr) {});
    io.restart();
    io.poll();
    CHECK_FALSE(finished);
    CHECK(both.stream->bytes_written() == 0);
    full = false;
    test::run_until(io, [&] { return finished; });
    CHECK_FALSE(result.error);
    CHECK(both.stream->bytes_written() == 7);
    CHECK(both.peer.read(7) == "request");
}

TEST_CASE("a write to a peer that takes nothing times out and tells what may have gone out", "[R62]") {
    asio::io_context io;
    const TlsParty party;
    auto both = accepted(io, party);
    const std::string text = pattern(32U << 20, 5);
    both.stream->deadline(50ms);
    const IoResult result = run(io, write_text(*both.stream, text));
    CHECK(result.error == asio::error::timed_out);
    CHECK(result.bytes > 0);
    CHECK(result.bytes < text.size());
    CHECK(both.stream->bytes_written() == result.bytes);
    // The record that hangs must not go out as a part of something else.
    both.stream->deadline(50ms);
    CHECK(run(io, write_text(*both.stream, "more")).error == asio::error::broken_pipe);
    both.stream->close();
    std::size_t received = 0;
    try {
        for (;;) received += both.peer.read(256).size();
    } catch (const test::PeerFailure&) {
    }
    CHECK(received <= result.bytes);
    CHECK(result.bytes - received <= net::tls_record_bytes + 256);
}

TEST_CASE("a write over TLS to a connection that was reset before takes no byte", "[R61]") {
    asio::io_context io;
    const TlsParty party;
    auto both = connected(io, party, TLS1_2_VERSION);
    both.peer.reset();
    std::string ignored;
    CHECK(run(io, read_into(*both.stream, ignored, 10)).error == asio::error::connection_reset);
    const IoResult result = run(io, write_text(*both.stream, "hello"));
    CHECK(result.error);
    CHECK(result.bytes == 0);
    CHECK(both.stream->bytes_written() == 0);
}

TEST_CASE("garbage in place of a record is a fault that nothing is read from") {
    asio::io_context io;
    const TlsParty party;
    auto both = accepted(io, party);
    test::RawSocket wire(::dup(both.peer.descriptor()));
    wire.send(std::string("\x17\x03\x03\x00\x20", 5) + std::string(32, 'g'));
    std::string text;
    const IoResult read = run(io, read_into(*both.stream, text, 100));
    CHECK(read.error.message() == "decryption failed or bad record mac");
    CHECK(text.empty());
    CHECK(run(io, read_into(*both.stream, text, 100)).error);
    CHECK_FALSE(both.stream->is_quiet());
    both.stream->close();
}
