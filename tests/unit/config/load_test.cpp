// What a configuration without errors becomes, outside the policies; and the files it reads beside itself.

#include "support.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>

using namespace config_test;
using namespace std::chrono_literals;
namespace config = oncegate::config;

namespace {

const std::string upstream_and_route =
    "upstreams: { payments: { servers: [http://127.0.0.1:9000] } }\n"
    "routes: [{ name: one, match: { path: /** }, upstream: payments }]\n";
const std::string listener = "server: { listeners: [{ bind: 127.0.0.1:8080 }] }\n";

/// A directory of its own, removed with all that is in it.
class TemporaryDirectory {
 public:
    TemporaryDirectory() {
        std::string pattern = (std::filesystem::temp_directory_path() / "oncegate-config-XXXXXX").string();
        REQUIRE(mkdtemp(pattern.data()) != nullptr);
        path_ = pattern;
    }
    ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    std::string write(const std::string& name, const std::string& content) const {
        std::ofstream(path_ / name, std::ios::binary) << content;
        return (path_ / name).string();
    }
    std::string path() const { return path_.string(); }

 private:
    std::filesystem::path path_;
};

}  // namespace

TEST_CASE("limits and timeouts and the store arrive as written") {
    const auto loaded_config = loaded(
        "server:\n"
        "  listeners: [{ bind: 127.0.0.1:8080 }, { bind: '[::1]:8081' }]\n"
        "  threads: 3\n"
        "  limits: { request_head: 32KiB, request_body: 0, memory_body: 2MiB, connections: 5, in_flight: 6 }\n"
        "  timeouts: { head: 1s, body_idle: 2s, keep_alive: 3s, write_idle: 4s, drain: 0s }\n"
        "store: { url: 'postgres://u@h/db', schema: other, connections: 4, timeout: 500ms, required: true, migrate: "
        "never }\n"
        "log: { level: debug, format: text, keys: plain, file: access.log }\n" +
        upstream_and_route);
    REQUIRE(loaded_config.server.listeners.size() == 2);
    CHECK(loaded_config.server.listeners[1].bind == "[::1]:8081");
    CHECK(loaded_config.server.threads == 3);
    CHECK(loaded_config.server.limits.request_head == 32U << 10);
    CHECK(loaded_config.server.limits.request_body == 0);
    CHECK(loaded_config.server.limits.memory_body == 2U << 20);
    CHECK(loaded_config.server.limits.connections == 5);
    CHECK(loaded_config.server.limits.in_flight == 6);
    CHECK(loaded_config.server.timeouts.head == 1s);
    CHECK(loaded_config.server.timeouts.write_idle == 4s);
    CHECK(loaded_config.server.timeouts.drain == 0s);
    CHECK(loaded_config.store.url == "postgres://u@h/db");
    CHECK(loaded_config.store.schema == "other");
    CHECK(loaded_config.store.connections == 4);
    CHECK(loaded_config.store.timeout == 500ms);
    CHECK(loaded_config.store.required);
    CHECK_FALSE(loaded_config.store.migrate);
    CHECK(loaded_config.log.level == config::Log::Level::debug);
    CHECK(loaded_config.log.format == config::Log::Format::text);
    CHECK(loaded_config.log.keys == config::Log::Keys::plain);
    CHECK(loaded_config.log.file == "access.log");
}

TEST_CASE("an upstream's servers become hosts and ports and authorities") {
    const auto loaded_config =
        loaded(listener +
               "upstreams:\n"
               "  payments:\n"
               "    servers: [http://127.0.0.1:9000, 'http://[::1]:9001/', http://payments.internal]\n"
               "    timeouts: { connect: 1s, response: 2s, idle: 3s }\n"
               "    pool: { max_connections: 7 }\n"
               "routes: [{ name: one, match: { host: API.Example.com, path: '/a/{id}' }, upstream: payments }]\n");
    const auto& upstream = loaded_config.upstreams.at(0);
    REQUIRE(upstream.servers.size() == 3);
    CHECK(upstream.servers[0].host == "127.0.0.1");
    CHECK(upstream.servers[0].port == 9000);
    CHECK(upstream.servers[0].authority == "127.0.0.1:9000");
    CHECK(upstream.servers[1].host == "::1");
    CHECK(upstream.servers[1].authority == "[::1]:9001");
    CHECK(upstream.servers[2].port == 80);
    CHECK(upstream.servers[2].authority == "payments.internal");
    CHECK(upstream.timeouts.response == 2s);
    CHECK(upstream.max_connections == 7);
    CHECK(loaded_config.routes.at(0).match.host == "api.example.com");
    REQUIRE(loaded_config.routes.at(0).match.path);
    CHECK(loaded_config.routes.at(0).match.path->text() == "/a/{id}");
    CHECK_FALSE(loaded_config.routes.at(0).policy);
}

TEST_CASE("schemes and unix sockets and the care for servers arrive as written") {
    const TemporaryDirectory directory;
    const auto pem = directory.write("some.txt", "x");
    const auto loaded_config =
        loaded(listener +
               "upstreams:\n"
               "  payments:\n"
               "    servers: [https://a.example, 'https://[::1]:8443', unix:/run/app.sock]\n"
               "    balance: least_requests\n"
               "    health: { path: /up, interval: 1s, unhealthy_after: 4, healthy_after: 5 }\n"
               "    ejection: { failures: 6, time: 7s }\n"
               "    tls: { ca: '" +
               pem + "', server_name: b.example, certificate: '" + pem + "', private_key: '" + pem +
               "' }\n"
               "  plain: { servers: [http://a.example] }\n"
               "routes: [{ name: one, match: { path: /** }, upstream: payments }]\n");
    using Scheme = config::UpstreamServer::Scheme;
    const auto& upstream = loaded_config.upstreams.at(0);
    REQUIRE(upstream.servers.size() == 3);
    CHECK(upstream.servers[0] == config::UpstreamServer{"a.example", 443, "a.example", Scheme::https, ""});
    CHECK(upstream.servers[1] == config::UpstreamServer{"::1", 8443, "[::1]:8443", Scheme::https, ""});
    CHECK(upstream.servers[2].unix_path == "/run/app.sock");
    CHECK(upstream.servers[2].host.empty());
    CHECK(upstream.servers[2].authority == "localhost");
    CHECK(upstream.servers[2].scheme == Scheme::http);
    CHECK(upstream.balance == config::Balance::least_requests);
    CHECK(upstream.health == config::Health{"/up", 1s, 4, 5});
    CHECK(upstream.ejection == config::Ejection{6, 7s});
    CHECK(upstream.tls == config::UpstreamTls{pem, "b.example", pem, pem, true});
    const auto& plain = loaded_config.upstreams.at(1);
    CHECK_FALSE(plain.health);
    CHECK(plain.balance == config::Balance::round_robin);
    CHECK(plain.ejection == config::Ejection{3, 10s});
    CHECK(plain.tls == config::UpstreamTls{});
}

TEST_CASE("a listener's certificates and client rules arrive as written") {
    const TemporaryDirectory directory;
    const auto a = directory.write("a.pem", "x");
    const auto b = directory.write("b.pem", "x");
    const auto loaded_config = loaded(
        "server:\n"
        "  listeners:\n"
        "    - bind: 127.0.0.1:8443\n"
        "      tls: { certificate: '" +
        a + "', private_key: '" + b +
        "' }\n"
        "    - bind: 127.0.0.1:8444\n"
        "      proxy_protocol: true\n"
        "      tls:\n"
        "        - { certificate: '" +
        a + "', private_key: '" + a +
        "' }\n"
        "        - { certificate: '" +
        b + "', private_key: '" + b + "', client_ca: '" + a +
        "', client_auth: required }\n"
        "    - bind: 127.0.0.1:8080\n"
        "  trusted_proxies: [10.0.0.0/8, '::1']\n" +
        upstream_and_route);
    using ClientAuth = config::ListenerTls::ClientAuth;
    const auto& listeners = loaded_config.server.listeners;
    REQUIRE(listeners.size() == 3);
    CHECK(listeners[0].tls == config::ListenerTls{{{a, b}}, "", ClientAuth::none});
    CHECK_FALSE(listeners[0].proxy_protocol);
    CHECK(listeners[1].tls == config::ListenerTls{{{a, a}, {b, b}}, a, ClientAuth::required});
    CHECK(listeners[1].proxy_protocol);
    CHECK_FALSE(listeners[2].tls);
    REQUIRE(loaded_config.server.trusted_proxies.size() == 2);
    CHECK(loaded_config.server.trusted_proxies[0].contains("10.9.9.9"));
    CHECK(loaded_config.server.trusted_proxies[1].contains("::1"));
}

TEST_CASE("what a route does to its requests arrives as written") {
    const auto loaded_config = loaded(listener +
                                      "upstreams: { payments: { servers: [http://127.0.0.1:9000] } }\n"
                                      "routes:\n"
                                      "  - name: one\n"
                                      "    match: { path: /a }\n"
                                      "    upstream: payments\n"
                                      "    host: api.internal:81\n"
                                      "    headers:\n"
                                      "      request: { set: { X-A: '1', X-B: '' }, remove: [Cookie] }\n"
                                      "      response: { set: { X-C: c }, remove: [Server, Via] }\n"
                                      "    upgrade: true\n"
                                      "    retries: 3\n"
                                      "  - { name: two, match: { path: /b }, upstream: payments, host: upstream }\n"
                                      "  - { name: three, match: { path: /c }, upstream: payments }\n");
    using Kind = config::HostRule::Kind;
    using Pairs = std::vector<std::pair<std::string, std::string>>;
    const auto& route = loaded_config.routes.at(0);
    CHECK(route.host.kind == Kind::name);
    CHECK(route.host.name == "api.internal:81");
    CHECK(route.request_headers.set == Pairs{{"X-A", "1"}, {"X-B", ""}});
    CHECK(route.request_headers.remove == std::vector<std::string>{"Cookie"});
    CHECK(route.response_headers.set == Pairs{{"X-C", "c"}});
    CHECK(route.response_headers.remove == std::vector<std::string>{"Server", "Via"});
    CHECK(route.upgrade);
    CHECK(route.retries == 3);
    CHECK(loaded_config.routes.at(1).host.kind == Kind::upstream);
    const auto& plain = loaded_config.routes.at(2);
    CHECK(plain.host.kind == Kind::preserve);
    CHECK(plain.request_headers.empty());
    CHECK(plain.response_headers.empty());
    CHECK_FALSE(plain.upgrade);
    CHECK(plain.retries == 0);
}

TEST_CASE("secrets are read from their files without the line end") {
    const TemporaryDirectory directory;
    const auto token = directory.write("token", "s3cret\n");
    const auto url = directory.write("url", "postgresql://u:p@h/db\r\n");
    const auto loaded_config = loaded(listener + "admin: { bind: '0.0.0.0:9901', token_file: '" + token + "' }\n" +
                                      "store: { url_file: '" + url + "' }\n" + upstream_and_route);
    CHECK(loaded_config.admin.token == "s3cret");
    CHECK(loaded_config.store.url == "postgresql://u:p@h/db");
}

TEST_CASE("a secret's content is never part of an error") {
    const TemporaryDirectory directory;
    const auto url = directory.write("url", "mysql://u:hunter2@h/db\n");
    const auto errors = errors_of(listener + "store: { url_file: '" + url + "' }\n" + upstream_and_route);
    CHECK(errors.find("config.yaml:2:20: store.url_file: must hold") == 0);
    CHECK(errors.find("hunter2") == std::string::npos);
}

TEST_CASE("an empty secret and a directory in its place are errors") {
    const TemporaryDirectory directory;
    const auto empty = directory.write("token", "\n");
    CHECK(errors_of(listener + "admin: { token_file: '" + empty + "' }\n" + upstream_and_route) ==
          "config.yaml:2:22: admin.token_file: the file '" + empty + "' is empty\n");
    CHECK(errors_of(listener + "admin: { token_file: '" + directory.path() + "' }\n" + upstream_and_route) ==
          "config.yaml:2:22: admin.token_file: the file '" + directory.path() + "' cannot be read: Is a directory\n");
}

TEST_CASE("a file that is not there is one error without a line") {
    const TemporaryDirectory directory;
    const std::vector<std::pair<std::string, std::string>> cases{
        {directory.path() + "/none.yaml", "No such file or directory"}, {directory.path(), "Is a directory"}};
    for (const auto& [path, reason] : cases) {
        const auto result = config::load_file(path, no_variables);
        CHECK_FALSE(result.config);
        REQUIRE(result.errors.size() == 1);
        CHECK(result.errors[0].text() == path + ":0:0: the file cannot be read: " + reason);
    }
}

TEST_CASE("a file's own name stands before its errors") {
    const TemporaryDirectory directory;
    const auto path = directory.write("a.yaml", "servr: {}\n" + upstream_and_route);
    const auto result = config::load_file(path, no_variables);
    REQUIRE(result.errors.size() == 2);
    CHECK(result.errors[0].text() == path + ":1:1: the key 'server' is missing");
    CHECK(result.errors[1].text() == path + ":1:1: unknown key 'servr'; did you mean 'server'?");
}

TEST_CASE("the admin listener cannot share a listener's address") {
    CHECK(errors_of("server: { listeners: [{ bind: 127.0.0.1:9901 }] }\n" + upstream_and_route) ==
          "config.yaml:1:31: server.listeners[0].bind: 127.0.0.1:9901 is the default of admin.bind too; write "
          "admin.bind\n");
    CHECK(errors_of("server: { listeners: [{ bind: 127.0.0.1:8080 }] }\nadmin: { bind: 127.0.0.1:8080 }\n" +
                    upstream_and_route) ==
          "config.yaml:2:16: admin.bind: 127.0.0.1:8080 is a listener's address too, that of line 1\n");
}

TEST_CASE("control characters and aliases without end are refused") {
    CHECK(errors_of(std::string("server: \n  a\0b", 14)) == "config.yaml:2:4: not valid YAML: a control character\n");
    CHECK(errors_of("a: \x01") == "config.yaml:1:4: not valid YAML: a control character\n");
    std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 9; ++i) {
        const auto name = std::to_string(i);
        bomb += "a" + name + ": &a" + name + " [";
        for (int j = 0; j < 10; ++j) bomb += (j == 0 ? "*a" : ", *a") + std::to_string(i - 1);
        bomb += "]\n";
    }
    CHECK(errors_of(bomb).find("aliases make this file too large") != std::string::npos);
    CHECK(errors_of("a: &a [*a]\n").find("an alias cannot stand inside what it names") != std::string::npos);
    CHECK(errors_of("a: *nowhere\n").find("config.yaml:1:4: not valid YAML:") == 0);
    CHECK(errors_of(std::string(5000, '[')).find("not valid YAML") != std::string::npos);
}

TEST_CASE("anchors and aliases and merge keys give what they name") {
    const auto loaded_config = loaded(listener +
                                      "upstreams:\n"
                                      "  a: &base { servers: [http://127.0.0.1:9000], pool: { max_connections: 4 } }\n"
                                      "  b: { <<: *base, pool: { max_connections: 8 } }\n"
                                      "routes: [{ name: one, match: { path: /** }, upstream: b }]\n");
    REQUIRE(loaded_config.upstreams.size() == 2);
    CHECK(loaded_config.upstreams[1].servers.size() == 1);
    CHECK(loaded_config.upstreams[1].max_connections == 8);
    CHECK(loaded_config.upstreams[0].max_connections == 4);
}
