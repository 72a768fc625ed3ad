// The edges of plain proxying: interim responses, trailers, old versions on either side, peers that stop reading or
// sending, and what the pool learns of it.

#include <algorithm>
#include <catch2/catch.hpp>

#include "support/net/scripted_peer.hpp"
#include "support/proxy/proxy_under_test.hpp"

using namespace oncegate;
using std::chrono::milliseconds;
using test::Gate;
using test::has_line;
using test::ProxyUnderTest;
using test::RawSocket;
using test::ScriptedPeer;
using test::status_of;

namespace {

ScriptedPeer::Script answers(std::string response) {
    return [response = std::move(response)](RawSocket& proxy) {
        for (;;) {
            try {
                proxy.read_message();
                proxy.send(response);
            } catch (const test::PeerFailure&) {
                return;
            }
        }
    };
}

const std::string empty_answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

}  // namespace

TEST_CASE("interim responses pass to HTTP/1.1 and not to HTTP/1.0", "[R124]") {
    ScriptedPeer upstream(
        answers("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\nConnection: x\r\nX: 1\r\n\r\n"
                "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" +
                empty_answer));
    ProxyUnderTest proxy(upstream.port());
    for (const std::string path : {"GET /plain", "POST /pay"}) {
        auto client = proxy.connect();
        client.send(path + " HTTP/1.1\r\nHost: a\r\nIdempotency-Key: k\r\n\r\n");
        CHECK(status_of(client.read_head()) == 100);
        const auto processing = client.read_head();
        CHECK(status_of(processing) == 102);
        CHECK_FALSE(has_line(processing, "X: 1"));
        CHECK(has_line(client.read_head(), "Link: </a>"));
        CHECK(status_of(client.read_head()) == 200);
        auto old = proxy.connect();
        old.send(path + " HTTP/1.0\r\nIdempotency-Key: old\r\n\r\n");
        CHECK(status_of(old.read_head()) == 200);
    }
}

TEST_CASE("a client that was told to go on is not told so twice", "[R123][R124]") {
    std::string request;
    ScriptedPeer upstream([&](RawSocket& proxy) {
        request = proxy.read_message().head;
        proxy.send("HTTP/1.1 100 Continue\r\n\r\n" + empty_answer);
        proxy.wait_end();
    });
    ProxyUnderTest proxy(upstream.port());
    auto client = proxy.connect();
    client.send("PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    client.expect("HTTP/1.1 100 Continue\r\n\r\n");
    client.send("ok");
    CHECK(status_of(client.read_head()) == 200);
    CHECK(request.find("Expect") == std::string::npos);
}

TEST_CASE("trailers pass in both directions of a plain route and not to HTTP/1.0") {
    std::string body;
    ScriptedPeer upstream([&](RawSocket& proxy) {
        for (int i = 0; i < 2; ++i) {
            proxy.read_head();
            if (i == 0) body = proxy.read_until("\r\n\r\n");
            proxy.send(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 7\r\nHost: evil\r\n\r\n");
        }
        proxy.wait_end();
    });
    ProxyUnderTest proxy(upstream.port());
    auto client = proxy.connect();
    client.send(
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Up: 1\r\nAuthorization: "
        "no\r\n\r\n");
    CHECK(status_of(client.read_head()) == 200);
    client.expect("2\r\nok\r\n0\r\nX-Sum: 7\r\n\r\n");
    CHECK(body == "3\r\nabc\r\n0\r\nX-Up: 1\r\n\r\n");
    auto old = proxy.connect();
    old.send("GET / HTTP/1.0\r\nHost: a\r\n\r\n");
    CHECK(old.read_all().ends_with("\r\n\r\nok"));
}

TEST_CASE("an answer that ends with its connection is whole for any client", "[R127]") {
    ScriptedPeer upstream([](RawSocket& proxy) {
        proxy.read_head();
        proxy.send("HTTP/1.0 200 OK\r\n\r\nold but ");
        proxy.send("whole");
        proxy.close();
    });
    ProxyUnderTest proxy(upstream.port());
    auto client = proxy.connect();
    for (int i = 0; i < 2; ++i) {  // the client's own connection goes on
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        const auto answer = client.read_message();
        INFO(answer.head);
        CHECK(has_line(answer.head, "Transfer-Encoding: chunked"));
        std::string content;
        for (std::size_t at = 0; answer.body.compare(at, 1, "0") != 0;) {
            const auto size = std::stoul(answer.body.substr(at), nullptr, 16);
            const auto begin = answer.body.find("\r\n", at) + 2;
            content += answer.body.substr(begin, size);
            at = begin + size + 2;
        }
        CHECK(content == "old but whole");
    }
    auto old = proxy.connect();
    old.send("GET / HTTP/1.0\r\nHost: a\r\n\r\n");
    CHECK(old.read_all().ends_with("\r\n\r\nold but whole"));
}

TEST_CASE("an HTTP/1.0 client is not even told of chunks", "[R127]") {
    ScriptedPeer upstream([](RawSocket& proxy) {
        proxy.read_head();
        proxy.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        proxy.wait_end();
    });
    ProxyUnderTest proxy(upstream.port());
    auto client = proxy.connect();
    client.send("HEAD / HTTP/1.0\r\nHost: a\r\n\r\n");
    CHECK(client.read_all().find("Transfer-Encoding") == std::string::npos);
}

TEST_CASE("a body that stops coming is cut off and the client told that the connection ends", "[R131]") {
    ScriptedPeer upstream([](RawSocket& proxy) {
        proxy.read_head();
        proxy.wait_end();
    });
    ProxyUnderTest proxy(upstream.port(),
                         [](config::Config& config) { config.server.timeouts.body_idle = milliseconds(50); });
    for (const std::string path : {"/plain", "/pay"}) {
        auto client = proxy.connect();
        client.send("POST " + path + " HTTP/1.1\r\nHost: a\r\nIdempotency-Key: k\r\nContent-Length: 9\r\n\r\nsome");
        const auto answer = client.read_message();
        CHECK(status_of(answer.head) == 408);
        CHECK(has_line(answer.head, "Connection: close"));
        CHECK(client.wait_end() == RawSocket::End::closed);
    }
}

TEST_CASE("a chunked body that grows too large is refused and the connection ends", "[R131]") {
    ScriptedPeer upstream([](RawSocket& proxy) { proxy.wait_end(); });
    ProxyUnderTest proxy(upstream.port(), [](config::Config& config) { config.server.limits.request_body = 10; });
    auto client = proxy.connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n0123456789a\r\n");
    const auto answer = client.read_message();
    CHECK(status_of(answer.head) == 413);
    CHECK(has_line(answer.head, "Connection: close"));
}

TEST_CASE("who is refused with much still to send is told that the connection ends", "[R128]") {
    test::RefusingPort nobody;
    const ProxyUnderTest proxy(nobody.port());
    auto client = proxy.connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10000000\r\n\r\n");
    const auto answer = client.read_message();
    CHECK(status_of(answer.head) == 502);
    CHECK(has_line(answer.head, "Connection: close"));
    auto small = proxy.connect();
    small.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");
    CHECK_FALSE(has_line(small.read_message().head, "Connection: close"));
}

TEST_CASE("a client that leaves during a download takes the upstream's connection with it", "[R64]") {
    Gate left;
    ScriptedPeer upstream([&](RawSocket& proxy) {
        proxy.read_head();
        proxy.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
        left.wait();
        try {
            for (;;) proxy.send("3\r\nabc\r\n");
        } catch (const test::PeerFailure&) {  // the proxy does not go on reading for nobody
        }
    });
    ProxyUnderTest proxy(upstream.port());
    {
        auto client = proxy.connect();
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        client.read_until("abc");
        client.reset();
    }
    left.open();
    upstream.finish();
}

TEST_CASE("a client that leaves during an upload takes the upstream's connection with it", "[R65]") {
    Gate begun;
    ScriptedPeer upstream([&](RawSocket& proxy) {
        proxy.read_until("some");
        begun.open();
        proxy.wait_end();
    });
    ProxyUnderTest proxy(upstream.port());
    auto client = proxy.connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nsome");
    begun.wait();
    client.close();
    upstream.finish();
}

TEST_CASE("a client that does not read is cut off, and cannot take that for the end", "[R147]") {
    Gate begun;
    ScriptedPeer upstream([&](RawSocket& proxy) {
        proxy.read_head();
        begun.open();
        proxy.send("HTTP/1.1 200 OK\r\n\r\n");  // until the end of the connection
        const std::string piece(1U << 20, 'x');
        try {
            for (;;) proxy.send(piece);
        } catch (const test::PeerFailure&) {
        }
    });
    ProxyUnderTest proxy(upstream.port(),
                         [](config::Config& config) { config.server.timeouts.write_idle = milliseconds(60); });
    auto client = proxy.connect();
    client.shrink_receive_buffer();
    client.send("GET / HTTP/1.0\r\nHost: a\r\n\r\n");
    begun.wait();
    upstream.finish();
    CHECK(client.wait_end() == RawSocket::End::reset);
}

TEST_CASE("a connection is left before the time that the upstream names", "[R130]") {
    ScriptedPeer upstream(answers("HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1, max=9\r\nContent-Length: 0\r\n\r\n"));
    ProxyUnderTest proxy(upstream.port());
    for (int i = 0; i < 2; ++i) CHECK(status_of(proxy.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n").head) == 200);
    CHECK(status_of(proxy.ask(test::pay("k")).head) == 200);
    CHECK(upstream.connections() == 3);
    ScriptedPeer patient(answers("HTTP/1.1 200 OK\r\nKeep-Alive: timeout=60\r\nContent-Length: 0\r\n\r\n"));
    ProxyUnderTest other(patient.port());
    for (int i = 0; i < 2; ++i) CHECK(status_of(other.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n").head) == 200);
    CHECK(status_of(other.ask(test::pay("k")).head) == 200);
    CHECK(patient.connections() == 1);
}

TEST_CASE("a server that breaks off without an answer is left out for a while", "[R61]") {
    const std::string request = GENERATE(std::string("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), test::pay("k"));
    ScriptedPeer bad([](RawSocket& proxy) {
        proxy.read_head();
        proxy.close();
    });
    ScriptedPeer good(answers(empty_answer));
    ProxyUnderTest proxy(bad.port(), [&](config::Config& config) {
        auto& target = config.upstreams[0];
        target.servers.push_back(target.servers[0]);
        target.servers[1].port = good.port();
        target.ejection.failures = 1;
    });
    CHECK(status_of(proxy.ask(request).head) == 502);
    for (int i = 0; i < 6; ++i) CHECK(status_of(proxy.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n").head) == 200);
    CHECK(bad.connections() == 1);
}

TEST_CASE("a client that breaks off its body is no fault of the server", "[R65]") {
    Gate begun;
    std::vector<ScriptedPeer::Script> scripts{[&](RawSocket& proxy) {
                                                  proxy.read_until("some");
                                                  begun.open();
                                                  proxy.wait_end();
                                              },
                                              answers(empty_answer)};
    ScriptedPeer first(scripts);
    ScriptedPeer second(answers("HTTP/1.1 418 Other\r\nContent-Length: 0\r\n\r\n"));
    ProxyUnderTest proxy(first.port(), [&](config::Config& config) {
        auto& target = config.upstreams[0];
        target.servers.push_back(target.servers[0]);
        target.servers[1].port = second.port();
        target.ejection.failures = 1;
    });
    auto client = proxy.connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nsome");
    begun.wait();
    client.half_close();
    CHECK(status_of(client.read_message().head) == 400);
    std::vector<int> statuses;
    for (int i = 0; i < 4; ++i) statuses.push_back(status_of(proxy.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n").head));
    std::sort(statuses.begin(), statuses.end());
    CHECK(statuses == std::vector<int>{200, 200, 418, 418});
}

TEST_CASE("any number of interim responses is a dialogue", "[R124][R62]") {
    std::string answer;
    for (int i = 0; i < 100; ++i) answer += "HTTP/1.1 102 Processing\r\n\r\n";
    ScriptedPeer upstream(answers(answer + empty_answer));
    ProxyUnderTest proxy(upstream.port());
    for (const std::string path : {"GET /plain", "POST /pay"}) {
        auto client = proxy.connect();
        client.send(path + " HTTP/1.1\r\nHost: a\r\nIdempotency-Key: k\r\n\r\n");
        for (int i = 0; i < 100; ++i) CHECK(status_of(client.read_head()) == 102);
        CHECK(status_of(client.read_head()) == 200);
    }
}

TEST_CASE("a 204 announces nothing, to HEAD as little as to GET", "[R76]") {
    ScriptedPeer upstream(answers("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n"));
    ProxyUnderTest proxy(upstream.port());
    for (const std::string method : {"HEAD", "GET"}) {
        auto client = proxy.connect();
        client.send(method + " /plain HTTP/1.1\r\nHost: a\r\n\r\n");
        const auto head = client.read_head();
        CHECK(status_of(head) == 204);
        CHECK(head.find("Content-Length") == std::string::npos);
        CHECK(head.find("Transfer-Encoding") == std::string::npos);
    }
}

TEST_CASE("an answer that broke off is counted as the upstream's failure, whatever its status said", "[R147]") {
    ScriptedPeer upstream([](RawSocket& proxy) {
        proxy.read_message();
        proxy.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
    });
    ProxyUnderTest proxy(upstream.port());
    auto client = proxy.connect();
    client.send("GET /plain HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(status_of(client.read_head()) == 200);
    CHECK_THROWS_AS(client.read(10), test::PeerFailure);
    // One thread serves both: once this is answered, the report of the other is written.
    proxy.ask("GET /.well-known/idempotency HTTP/1.1\r\nHost: a\r\n\r\n");
    const auto metrics = proxy.metrics();
    CHECK(metrics.find(R"(oncegate_requests_total{outcome="bad_gateway",route="rest"} 1)") != std::string::npos);
    CHECK(metrics.find(R"(oncegate_upstream_failures_total{kind="broken",upstream="target"} 1)") != std::string::npos);
}
