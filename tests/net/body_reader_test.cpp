#include "net/body_reader.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <thread>

#include "support/net/connected_pair.hpp"
#include "support/run.hpp"

using namespace oncegate;
namespace asio = boost::asio;
using namespace std::chrono_literals;
using core::Framing;
using net::BodyFault;
using test::ConnectedPair;
using test::run;

namespace {

struct Body {
    std::string content;
    std::optional<BodyFault::Kind> fault;
    int pieces = 0;
};

asio::awaitable<Body> read_whole(net::BodyReader& reader) {
    Body body;
    while (true) {
        const auto piece = co_await reader.next();
        if (!piece) {
            body.fault = piece.error().kind;
            co_return body;
        }
        if (piece->empty()) co_return body;
        body.content += *piece;
        ++body.pieces;
    }
}

constexpr Framing none{};
constexpr Framing chunked{Framing::Kind::chunked, 0};
constexpr Framing until_close{Framing::Kind::until_close, 0};
constexpr Framing length(std::uint64_t bytes) { return {Framing::Kind::length, bytes}; }

}  // namespace

TEST_CASE("a message without content has ended at once and takes no byte") {
    asio::io_context io;
    ConnectedPair pair(io);
    const Framing framing = GENERATE(as<Framing>{}, none, length(0));
    net::BodyReader reader(pair.ours, framing, 1s);
    CHECK(reader.finished());
    CHECK(run(io, reader.next())->empty());
    CHECK(run(io, reader.next())->empty());
}

TEST_CASE("a body of known length ends at its last byte and the next message stays", "[R129]") {
    asio::io_context io;
    ConnectedPair pair(io);
    pair.theirs.send("helloGET /next");
    net::BodyReader reader(pair.ours, length(5), 1s);
    const auto body = run(io, read_whole(reader));
    CHECK(body.content == "hello");
    CHECK_FALSE(body.fault.has_value());
    CHECK(reader.finished());
    CHECK(pair.ours.buffered() == "GET /next");
}

TEST_CASE("with the last piece of a known length the reader says that it has finished") {
    asio::io_context io;
    ConnectedPair pair(io);
    pair.theirs.send("hello");
    net::BodyReader reader(pair.ours, length(5), 1s);
    const auto piece = run(io, reader.next());
    CHECK(*piece == "hello");
    CHECK(reader.finished());
    CHECK(run(io, reader.next())->empty());
}

TEST_CASE("a chunked body that is all there finishes with its last piece") {
    asio::io_context io;
    ConnectedPair pair(io);
    pair.theirs.send("5\r\nhello\r\n0\r\nX: y\r\n\r\nGET /next");
    net::BodyReader reader(pair.ours, chunked, 1s);
    const auto piece = run(io, reader.next());
    CHECK(*piece == "hello");
    CHECK(reader.finished());
    CHECK(reader.trailers().find("x") == "y");
    CHECK(pair.ours.buffered() == "GET /next");
    CHECK(run(io, reader.next())->empty());
}

TEST_CASE("a chunked body in many packets is put together") {
    asio::io_context io;
    ConnectedPair pair(io);
    const std::string message = "5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nX-Sum: 1\r\n\r\n";
    std::size_t sent = 0;
    std::function<void()> send_next = [&] {
        if (sent == message.size()) return;
        pair.theirs.send(message.substr(sent++, 1));
        asio::post(io, send_next);
    };
    asio::post(io, send_next);
    net::BodyReader reader(pair.ours, chunked, 10s);
    const auto body = run(io, read_whole(reader));
    CHECK(body.content == "hello world");
    CHECK(reader.trailers().size() == 1);
}

TEST_CASE("a body read until the connection closes ends with an orderly close only", "[R87]") {
    asio::io_context io;
    ConnectedPair closed(io);
    closed.theirs.send("hello");
    closed.theirs.close();
    net::BodyReader reader(closed.ours, until_close, 1s);
    const auto body = run(io, read_whole(reader));
    CHECK(body.content == "hello");
    CHECK_FALSE(body.fault.has_value());
    CHECK(reader.finished());

    ConnectedPair reset(io);
    reset.theirs.send("hello");
    net::BodyReader broken(reset.ours, until_close, 1s);
    CHECK(*run(io, broken.next()) == "hello");
    reset.theirs.reset();
    CHECK(run(io, read_whole(broken)).fault == BodyFault::Kind::cut_off);
    CHECK_FALSE(broken.finished());

    ConnectedPair silent(io);
    silent.theirs.send("hello");
    net::BodyReader slow(silent.ours, until_close, 10ms);
    CHECK(run(io, read_whole(slow)).fault == BodyFault::Kind::timed_out);
    CHECK_FALSE(slow.finished());
}

TEST_CASE("a body that ends early is cut off wherever it ends", "[R65][R87][R147]") {
    struct Case {
        Framing framing;
        std::string message;
    };
    const auto& [framing, message] =
        GENERATE(values<Case>({{length(11), "hello world"}, {chunked, "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"}}));
    for (std::size_t cut = 0; cut < message.size(); ++cut) {
        asio::io_context io;
        ConnectedPair pair(io);
        pair.theirs.send(message.substr(0, cut));
        pair.theirs.half_close();
        net::BodyReader reader(pair.ours, framing, 10s);
        const auto body = run(io, read_whole(reader));
        INFO("after " << cut << " bytes");
        CHECK(body.fault == BodyFault::Kind::cut_off);
        CHECK_FALSE(reader.finished());
        // A broken body stays broken.
        CHECK(run(io, read_whole(reader)).fault == BodyFault::Kind::cut_off);
    }
}

TEST_CASE("a malformed chunk is reported after the content before it", "[R117]") {
    asio::io_context io;
    ConnectedPair pair(io);
    pair.theirs.send("5\r\nhello\r\nXYZ\r\n");
    net::BodyReader reader(pair.ours, chunked, 1s);
    const auto body = run(io, read_whole(reader));
    CHECK(body.content == "hello");
    CHECK(body.fault == BodyFault::Kind::malformed);
    CHECK_FALSE(reader.finished());
    CHECK(run(io, read_whole(reader)).fault == BodyFault::Kind::malformed);
}

TEST_CASE("a piece that does not come in time is a timeout, chunk lines that trickle in do not help") {
    asio::io_context io;
    ConnectedPair pair(io);
    asio::steady_timer tick(io);
    std::function<void()> drip = [&] {
        pair.theirs.send("0");
        tick.expires_after(1ms);
        tick.async_wait([&](net::error_code stopped) {
            if (!stopped) drip();
        });
    };
    drip();
    net::BodyReader reader(pair.ours, chunked, 30ms);
    CHECK(run(io, read_whole(reader)).fault == BodyFault::Kind::timed_out);
    tick.cancel();
}

TEST_CASE("pieces in time keep a long body going") {
    asio::io_context io;
    ConnectedPair pair(io);
    asio::steady_timer tick(io);
    int left = 8;
    std::function<void()> drip = [&] {
        pair.theirs.send("x");
        if (--left == 0) return;
        tick.expires_after(60ms);
        tick.async_wait([&](net::error_code) { drip(); });
    };
    drip();
    net::BodyReader reader(pair.ours, length(8), 300ms);  // less than the 420 ms of the whole
    CHECK(run(io, read_whole(reader)).content == "xxxxxxxx");
}

TEST_CASE("a large body comes through whole, in pieces of bounded size") {
    const std::size_t total = 20U << 20;
    std::string content(total, '\0');
    for (std::size_t i = 0; i < total; ++i) content[i] = static_cast<char>(i * 31 / 7);
    const bool in_chunks = GENERATE(false, true);
    std::string message = content;
    if (in_chunks) {
        message = "A00000\r\n" + content.substr(0, total / 2) + "\r\nA00000\r\n" + content.substr(total / 2) +
                  "\r\n0\r\n\r\n";
    }
    asio::io_context io;
    ConnectedPair pair(io);
    std::thread sender([&] { pair.theirs.send(message); });
    net::BodyReader reader(pair.ours, in_chunks ? chunked : length(total), 10s);
    std::size_t largest = 0;
    std::string received;
    run(io, [&]() -> asio::awaitable<void> {
        while (true) {
            const auto piece = co_await reader.next();
            if (!piece || piece->empty()) co_return;
            largest = std::max(largest, piece->size());
            received += *piece;
        }
    }());
    sender.join();
    CHECK(reader.finished());
    CHECK((received == content));
    CHECK(largest <= 64U << 10);
    CHECK(largest > 16U << 10);
}
