// The policy page: what clients may rely on, for people and for programs.

#include "proxy/policy_page.hpp"

#include <boost/json/parse.hpp>
#include <catch2/catch.hpp>

#include "core/problem.hpp"
#include "support/net/scripted_peer.hpp"
#include "support/proxy/proxy_under_test.hpp"

using namespace oncegate;
namespace json = boost::json;

namespace {

config::Config two_routes() {
    config::Config config;
    config::Route pay;
    pay.name = "pay <all>";
    pay.enforced_methods = {"POST"};
    pay.policy.emplace();
    pay.policy->scope = {{core::ScopePart::Kind::route, {}, false},
                         {core::ScopePart::Kind::header, "Authorization", true}};
    pay.policy->key.syntax = core::KeySyntax::any;
    pay.policy->ttl = std::chrono::hours(72);
    config.routes.push_back(pay);
    config::Route plain;
    plain.name = "plain";
    config.routes.push_back(plain);
    return config;
}

}  // namespace

TEST_CASE("the page states what the draft wants published, for enforced routes only", "[R103]") {
    const auto page =
        json::parse(proxy::policy_page_json(two_routes(), "http://a/.well-known/idempotency")).as_object();
    REQUIRE(page.at("routes").as_array().size() == 1);
    const auto& route = page.at("routes").as_array()[0].as_object();
    CHECK(route.at("route").as_string() == "pay <all>");
    CHECK(route.at("key").as_object().at("required").as_bool());
    CHECK(route.at("key").as_object().at("max_length").as_int64() == 255);
    CHECK(route.at("lifetime_seconds").as_int64() == 72 * 3600);
    CHECK(route.at("scope").as_array()[1].as_string() == "header:Authorization?");
    CHECK(route.at("statuses_with_unknown_outcome").as_string() == "502, 504");
}

TEST_CASE("every problem type is explained under its fragment", "[R97][R103]") {
    const auto html = proxy::policy_page_html(two_routes());
    for (const auto kind : core::all_problem_kinds()) {
        const auto anchor = "id=\"" + std::string(core::fragment(kind)) + "\"";
        INFO(anchor);
        CHECK(html.find(anchor) != std::string::npos);
    }
    CHECK(html.find("pay &lt;all&gt;") != std::string::npos);
    CHECK(html.find("pay <all>") == std::string::npos);
}

TEST_CASE("the page is served on the proxy's own listener, as HTML or as JSON", "[R103]") {
    test::RefusingPort nobody;
    const test::ProxyUnderTest proxy(nobody.port());
    const auto html = proxy.ask("GET /.well-known/idempotency HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\n\r\n");
    CHECK(test::status_of(html.head) == 200);
    CHECK(test::has_line(html.head, "Content-Type: text/html; charset=utf-8"));
    const auto as_json =
        proxy.ask("GET /.well-known/idempotency HTTP/1.1\r\nHost: a\r\nAccept: application/json\r\n\r\n");
    CHECK(test::has_line(as_json.head, "Content-Type: application/json"));
    CHECK_NOTHROW(json::parse(as_json.body));
}
