// Plain proxying: both directions stream, an early answer ends the upload, and nothing of the wire is lost or made up.

#include <catch2/catch.hpp>

#include "support/net/scripted_peer.hpp"
#include "support/proxy/proxy_under_test.hpp"

using namespace oncegate;
using test::Gate;
using test::has_line;
using test::ProxyUnderTest;
using test::RawSocket;
using test::ScriptedPeer;
using test::status_of;

TEST_CASE("a plain route forwards whatever key it is given, untouched", "[R1][R3][R126]") {
    std::string head;
    ScriptedPeer upstream([&](RawSocket& proxy) {
        head = proxy.read_message().head;
        proxy.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        proxy.wait_end();
    });
    ProxyUnderTest proxy(upstream.port());
    const auto answer = proxy.ask(
        "PUT /a//b/../c%2e?x=%20y HTTP/1.1\r\nHost: api.test\r\nidempotency-KEY: broken\"\r\nIdempotency-Key: twice\r\n"
        "Content-Length: 3\r\n\r\nabc");
    CHECK(answer.body == "ok");
    CHECK(head.starts_with("PUT /a//b/../c%2e?x=%20y HTTP/1.1\r\n"));
    CHECK(has_line(head, "idempotency-KEY: broken\""));
    CHECK(has_line(head, "Idempotency-Key: twice"));
    CHECK(has_line(head, "Host: api.test"));
    CHECK(proxy.store().records() == 0);
}

TEST_CASE("pieces pass in both directions as they come") {
    Gate half_arrived;
    ScriptedPeer upstream([&](RawSocket& proxy) {
        proxy.read_head();
        proxy.expect("4\r\nhalf\r\n");
        half_arrived.open();
        proxy.expect("4\r\nmore\r\n0\r\n\r\n");
        proxy.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
        proxy.expect("");
        proxy.send("3\r\ntwo\r\n0\r\n\r\n");
        proxy.wait_end();
    });
    ProxyUnderTest proxy(upstream.port());
    auto client = proxy.connect();
    client.send("POST /stream HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n");
    half_arrived.wait();  // it went up although the request is not whole
    client.send("4\r\nmore\r\n0\r\n\r\n");
    CHECK(status_of(client.read_head()) == 200);
    client.expect("3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n");
}

TEST_CASE("an upstream that answers before it has the whole request is heard", "[R128]") {
    ScriptedPeer upstream([](RawSocket& proxy) {
        proxy.read_head();
        proxy.send("HTTP/1.1 413 No\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig");
        proxy.wait_end();
    });
    ProxyUnderTest proxy(upstream.port());
    auto client = proxy.connect();
    client.send("POST /up HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nstart");
    const auto answer = client.read_message();
    CHECK(status_of(answer.head) == 413);
    CHECK(answer.body == "big");
    CHECK(has_line(answer.head, "Connection: close"));
}

TEST_CASE("pipelined requests are answered in their order", "[R129]") {
    ScriptedPeer upstream([](RawSocket& proxy) {
        for (;;) {
            try {
                const auto request = proxy.read_message();
                const auto path = request.head.substr(4, 2);
                proxy.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" + path);
            } catch (const test::PeerFailure&) {
                return;
            }
        }
    });
    ProxyUnderTest proxy(upstream.port());
    auto client = proxy.connect();
    client.send(
        "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\nGET /3 HTTP/1.1\r\nHost: a\r\n\r\n");
    for (const auto* path : {"/1", "/2", "/3"}) CHECK(client.read_message().body == path);
}

TEST_CASE("an answer to HEAD keeps what it announces and has no body", "[R76]") {
    ScriptedPeer upstream([](RawSocket& proxy) {
        proxy.read_head();
        proxy.send("HTTP/1.1 200 OK\r\nContent-Length: 12345\r\n\r\n");
        proxy.wait_end();
    });
    ProxyUnderTest proxy(upstream.port());
    auto client = proxy.connect();
    client.send("HEAD /h HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    const auto all = client.read_all();
    CHECK(has_line(all, "Content-Length: 12345"));
    CHECK(all.ends_with("\r\n\r\n"));
}

TEST_CASE("an HTTP/1.0 client gets no chunks and the end of the connection as the end of the body", "[R127]") {
    std::string head;
    ScriptedPeer upstream([&](RawSocket& proxy) {
        head = proxy.read_head();
        proxy.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
        proxy.wait_end();
    });
    ProxyUnderTest proxy(upstream.port());
    auto client = proxy.connect();
    client.send("GET /old HTTP/1.0\r\n\r\n");
    const auto all = client.read_all();
    CHECK(all.find("Transfer-Encoding") == std::string::npos);
    CHECK(all.ends_with("\r\n\r\nabc"));
    CHECK(has_line(head, "Host: 127.0.0.1"));  // HTTP/1.1 goes up, and that needs a Host
}

TEST_CASE("a cut-off answer of a plain route is cut off for the client too", "[R147]") {
    ScriptedPeer upstream([](RawSocket& proxy) {
        proxy.read_head();
        proxy.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
        proxy.close();
    });
    ProxyUnderTest proxy(upstream.port());
    auto client = proxy.connect();
    client.send("GET /cut HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(client.wait_end() == RawSocket::End::reset);
}

TEST_CASE("more requests at once than the limit are refused at once", "[R148]") {
    Gate go;
    Gate arrived;
    ScriptedPeer upstream([&](RawSocket& proxy) {
        proxy.read_head();
        arrived.open();
        go.wait();
        proxy.send("HTTP/1.1 204 No Content\r\n\r\n");
        proxy.wait_end();
    });
    ProxyUnderTest proxy(upstream.port(), [](config::Config& config) { config.server.limits.in_flight = 1; });
    auto first = proxy.connect();
    first.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
    arrived.wait();
    const auto refused = proxy.ask("GET /next HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(status_of(refused.head) == 503);
    CHECK(has_line(refused.head, "Retry-After: 1"));
    CHECK(refused.body.find("#overloaded") != std::string::npos);
    go.open();
    CHECK(status_of(first.read_head()) == 204);
}

TEST_CASE("a request that has been here before is refused", "[R122]") {
    test::RefusingPort nobody;
    const ProxyUnderTest proxy(nobody.port());
    const auto refused = proxy.ask("GET / HTTP/1.1\r\nHost: a\r\nVia: 1.1 elsewhere, 1.1 oncegate-test\r\n\r\n");
    CHECK(status_of(refused.head) == 508);
}

TEST_CASE("what a client expects beyond 100-continue is refused, and CONNECT too", "[R123][R135]") {
    test::RefusingPort nobody;
    const ProxyUnderTest proxy(nobody.port());
    CHECK(status_of(proxy.ask("POST / HTTP/1.1\r\nHost: a\r\nExpect: magic\r\nContent-Length: 0\r\n\r\n").head) == 417);
    CHECK(status_of(proxy.ask("CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n").head) == 501);
}

TEST_CASE("a client that waits for 100 gets it before it sends the body", "[R123]") {
    ScriptedPeer upstream([](RawSocket& proxy) {
        proxy.read_message();
        proxy.send("HTTP/1.1 201 Created\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
        proxy.wait_end();
    });
    ProxyUnderTest proxy(upstream.port());
    for (const auto* path : {"/pay", "/plain"}) {
        auto client = proxy.connect();
        client.send(std::string("POST ") + path +
                    " HTTP/1.1\r\nHost: a\r\nIdempotency-Key: k\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
        client.expect("HTTP/1.1 100 Continue\r\n\r\n");
        client.send("{}");
        CHECK(status_of(client.read_head()) == 201);
    }
}

TEST_CASE("a body that will be refused is not invited", "[R123][R131]") {
    test::RefusingPort nobody;
    const ProxyUnderTest proxy(nobody.port(), [](config::Config& config) { config.server.limits.request_body = 10; });
    for (const auto* path : {"/pay", "/plain"}) {
        auto client = proxy.connect();
        client.send(std::string("POST ") + path +
                    " HTTP/1.1\r\nHost: a\r\nIdempotency-Key: k\r\nExpect: 100-continue\r\nContent-Length: 11\r\n\r\n");
        CHECK(status_of(client.read_message().head) == 413);
    }
}

TEST_CASE("an upstream that dies in the middle of an upload is the upstream's fault", "[R120]") {
    ScriptedPeer upstream([](RawSocket& proxy) {
        proxy.read_head();
        proxy.reset();
    });
    ProxyUnderTest proxy(upstream.port());
    auto client = proxy.connect();
    client.send("POST /up HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nstart");
    const auto answer = client.read_message();
    CHECK(status_of(answer.head) == 502);
    CHECK(answer.body.find("#upstream-failed") != std::string::npos);
}

TEST_CASE("a head goes to the client before the first byte of its body has come", "[R89]") {
    Gate read_head;
    ScriptedPeer upstream([&](RawSocket& proxy) {
        proxy.read_message();
        proxy.send(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\nContent-Length: 2\r\n\r\n");
        read_head.wait();
        proxy.send("ok");
        proxy.wait_end();
    });
    ProxyUnderTest proxy(upstream.port());
    for (const auto* path : {"/plain", "/pay"}) {
        auto client = proxy.connect();
        client.send(std::string("POST ") + path +
                    " HTTP/1.1\r\nHost: a\r\nIdempotency-Key: k\r\nContent-Length: 0\r\n\r\n");
        CHECK(status_of(client.read_head()) == 200);
        read_head.open();
        client.expect("ok");
    }
}

TEST_CASE("a proxy that ends while an upload is under way leaves nothing behind", "[R148]") {
    Gate arrived;
    ScriptedPeer upstream([&](RawSocket& proxy) {
        proxy.read_head();
        arrived.open();
        proxy.wait_end();
    });
    RawSocket client(-1);
    {
        ProxyUnderTest proxy(upstream.port());
        client = proxy.connect();
        client.send("POST /up HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nstart");
        arrived.wait();
    }
    client.wait_end();  // the sanitizers see to the rest
}

TEST_CASE("more connections than the limit are told so at once", "[R148]") {
    test::RefusingPort nobody;
    const ProxyUnderTest proxy(nobody.port(), [](config::Config& config) { config.server.limits.connections = 1; });
    auto first = proxy.connect();
    first.send("GET /.well-known/idempotency HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(status_of(first.read_message().head) == 200);
    auto second = proxy.connect();
    const auto refused = second.read_message();
    CHECK(status_of(refused.head) == 503);
    CHECK(has_line(refused.head, "Connection: close"));
    CHECK(second.wait_end() == RawSocket::End::closed);
}
