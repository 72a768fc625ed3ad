#include "net/head_reader.hpp"

#include <boost/asio/post.hpp>
#include <catch2/catch.hpp>
#include <string>

#include "support/net/connected_pair.hpp"
#include "support/run.hpp"

using namespace oncegate;
namespace asio = boost::asio;
using namespace std::chrono_literals;
using net::NoHead;
using test::ConnectedPair;
using test::run;

namespace {

constexpr std::size_t limit = 64U << 10;
const std::string request = "POST /v1/payments?x=1 HTTP/1.1\r\nHost: api\r\nIdempotency-Key: \"abc\"\r\n\r\n";

net::HeadOr<core::RequestHead> read_request(asio::io_context& io, ConnectedPair& pair, std::size_t most = limit) {
    return run(io, net::read_request_head(pair.ours, most, 10s));
}

net::HeadOr<core::ResponseHead> read_response(asio::io_context& io, ConnectedPair& pair, std::size_t most = limit) {
    return run(io, net::read_response_head(pair.ours, most));
}

int status_of(const net::HeadOr<core::RequestHead>& head) {
    REQUIRE_FALSE(head.has_value());
    REQUIRE(head.error().kind == NoHead::Kind::malformed);
    CHECK_FALSE(head.error().fault.detail.empty());
    return head.error().fault.status;
}

}  // namespace

TEST_CASE("a head that comes at once is read as received") {
    asio::io_context io;
    ConnectedPair pair(io);
    pair.theirs.send(request);
    const auto head = read_request(io, pair);
    REQUIRE(head.has_value());
    CHECK(head->method == "POST");
    CHECK(head->target == "/v1/payments?x=1");
    REQUIRE(head->fields.size() == 2);
    CHECK(head->fields[1].name == "Idempotency-Key");
    CHECK(head->fields[1].value == "\"abc\"");
    CHECK(pair.ours.buffered().empty());
}

TEST_CASE("a head that comes byte by byte is the same head") {
    asio::io_context io;
    ConnectedPair pair(io);
    // Every byte is a read of its own: the next is sent when the loop is idle again.
    std::size_t sent = 0;
    std::function<void()> send_next = [&] {
        if (sent == request.size()) return;
        pair.theirs.send(std::string_view(request).substr(sent++, 1));
        asio::post(io, send_next);
    };
    asio::post(io, send_next);
    const auto head = read_request(io, pair);
    REQUIRE(head.has_value());
    CHECK(head->fields.size() == 2);
}

TEST_CASE("bytes after a head stay for what follows", "[R129]") {
    asio::io_context io;
    ConnectedPair pair(io);
    const std::string second = "GET /second HTTP/1.1\r\nHost: api\r\n\r\n";
    pair.theirs.send(request + second + "rest");
    REQUIRE(read_request(io, pair).has_value());
    const auto next = read_request(io, pair);
    REQUIRE(next.has_value());
    CHECK(next->target == "/second");
    CHECK(pair.ours.buffered() == "rest");
}

TEST_CASE("a few empty lines before a request line are skipped, many are refused") {
    asio::io_context io;
    ConnectedPair few(io);
    few.theirs.send("\r\n\r\n" + request);
    CHECK(read_request(io, few).has_value());

    ConnectedPair many(io);
    many.theirs.send("\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n");
    CHECK(status_of(read_request(io, many)) == 400);
}

TEST_CASE("a connection that ends before a request is closed, in the middle it is broken", "[R65]") {
    asio::io_context io;
    ConnectedPair pair(io);
    pair.theirs.half_close();
    const auto none = read_request(io, pair);
    REQUIRE_FALSE(none.has_value());
    CHECK(none.error().kind == NoHead::Kind::closed);

    ConnectedPair after_empty_line(io);
    after_empty_line.theirs.send("\r\n");
    after_empty_line.theirs.half_close();
    CHECK(read_request(io, after_empty_line).error().kind == NoHead::Kind::closed);

    ConnectedPair reset(io);
    reset.theirs.reset();
    CHECK(read_request(io, reset).error().kind == NoHead::Kind::closed);

    for (std::size_t cut = 1; cut < request.size(); ++cut) {
        ConnectedPair broken(io);
        broken.theirs.send(request.substr(0, cut));
        broken.theirs.half_close();
        const auto head = read_request(io, broken);
        REQUIRE_FALSE(head.has_value());
        CHECK(head.error().kind == NoHead::Kind::broken);
        CHECK(head.error().started);
    }
}

TEST_CASE("the first byte is awaited under the earlier deadline, the rest under its own") {
    asio::io_context io;
    ConnectedPair idle(io);
    idle.ours.stream().deadline(10ms);
    const auto silent = read_request(io, idle);
    REQUIRE_FALSE(silent.has_value());
    CHECK(silent.error().kind == NoHead::Kind::timed_out);
    CHECK_FALSE(silent.error().started);

    ConnectedPair slow(io);
    slow.ours.stream().deadline(1h);
    slow.theirs.send("POST / HT");
    const auto stuck = run(io, net::read_request_head(slow.ours, limit, 10ms));
    REQUIRE_FALSE(stuck.has_value());
    CHECK(stuck.error().kind == NoHead::Kind::timed_out);
    CHECK(stuck.error().started);
}

TEST_CASE("bytes that trickle in do not move the deadline of the head") {
    asio::io_context io;
    ConnectedPair pair(io);
    asio::steady_timer tick(io);
    std::function<void()> drip = [&] {
        pair.theirs.send("x");
        tick.expires_after(1ms);
        tick.async_wait([&](net::error_code stopped) {
            if (!stopped) drip();
        });
    };
    pair.theirs.send("POST /");
    drip();
    const auto head = run(io, net::read_request_head(pair.ours, limit, 30ms));
    tick.cancel();
    REQUIRE_FALSE(head.has_value());
    CHECK(head.error().kind == NoHead::Kind::timed_out);
}

TEST_CASE("a head over the limit is 431, a request line over it 414", "[R131]") {
    asio::io_context io;
    ConnectedPair fields(io);
    fields.theirs.send("GET / HTTP/1.1\r\nHost: api\r\nX: " + std::string(2000, 'x'));
    CHECK(status_of(read_request(io, fields, 1024)) == 431);

    ConnectedPair line(io);
    line.theirs.send("GET /" + std::string(2000, 'x'));
    CHECK(status_of(read_request(io, line, 1024)) == 414);

    ConnectedPair whole(io);
    whole.theirs.send("GET / HTTP/1.1\r\nHost: api\r\nX: " + std::string(2000, 'x') + "\r\n\r\n");
    CHECK(status_of(read_request(io, whole, 1024)) == 431);
}

TEST_CASE("a head exactly as long as the limit is accepted, one byte less is not") {
    asio::io_context io;
    ConnectedPair fits(io);
    fits.theirs.send(request + "body");
    CHECK(read_request(io, fits, request.size()).has_value());

    ConnectedPair too_long(io);
    too_long.theirs.send(request + "body");
    CHECK(status_of(read_request(io, too_long, request.size() - 1)) == 431);
}

TEST_CASE("a head of 60 KiB with a target of 8000 octets is read", "[R131]") {
    asio::io_context io;
    ConnectedPair pair(io);
    std::string head = "GET /" + std::string(8000, 'a') + " HTTP/1.1\r\nHost: api\r\n";
    while (head.size() < 60000) head += "X-Filler: " + std::string(90, 'f') + "\r\n";
    pair.theirs.send(head + "\r\n");
    const auto read = read_request(io, pair);
    REQUIRE(read.has_value());
    CHECK(read->target.size() == 8001);
}

TEST_CASE("what cannot become a head is refused without waiting for more", "[R119]") {
    asio::io_context io;
    const std::string refused =
        GENERATE(std::string("GET / HTTP/1.1\nHost: api\n\n"),          // bare LF
                 std::string("GET / HTTP/1.1\r\nHost: api\nX: y\r\n"),  // bare LF in the middle, the head unfinished
                 std::string("\nGET / HTTP/1.1\r\n"),                   // bare LF before the request line
                 std::string("\x16\x03\x01\x02\x00\x01", 6),            // a TLS hello
                 std::string(" GET / HTTP/1.1\r\n"),                    // white space first
                 std::string("\0GET", 4));
    ConnectedPair pair(io);
    pair.theirs.send(refused);
    CHECK(status_of(read_request(io, pair)) == 400);
}

TEST_CASE("core's rules on a whole head are reported as they are", "[R118][R119]") {
    asio::io_context io;
    ConnectedPair pair(io);
    pair.theirs.send("GET / HTTP/1.1\r\nHost : api\r\n\r\n");
    CHECK(status_of(read_request(io, pair)) == 400);

    ConnectedPair hostless(io);
    hostless.theirs.send("GET / HTTP/1.1\r\n\r\n");
    CHECK(status_of(read_request(io, hostless)) == 400);
}

TEST_CASE("interim and final responses are read one by one", "[R77]") {
    asio::io_context io;
    ConnectedPair pair(io);
    pair.theirs.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
    const auto interim = read_response(io, pair);
    REQUIRE(interim.has_value());
    CHECK(interim->status == 103);
    const auto final_head = read_response(io, pair);
    REQUIRE(final_head.has_value());
    CHECK(final_head->status == 200);
    CHECK(pair.ours.buffered() == "hi");
}

TEST_CASE("a response that is none, is cut off or too slow is told apart", "[R62][R120]") {
    asio::io_context io;
    ConnectedPair noise(io);
    noise.theirs.send("SSH-2.0-x\r\n");
    CHECK(read_response(io, noise).error().kind == NoHead::Kind::malformed);

    ConnectedPair bare(io);
    bare.theirs.send("HTTP/1.1 200 OK\nX: y\n\n");
    CHECK(read_response(io, bare).error().kind == NoHead::Kind::malformed);

    ConnectedPair long_head(io);
    long_head.theirs.send("HTTP/1.1 200 OK\r\nX: " + std::string(2000, 'x'));
    CHECK(read_response(io, long_head, 1024).error().kind == NoHead::Kind::malformed);

    ConnectedPair closed(io);
    closed.theirs.close();
    CHECK(read_response(io, closed).error().kind == NoHead::Kind::closed);

    ConnectedPair cut(io);
    cut.theirs.send("HTTP/1.1 20");
    cut.theirs.close();
    CHECK(read_response(io, cut).error().kind == NoHead::Kind::broken);

    ConnectedPair reset(io);
    reset.theirs.send("HTTP/1.1 20");
    reset.theirs.reset();
    CHECK_FALSE(read_response(io, reset).has_value());

    ConnectedPair slow(io);
    slow.theirs.send("HTTP/1.1 20");
    run(io, slow.ours.fill(limit));
    slow.ours.stream().deadline(10ms);
    const auto late = read_response(io, slow);
    CHECK(late.error().kind == NoHead::Kind::timed_out);
    CHECK(late.error().started);
}
