#include "net/health_checker.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "async/task_set.hpp"
#include "support/net/fake_names.hpp"
#include "support/net/health_notes.hpp"
#include "support/net/listening_socket.hpp"
#include "support/net/scripted_peer.hpp"
#include "support/net/test_certificates.hpp"
#include "support/net/tls_responder.hpp"
#include "support/run.hpp"

using namespace oncegate;
namespace asio = boost::asio;
using namespace std::chrono_literals;
using net::ServerChange;
using net::UpstreamHealth;
using net::UpstreamServer;
using test::HealthNotes;
using test::Heard;
using test::ListeningSocket;
using test::RawSocket;
using test::ScriptedPeer;
using Verdict = UpstreamHealth::Verdict;

namespace {

UpstreamServer at_port(std::uint16_t port) {
    UpstreamServer server;
    server.host = "127.0.0.1";
    server.port = port;
    server.authority = "app.test:8080";
    return server;
}

/// Checks that run in the test's loop until this goes.
class Checking {
 public:
    Checking(asio::io_context& io, std::vector<UpstreamServer> servers)
        : io_(io), tasks_(io.get_executor(), [](const std::exception_ptr&) {}) {
        options.servers = std::move(servers);
        options.health = std::make_shared<UpstreamHealth>(options.servers.size(), net::Ejection(),
                                                          std::make_unique<HealthNotes>(heard));
        options.path = "/healthz?deep=1";
        options.interval = 150ms;
        options.unhealthy_after = 2;
        options.healthy_after = 2;
    }
    ~Checking() { stop(); }

    void start() { tasks_.spawn(net::check_health(options)); }
    void stop() {
        tasks_.cancel_all();
        test::run(io_, tasks_.wait_empty());
    }
    void wait_for(std::size_t server, Verdict verdict) {
        test::run_until(io_, [&] { return options.health->verdict(server) == verdict; });
    }

    net::HealthCheckOptions options;
    std::vector<Heard> heard;

 private:
    asio::io_context& io_;
    async::TaskSet tasks_;
};

/// Every client is answered with `answer` as it is at that moment; empty: not at all.
class HealthEndpoint {
 public:
    explicit HealthEndpoint(std::string answer)
        : answer_(std::move(answer)), peer_([this](RawSocket& client) { serve(client); }) {}

    void answer(std::string text) {
        const std::lock_guard lock(mutex_);
        answer_ = std::move(text);
    }
    std::string last_request() {
        const std::lock_guard lock(mutex_);
        return request_;
    }
    std::uint16_t port() const { return peer_.port(); }
    int checks() const { return peer_.connections(); }

 private:
    void serve(RawSocket& client) {
        const auto request = client.read_head();
        std::string answer;
        {
            const std::lock_guard lock(mutex_);
            request_ = request;
            answer = answer_;
        }
        client.send(answer);
        if (answer.find("Content-Length") == std::string::npos && !answer.empty()) client.half_close();
        client.wait_end();
    }

    std::mutex mutex_;
    std::string answer_;
    std::string request_;
    ScriptedPeer peer_;
};

std::string response(int status) {
    return "HTTP/1.1 " + std::to_string(status) + " Whatever\r\nContent-Length: 2\r\n\r\nok";
}

}  // namespace

TEST_CASE("a server is asked for the path as a client would ask") {
    asio::io_context io;
    HealthEndpoint endpoint(response(200));
    Checking checking(io, {at_port(endpoint.port())});
    checking.start();
    test::run_until(io, [&] { return !endpoint.last_request().empty(); });
    const auto request = endpoint.last_request();
    CHECK(request.find("GET /healthz?deep=1 HTTP/1.1\r\n") == 0);
    CHECK(request.find("\r\nHost: app.test:8080\r\n") != std::string::npos);
    CHECK(request.find("\r\nConnection: close\r\n") != std::string::npos);
    CHECK(request.find("\r\nUser-Agent: oncegate\r\n") != std::string::npos);
}

TEST_CASE("what is not well takes a server down, and 2xx or 3xx brings it up") {
    struct Case {
        const char* answer;
        const char* reason;
    };
    const auto bad =
        GENERATE(Case{"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n", "status 503"},
                 Case{"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "status 404"},
                 Case{"SSH-2.0-OpenSSH_9.2\r\n", "the response is malformed"},
                 Case{"HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\nhello!", "the response's framing is malformed"},
                 Case{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                      "the response's body broke off or its framing is malformed"},
                 Case{"HTTP/1.1 200 OK\r\nX: ", "the response broke off"}, Case{"", "no answer in time"});
    const int good = GENERATE(200, 204, 302);
    if (good != 200 && std::string(bad.reason) != "status 503") return;

    asio::io_context io;
    HealthEndpoint endpoint(bad.answer);
    Checking checking(io, {at_port(endpoint.port())});
    checking.start();
    checking.wait_for(0, Verdict::down);
    REQUIRE(checking.heard.size() == 1);
    CHECK(checking.heard[0].change == ServerChange::went_down);
    CHECK(checking.heard[0].reason == bad.reason);

    endpoint.answer(good == 204 ? "HTTP/1.1 204 No Content\r\n\r\n" : response(good));
    checking.wait_for(0, Verdict::up);
    REQUIRE(checking.heard.size() == 2);
    CHECK(checking.heard[1].change == ServerChange::came_up);
}

TEST_CASE("a server that refuses is down, and its neighbour stays up") {
    asio::io_context io;
    const test::RefusingPort refusing;
    HealthEndpoint well(response(200));
    Checking checking(io, {at_port(well.port()), at_port(refusing.port())});
    checking.start();
    checking.wait_for(1, Verdict::down);
    CHECK(checking.heard[0].reason == "the connect failed: Connection refused");
    const int checks = well.checks();
    test::run_until(io, [&] { return well.checks() >= checks + 2; });
    CHECK(checking.options.health->verdict(0) == Verdict::up);
}

TEST_CASE("fewer failures in a row than configured change nothing") {
    asio::io_context io;
    std::atomic<int> asked = 0;
    ScriptedPeer peer([&](RawSocket& client) {
        client.read_head();
        client.send(response(asked++ % 3 == 2 ? 200 : 503));
        client.wait_end();
    });
    Checking checking(io, {at_port(peer.port())});
    checking.options.unhealthy_after = 3;
    checking.options.interval = 100ms;
    checking.start();
    test::run_until(io, [&] { return asked >= 8; });
    for (const auto& heard : checking.heard) CHECK(heard.reason == "no answer in time");
}

TEST_CASE("interim responses before the answer are passed over") {
    asio::io_context io;
    HealthEndpoint endpoint("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n");
    Checking checking(io, {at_port(endpoint.port())});
    checking.start();
    checking.wait_for(0, Verdict::down);
    endpoint.answer("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + response(200));
    checking.wait_for(0, Verdict::up);
}

TEST_CASE("a server behind a unix socket is checked there") {
    asio::io_context io;
    ListeningSocket socket = ListeningSocket::unix_domain();
    std::atomic<bool> stop = false;
    std::atomic<bool> ended = false;
    std::thread peer([&] {
        while (!stop) {
            auto client = socket.accept();
            client.read_head();
            client.send(response(500));
            client.wait_end();
        }
        ended = true;
    });
    UpstreamServer server;
    server.authority = "localhost";
    server.unix_path = socket.path();
    Checking checking(io, {server});
    checking.start();
    checking.wait_for(0, Verdict::down);
    CHECK(checking.heard[0].reason == "status 500");
    stop = true;
    test::run_until(io, [&] { return ended.load(); });  // one more check may be needed
    peer.join();
}

TEST_CASE("an https server is checked with its certificate verified") {
    asio::io_context io;
    const test::TestAuthority authority;
    const test::TestAuthority stranger("Stranger");
    const test::CertificateWish wish{"127.0.0.1", {"IP:127.0.0.1"}};
    test::TlsResponder well(io, authority.issue(wish), "\r\n\r\n", response(200));
    test::TlsResponder unknown(io, stranger.issue(wish), "\r\n\r\n", response(200));
    auto one = at_port(well.port());
    auto other = at_port(unknown.port());
    one.scheme = other.scheme = UpstreamServer::Scheme::https;
    net::TlsClientOptions trust;
    trust.ca = authority.certificate();
    const auto tls = net::TlsClient::load(trust);
    REQUIRE(tls.has_value());

    Checking checking(io, {one, other});
    checking.options.tls = *tls;
    checking.options.interval = 500ms;
    checking.start();
    checking.wait_for(1, Verdict::down);
    CHECK(checking.heard[0].reason.find("the TLS handshake failed: ") == 0);
    test::run_until(io, [&] { return well.handshakes() >= 2; });
    CHECK(checking.options.health->verdict(0) == Verdict::up);
}

TEST_CASE("checks end when they are cancelled, at whatever they are") {
    asio::io_context io;
    ScriptedPeer silent([&](RawSocket& client) {
        client.read_head();
        client.send("HTTP/1.1 103 Early Hints\r\n\r\n");
        client.wait_end();
    });
    const bool waiting_for_an_answer = GENERATE(false, true);
    Checking checking(io, {at_port(silent.port()), at_port(silent.port())});
    checking.options.interval = 10s;
    checking.options.unhealthy_after = 1;
    checking.start();
    if (waiting_for_an_answer) test::run_until(io, [&] { return silent.connections() >= 1; });
    checking.stop();
    // A check that was broken off says nothing about its server.
    CHECK(checking.heard.empty());
    if (waiting_for_an_answer) silent.finish();
}
