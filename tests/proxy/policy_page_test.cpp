// The policy page: what clients may rely on, for people and for programs.

#include "proxy/policy_page.hpp"

#include <boost/json/parse.hpp>
#include <catch2/catch.hpp>

#include "core/problem.hpp"
#include "support/net/scripted_peer.hpp"
#include "support/proxy/proxy_under_test.hpp"

using namespace oncegate;
namespace json = boost::json;
using core::KeyLocation;
using core::KeyRule;

namespace {

constexpr std::string_view page_url = "http://a/.well-known/idempotency";

config::Config config_of(const std::function<void(config::Route&)>& change = {}) {
    config::Config config;
    config::Route pay;
    pay.name = "pay <all>";
    pay.enforced_methods = {"POST"};
    pay.policy.emplace();
    pay.policy->scope = {{core::ScopePart::Kind::route, {}, false},
                         {core::ScopePart::Kind::header, "Authorization", true}};
    pay.policy->key.syntax = core::KeySyntax::any;
    pay.policy->ttl = std::chrono::hours(72);
    if (change) change(pay);
    config.routes.push_back(pay);
    config::Route plain;
    plain.name = "plain";
    config.routes.push_back(plain);
    return config;
}

json::object only_route(const config::Config& config) {
    const auto page = json::parse(proxy::policy_page_json(config, page_url)).as_object();
    REQUIRE(page.at("routes").as_array().size() == 1);
    return page.at("routes").as_array()[0].as_object();
}

bool html_says(const config::Config& config, std::string_view text) {
    return proxy::policy_page_html(config).find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("the JSON page states what the draft wants published for enforced routes only", "[R103]") {
    const auto route = only_route(config_of());
    const auto expected = json::parse(R"({
        "route": "pay <all>", "mode": "enforce", "host": null, "path": "/**", "methods": ["POST"],
        "documentation": "http://a/.well-known/idempotency",
        "key": {"from": [["header:Idempotency-Key"]], "required": true, "required_from": null, "syntax": "any",
                "min_length": 1, "max_length": 255, "pattern": null, "reject_personal_data": false,
                "ignore_uuid_case": false},
        "scope": ["route", "header:Authorization?"],
        "fingerprint": {"include": ["method", "path", "query", "header:Content-Type?", "body"], "body": "bytes",
                        "ignore": [], "mismatch_status": 422},
        "in_flight": {"action": "reject", "wait_ms": 0, "retry_after_ms": 1000},
        "unknown_outcome": "hold",
        "record": {"free_statuses": "307, 308, 401, 403, 407-409, 421, 423, 425, 429, 503",
                   "unknown_statuses": "502, 504", "upstream_decides": false, "body_limit": 67108864,
                   "respect_no_store": false},
        "replay": {"mode": "stored", "marker": "Idempotent-Replayed", "date": "original"},
        "ttl_ms": 259200000, "after_ttl": "execute", "tombstone_ms": 0, "store_down": "reject", "errors": {}})");
    CHECK(json::value(route) == expected);
}

TEST_CASE("the JSON page has the limits and every problem type", "[R97][R103]") {
    auto config = config_of();
    config.server.limits.request_body = 1234;
    const auto page = json::parse(proxy::policy_page_json(config, page_url)).as_object();
    CHECK(page.at("limits").at("request_body").as_int64() == 1234);
    const auto& problems = page.at("problems").as_array();
    REQUIRE(problems.size() == core::all_problem_kinds().size());
    for (std::size_t i = 0; i < problems.size(); ++i) {
        const auto kind = core::all_problem_kinds()[i];
        CHECK(problems[i].at("type").as_string() ==
              std::string(page_url).append("#").append(core::fragment(kind)).c_str());
        CHECK(problems[i].at("status").as_int64() == core::default_status(kind));
        CHECK(problems[i].at("explanation").as_string() == core::explanation(kind));
    }
}

TEST_CASE("keys from several places and from a date on are published", "[R103]") {
    const auto config = config_of([](config::Route& route) {
        auto& key = route.policy->key;
        key.from = {{{KeyLocation::Kind::header, "ce-source"}, {KeyLocation::Kind::header, "ce-id"}},
                    {{KeyLocation::Kind::json, "/id"}},
                    {{KeyLocation::Kind::query, "ClientToken"}},
                    {{KeyLocation::Kind::form, "token"}}};
        key.required = KeyRule::Required::from_date;
        key.required_from = std::chrono::sys_days(std::chrono::January / 31 / 2027);
        key.reject_personal_data = true;
        key.pattern_text = "[a-z<]+";
    });
    const auto key = only_route(config).at("key").as_object();
    CHECK(
        key.at("from") ==
        json::parse(R"([["header:ce-source", "header:ce-id"], ["json:/id"], ["query:ClientToken"], ["form:token"]])"));
    CHECK(key.at("required").as_bool() == false);
    CHECK(key.at("required_from").as_string() == "2027-01-31");
    CHECK(key.at("pattern").as_string() == "[a-z<]+");
    CHECK(key.at("reject_personal_data").as_bool());
    CHECK(html_says(config,
                    "the header ce-source together with the header ce-id; or, when that is not there, the member "
                    "/id of a JSON body"));
    CHECK(html_says(config, "from 2027-01-31 on"));
    CHECK(html_says(config, "matching [a-z&lt;]+; e-mail addresses"));
}

TEST_CASE("what makes a request the same is published", "[R103]") {
    const auto json_body = config_of([](config::Route& route) {
        auto& rule = route.policy->fingerprint;
        rule.include = {{core::FingerprintPart::Kind::json, "/amount", false},
                        {core::FingerprintPart::Kind::body, {}, false}};
        rule.body = core::BodyComparison::json;
        rule.ignore = {"/metadata/sent_at"};
        rule.mismatch_status = 409;
    });
    CHECK(only_route(json_body).at("fingerprint") ==
          json::parse(R"({"include": ["json:/amount", "body"], "body": "json", "ignore": ["/metadata/sent_at"],
                          "mismatch_status": 409})"));
    CHECK(html_says(json_body, "left out of the body: /metadata/sent_at"));
    CHECK(html_says(json_body, "is answered 409 (#key-reused)"));
    const auto off = config_of([](config::Route& route) { route.policy->fingerprint.off = true; });
    CHECK(only_route(off).at("fingerprint").is_null());
    CHECK(html_says(off, "the key alone decides"));
}

TEST_CASE("a route in shadow mode is published as not in force yet and one that is off is not", "[R103]") {
    const auto shadow = config_of([](config::Route& route) { route.policy->mode = core::Mode::shadow; });
    CHECK(only_route(shadow).at("mode").as_string() == "shadow");
    CHECK(html_says(shadow, "Not in force yet"));
    CHECK(!html_says(config_of(), "Not in force yet"));
    const auto off = config_of([](config::Route& route) { route.policy->mode = core::Mode::off; });
    CHECK(json::parse(proxy::policy_page_json(off, page_url)).at("routes").as_array().empty());
    CHECK(html_says(off, "No route has an idempotency policy."));
}

TEST_CASE("expiry, waiting, outages and error formats are published", "[R103]") {
    const auto config = config_of([](config::Route& route) {
        auto& policy = *route.policy;
        policy.after_ttl = core::AfterTtl::reject;
        policy.tombstone = std::chrono::hours(48);
        policy.in_flight.action = core::InFlightRule::Action::wait;
        policy.in_flight.wait = std::chrono::milliseconds(200);
        policy.store_down = core::StoreDown::pass;
        policy.unknown_outcome = core::UnknownOutcome::retry;
        policy.replay.mode = core::ReplayRule::Content::refresh;
        policy.replay.marker.clear();
        policy.errors = {{core::ProblemKind::key_missing, {"application/vnd.api+json", "{}"}}};
        policy.documentation = "https://docs.example/idem?a&b";
    });
    const auto route = only_route(config);
    CHECK(route.at("after_ttl").as_string() == "reject");
    CHECK(route.at("tombstone_ms").as_int64() == 48LL * 3600 * 1000);
    CHECK(route.at("in_flight").at("wait_ms").as_int64() == 200);
    CHECK(route.at("store_down").as_string() == "pass");
    CHECK(route.at("unknown_outcome").as_string() == "retry");
    CHECK(route.at("replay").at("mode").as_string() == "refresh");
    CHECK(route.at("replay").at("marker").is_null());
    CHECK(route.at("errors") == json::parse(R"({"key-missing": "application/vnd.api+json"})"));
    CHECK(route.at("documentation").as_string() == "https://docs.example/idem?a&b");
    CHECK(html_says(config, "waits up to 200ms"));
    CHECK(html_says(config, "412, #key-expired"));
    CHECK(html_says(config, "key-missing (application/vnd.api+json)"));
    CHECK(html_says(config, "<a href=\"https://docs.example/idem?a&amp;b\">"));
}

TEST_CASE("every problem type is explained under its fragment", "[R97][R103]") {
    const auto html = proxy::policy_page_html(config_of());
    for (const auto kind : core::all_problem_kinds()) {
        const auto anchor = "id=\"" + std::string(core::fragment(kind)) + "\"";
        INFO(anchor);
        CHECK(html.find(anchor) != std::string::npos);
        CHECK(html.find(core::explanation(kind).substr(0, 30)) != std::string::npos);
    }
    CHECK(html.find("pay &lt;all&gt;") != std::string::npos);
    CHECK(html.find("pay <all>") == std::string::npos);
    CHECK(html.find("<script") == std::string::npos);
}

TEST_CASE("nothing of the inside is on the page", "[R101][R103]") {
    auto config = config_of([](config::Route& route) {
        route.host.kind = config::HostRule::Kind::name;
        route.host.name = "secret-host.internal";
    });
    config::Upstream upstream;
    upstream.name = "secret-upstream";
    config::UpstreamServer server;
    server.host = "secret-server.internal";
    server.authority = "secret-server.internal:9000";
    upstream.servers.push_back(server);
    config.upstreams.push_back(upstream);
    config.store.url = "postgresql://secret-user@secret-db/x";
    CHECK(proxy::policy_page_html(config).find("secret") == std::string::npos);
    CHECK(proxy::policy_page_json(config, page_url).find("secret") == std::string::npos);
}

TEST_CASE("JSON is for those who prefer it to HTML", "[R103]") {
    const auto wants = GENERATE(
        "application/json", "application/json, text/plain, */*", "Application/JSON;q=0.9, text/*;q=0.1",
        "text/html;q=0.5, application/json", "application/*", "application/problem+json", "text/html;q=0, */*",
        "application/json;q=0.3,text/html;q=0.2,*/*;q=0.1", "application/json;charset=utf-8;q=1.0, text/html;q=0.999");
    INFO(wants);
    CHECK(proxy::prefers_json(wants));
}

TEST_CASE("everybody else gets HTML", "[R103]") {
    const auto wants = GENERATE(
        "", "*/*", "text/html", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
        "text/html, application/json", "application/json;q=0.9, text/html", "application/json;q=0",
        "text/*, application/json;q=0.5", "image/png", "application/jsonp", ",,", "*/*, application/json;q=0.1");
    INFO(wants);
    CHECK(!proxy::prefers_json(wants));
}

TEST_CASE("the page is served on the proxy's own listener as HTML or as JSON", "[R103]") {
    test::RefusingPort nobody;
    const test::ProxyUnderTest proxy(nobody.port());
    const auto html = proxy.ask("GET /.well-known/idempotency HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\n\r\n");
    CHECK(test::status_of(html.head) == 200);
    CHECK(test::has_line(html.head, "Content-Type: text/html; charset=utf-8"));
    CHECK(test::has_line(html.head, "Vary: Accept"));
    CHECK(html.head.find("Content-Security-Policy: default-src 'none';") != std::string::npos);
    const auto as_json =
        proxy.ask("GET /.well-known/idempotency HTTP/1.1\r\nHost: a\r\nAccept: application/json\r\n\r\n");
    CHECK(test::has_line(as_json.head, "Content-Type: application/json"));
    CHECK_NOTHROW(json::parse(as_json.body));
}

TEST_CASE("HEAD of the page announces the page", "[R103]") {
    test::RefusingPort nobody;
    const test::ProxyUnderTest proxy(nobody.port());
    auto client = proxy.connect();
    client.send("HEAD /.well-known/idempotency HTTP/1.1\r\nHost: a\r\n\r\n");
    const auto head = client.read_head();
    CHECK(test::status_of(head) == 200);
    const auto page = proxy.ask("GET /.well-known/idempotency HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(test::has_line(head, "Content-Length: " + std::to_string(page.body.size())));
    client.send("GET /.well-known/idempotency HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(test::status_of(client.read_head()) == 200);
}
