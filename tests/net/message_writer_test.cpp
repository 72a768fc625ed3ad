#include "net/message_writer.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "support/net/connected_pair.hpp"
#include "support/run.hpp"

using namespace oncegate;
namespace asio = boost::asio;
using core::Framing;
using core::HttpVersion;
using net::BodyWriter;
using net::Persistence;
using test::ConnectedPair;
using test::run;

namespace {

constexpr Framing none{};
constexpr Framing chunked{Framing::Kind::chunked, 0};
constexpr Framing until_close{Framing::Kind::until_close, 0};
constexpr Framing length(std::uint64_t bytes) { return {Framing::Kind::length, bytes}; }

core::ResponseHead ok() {
    core::ResponseHead head;
    head.status = 200;
    head.reason = "OK";
    head.fields = {{"x-ODD", "1"}, {"Set-Cookie", "a"}, {"Vary", "b"}, {"Set-Cookie", "c"}, {"Empty", ""}};
    return head;
}

const std::string ok_lines = "HTTP/1.1 200 OK\r\nx-ODD: 1\r\nSet-Cookie: a\r\nVary: b\r\nSet-Cookie: c\r\nEmpty: \r\n";

std::string response(const Framing& framing, HttpVersion client, Persistence persistence) {
    return net::response_head_bytes(ok(), framing, client, persistence);
}

}  // namespace

TEST_CASE("a request head keeps target and field lines byte for byte", "[R74][R126]") {
    core::RequestHead head;
    head.method = "POST";
    head.target = "/a/../%7e//b?q=%41";
    head.fields = {{"hOST", "api"}, {"X", "\xe9"}, {"X", "2"}};
    CHECK(net::request_head_bytes(head, none) ==
          "POST /a/../%7e//b?q=%41 HTTP/1.1\r\nhOST: api\r\nX: \xe9\r\nX: 2\r\n\r\n");
    CHECK(net::request_head_bytes(head, length(0)) ==
          "POST /a/../%7e//b?q=%41 HTTP/1.1\r\nhOST: api\r\nX: \xe9\r\nX: 2\r\nContent-Length: 0\r\n\r\n");
    CHECK(net::request_head_bytes(head, chunked) ==
          "POST /a/../%7e//b?q=%41 HTTP/1.1\r\nhOST: api\r\nX: \xe9\r\nX: 2\r\nTransfer-Encoding: chunked\r\n\r\n");
}

TEST_CASE("a request is sent as HTTP/1.1 whatever its client spoke", "[R127]") {
    core::RequestHead head;
    head.method = "GET";
    head.target = "/";
    head.version = HttpVersion::http10;
    CHECK(net::request_head_bytes(head, none) == "GET / HTTP/1.1\r\n\r\n");
}

TEST_CASE("framing is stated once, by the writer", "[R76][R114]") {
    core::RequestHead head;
    head.method = "POST";
    head.target = "/";
    head.fields = {{"content-length", "999"}, {"Host", "api"}, {"TRANSFER-ENCODING", "chunked"}};
    CHECK(net::request_head_bytes(head, length(5)) == "POST / HTTP/1.1\r\nHost: api\r\nContent-Length: 5\r\n\r\n");
}

TEST_CASE("a response head says what its client must know of the connection", "[R76][R127]") {
    const auto keep = Persistence::keep_alive;
    const auto close = Persistence::close;
    CHECK(response(length(18446744073709551615U), HttpVersion::http11, keep) ==
          ok_lines + "Content-Length: 18446744073709551615\r\n\r\n");
    CHECK(response(chunked, HttpVersion::http11, keep) == ok_lines + "Transfer-Encoding: chunked\r\n\r\n");
    CHECK(response(none, HttpVersion::http11, keep) == ok_lines + "\r\n");
    CHECK(response(length(5), HttpVersion::http11, close) ==
          ok_lines + "Content-Length: 5\r\nConnection: close\r\n\r\n");
    CHECK(response(length(5), HttpVersion::http10, keep) ==
          ok_lines + "Content-Length: 5\r\nConnection: keep-alive\r\n\r\n");
    CHECK(response(length(5), HttpVersion::http10, close) == ok_lines + "Content-Length: 5\r\n\r\n");
}

TEST_CASE("a response that ends with the connection never claims to keep it") {
    CHECK(response(until_close, HttpVersion::http11, Persistence::keep_alive) ==
          ok_lines + "Connection: close\r\n\r\n");
    CHECK(response(until_close, HttpVersion::http10, Persistence::keep_alive) == ok_lines + "\r\n");
}

TEST_CASE("a reason phrase may be empty, its space stays") {
    core::ResponseHead head;
    head.status = 299;
    CHECK(net::response_head_bytes(head, none, HttpVersion::http11, Persistence::keep_alive) ==
          "HTTP/1.1 299 \r\n\r\n");
}

TEST_CASE("bodies are framed as asked, the head travelling with the first piece") {
    asio::io_context io;
    ConnectedPair pair(io);
    net::Stream& stream = pair.ours.stream();

    BodyWriter plain(stream, length(10), "HEAD\r\n");
    run(io, plain.write("hello"));
    run(io, plain.write("world"));
    run(io, plain.finish());
    pair.theirs.expect("HEAD\r\nhelloworld");

    BodyWriter coded(stream, chunked, "HEAD\r\n");
    run(io, coded.write("hello"));
    run(io, coded.write(std::string(26, 'x')));
    run(io, coded.finish({{"X-Sum", "1"}, {"X-Other", "2"}}));
    pair.theirs.expect("HEAD\r\n5\r\nhello\r\n1a\r\n" + std::string(26, 'x') +
                       "\r\n0\r\nX-Sum: 1\r\nX-Other: 2\r\n\r\n");

    BodyWriter last(stream, chunked, "HEAD\r\n");
    run(io, last.write_last("hello"));
    pair.theirs.expect("HEAD\r\n5\r\nhello\r\n0\r\n\r\n");
    stream.close();
    CHECK(pair.theirs.read_all().empty());
}

TEST_CASE("an empty piece sends the head alone and is no last chunk") {
    asio::io_context io;
    ConnectedPair pair(io);
    BodyWriter writer(pair.ours.stream(), chunked, "HEAD\r\n");
    run(io, writer.write(""));
    pair.theirs.expect("HEAD\r\n");
    run(io, writer.write(""));
    run(io, writer.write_last(""));
    pair.theirs.expect("0\r\n\r\n");
    pair.ours.stream().close();
    CHECK(pair.theirs.read_all().empty());
}

TEST_CASE("a head without a body is sent by finish") {
    asio::io_context io;
    ConnectedPair pair(io);
    BodyWriter writer(pair.ours.stream(), none, "HEAD\r\n");
    const auto result = run(io, writer.finish());
    CHECK(result.bytes == 6);
    pair.theirs.expect("HEAD\r\n");
}
