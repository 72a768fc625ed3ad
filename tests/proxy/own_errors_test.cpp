// The proxy's own errors on the wire: what the store said stays inside, whatever form they have, and origins that may
// read a route's answers may read them.

#include <boost/json/parse.hpp>
#include <catch2/catch.hpp>

#include "support/net/scripted_peer.hpp"
#include "support/proxy/proxy_under_test.hpp"

using namespace oncegate;
using test::has_line;
using test::MemoryDatabase;
using test::pay;
using test::ProxyUnderTest;
using test::status_of;

namespace {

store::StoreFault talkative() {
    store::StoreFault fault;
    fault.kind = store::StoreFault::Kind::unreachable;
    fault.certainty = store::StoreFault::Certainty::not_applied;
    fault.detail = "SELECT secret FROM oncegate.records; connection to db.internal:5432 lost";
    return fault;
}

ProxyUnderTest::Adjust allowing(std::vector<std::string> origins) {
    return [origins](config::Config& config) {
        config.routes[0].cors.emplace();
        config.routes[0].cors->allow_origins = origins;
    };
}

/// POST /pay from a page of `origin`.
std::string from_page(std::string_view origin) {
    return std::string("POST /pay HTTP/1.1\r\nHost: a\r\nOrigin: ")
        .append(origin)
        .append("\r\nIdempotency-Key: k\r\nContent-Length: 2\r\n\r\n{}");
}

}  // namespace

TEST_CASE("what the store says is not in the answer", "[R101]") {
    test::RefusingPort nobody;
    ProxyUnderTest proxy(nobody.port());
    proxy.store().fail_always(talkative());
    const auto answer = proxy.ask(pay("k"));
    CHECK(status_of(answer.head) == 503);
    CHECK(has_line(answer.head, "Retry-After: 1"));
    for (const auto word : {"SELECT", "secret", "db.internal", "5432"}) {
        INFO(word);
        CHECK(answer.body.find(word) == std::string::npos);
        CHECK(answer.head.find(word) == std::string::npos);
    }
}

TEST_CASE("a store that is away is told in the route's own format", "[R95][R101]") {
    test::RefusingPort nobody;
    ProxyUnderTest proxy(nobody.port(), [](config::Config& config) {
        config.routes[0].policy->errors = {{core::ProblemKind::store_unavailable,
                                            {"application/json", R"({"c":"{code}","s":{status},"d":"{detail}"})"}}};
    });
    proxy.store().fail_always(talkative());
    const auto answer = proxy.ask(pay("k"));
    CHECK(has_line(answer.head, "Content-Type: application/json"));
    CHECK(has_line(answer.head, "Retry-After: 1"));
    CHECK(has_line(answer.head, "Cache-Control: no-store"));
    const auto body = boost::json::parse(answer.body);
    CHECK(body.at("c").as_string() == "store-unavailable");
    CHECK(body.at("s").as_int64() == 503);
    CHECK(body.at("d").as_string() == core::explanation(core::ProblemKind::store_unavailable));
}

TEST_CASE("a page of an allowed origin can read why it was refused", "[R100]") {
    test::RefusingPort nobody;
    const ProxyUnderTest proxy(nobody.port(), allowing({"https://shop.example"}));
    const auto answer = proxy.ask(from_page("https://shop.example"));
    CHECK(status_of(answer.head) == 502);
    CHECK(has_line(answer.head, "Access-Control-Allow-Origin: https://shop.example"));
    CHECK(has_line(answer.head, "Vary: Origin"));
    CHECK(has_line(answer.head,
                   "Access-Control-Expose-Headers: Idempotent-Replayed, Idempotency-Recorded, Idempotency-Refreshed, "
                   "Idempotency-Suspected, "
                   "Retry-After, Link, Location, WWW-Authenticate"));
    CHECK(proxy.ask(from_page("https://other.example")).head.find("Access-Control") == std::string::npos);
}

TEST_CASE("malformed framing and what else has a route is readable too", "[R100]") {
    test::RefusingPort nobody;
    const ProxyUnderTest proxy(nobody.port(), allowing({"*"}));
    const auto answer = proxy.ask(
        "POST /pay HTTP/1.1\r\nHost: a\r\nOrigin: null\r\nTransfer-Encoding: gzip\r\nIdempotency-Key: k\r\n\r\n");
    CHECK(status_of(answer.head) >= 400);
    CHECK(has_line(answer.head, "Access-Control-Allow-Origin: *"));
    const auto elsewhere = proxy.ask("GET /elsewhere HTTP/1.1\r\nHost: a\r\nOrigin: null\r\n\r\n");
    CHECK(elsewhere.head.find("Access-Control") == std::string::npos);
}

TEST_CASE("a preflight reaches neither store nor upstream", "[R2][R100]") {
    test::RefusingPort nobody;
    ProxyUnderTest proxy(nobody.port(), allowing({"https://shop.example"}));
    proxy.store().fail_always(talkative());
    auto client = proxy.connect();
    client.send(
        "OPTIONS /pay HTTP/1.1\r\nHost: a\r\nOrigin: https://shop.example\r\nAccess-Control-Request-Method: POST\r\n"
        "Idempotency-Key: k\r\n\r\n");
    const auto head = client.read_head();
    CHECK(status_of(head) == 204);
    CHECK(has_line(head, "Access-Control-Allow-Origin: https://shop.example"));
    CHECK(has_line(head, "Access-Control-Allow-Methods: POST"));
    CHECK(has_line(head, "Access-Control-Allow-Headers: Idempotency-Key, Content-Type"));
    CHECK(has_line(head, "Access-Control-Max-Age: 600"));
}
