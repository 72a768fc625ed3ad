// Errors in an API's own format: what goes where, escaped for the content type, and what a template may not be.

#include "core/error_template.hpp"

#include <boost/json.hpp>
#include <catch2/catch.hpp>

using namespace oncegate::core;
namespace json = boost::json;

namespace {

constexpr std::string_view page = "https://api.example.com/.well-known/idempotency";

ProblemResponse rendered(std::string content_type, std::string body, std::string detail = {}) {
    Problem problem;
    problem.kind = ProblemKind::key_reused;
    problem.detail = std::move(detail);
    problem.status = 409;
    problem.retry_after = std::chrono::seconds(3);
    problem.www_authenticate = "Bearer";
    return render(problem, page, {{ProblemKind::key_reused, ErrorTemplate{std::move(content_type), std::move(body)}}});
}

std::string fault(std::string content_type, std::string body) {
    return template_fault(ErrorTemplate{std::move(content_type), std::move(body)});
}

constexpr std::string_view nasty = "a \"b\" \\ <c>&'d'\nend";

}  // namespace

TEST_CASE("a template is filled with code and detail and status", "[R95]") {
    const auto response = rendered("text/plain", "{status} {code}: {detail} {} {x y} {", "it differs");
    CHECK(response.body == "409 key-reused: it differs {} {x y} {");
    CHECK(response.status == 409);
    CHECK(response.reason == "Conflict");
}

TEST_CASE("without a detail of its own a problem is explained as everywhere", "[R95]") {
    CHECK(rendered("text/plain", "{detail}").body == explanation(ProblemKind::key_reused));
}

TEST_CASE("everything but content and its type stays as it is", "[R96][R99]") {
    const auto response = rendered("application/vnd.api+json", "{\"errors\": [{\"code\": \"{code}\"}]}");
    CHECK(response.fields ==
          Fields{{"Content-Type", "application/vnd.api+json"},
                 {"Cache-Control", "no-store"},
                 {"Link", "<https://api.example.com/.well-known/idempotency>; rel=\"describedby\"; type=\"text/html\""},
                 {"Retry-After", "3"},
                 {"WWW-Authenticate", "Bearer"}});
}

TEST_CASE("a kind without a template is a problem document", "[R95]") {
    Problem problem;
    problem.kind = ProblemKind::in_flight;
    const ErrorTemplates templates{{ProblemKind::key_reused, ErrorTemplate{"text/plain", "x"}}};
    const auto response = render(problem, page, templates);
    CHECK(response.fields.find("Content-Type") == "application/problem+json");
    CHECK(response.body == render(problem, page).body);
}

TEST_CASE("values are escaped as the content type asks", "[R95]") {
    const auto type = GENERATE("application/json", "Application/JSON; charset=utf-8", "text/json",
                               "application/vnd.api+json", "application/problem+json");
    INFO(type);
    const auto body = json::parse(rendered(type, "{\"m\": \"{detail}\", \"s\": {status}}", std::string(nasty)).body);
    CHECK(body.at("m").as_string() == nasty);
    CHECK(body.at("s").as_int64() == 409);
}

TEST_CASE("values are escaped in markup", "[R95]") {
    const auto type = GENERATE("application/xml", "text/xml", "application/soap+xml", "image/svg+xml", "text/html");
    INFO(type);
    CHECK(rendered(type, "<e>{detail}</e>", std::string(nasty)).body ==
          "<e>a &quot;b&quot; \\ &lt;c&gt;&amp;&#39;d&#39;\nend</e>");
}

TEST_CASE("values are left alone in other text", "[R95]") {
    CHECK(rendered("text/plain", "{detail}", std::string(nasty)).body == nasty);
    CHECK(rendered("application/jsonlines", "{detail}", std::string(nasty)).body == nasty);
}

TEST_CASE("a value that looks like a placeholder is not filled again", "[R95]") {
    CHECK(rendered("text/plain", "{detail}", "{status}").body == "{status}");
}

TEST_CASE("sound templates have no fault") {
    CHECK(fault("application/json", "{\"error\": \"{code}\", \"text\": \"{detail}\", \"status\": {status}}").empty());
    CHECK(fault("application/json", "{\"a\":{\"b\":{}}}").empty());
    CHECK(fault("text/plain", "{detail}").empty());
    CHECK(fault("text/plain", "{ code } {0} {} { {{").empty());
}

TEST_CASE("a name in braces that stands for nothing is a fault and the names that do are told") {
    const auto why = fault("text/plain", "{titel}");
    CHECK(why.find("{titel}") != std::string::npos);
    CHECK(why.find("{detail}") != std::string::npos);
    CHECK(!fault("application/json", "{\"a\": \"{message}\"}").empty());
    CHECK(!fault("text/plain", "{Code}").empty());
}

TEST_CASE("a JSON template that yields no JSON is a fault", "[R143]") {
    CHECK(!fault("application/json", "{\"detail\": {detail}}").empty());
    CHECK(!fault("application/json", "{\"detail\": \"{detail}\"").empty());
    CHECK(!fault("application/vnd.api+json", "{detail}").empty());
    CHECK(!fault("application/json", "not JSON").empty());
    CHECK(fault("text/plain", "{\"detail\": {detail}").empty());
}

TEST_CASE("an empty template is a fault", "[R143]") { CHECK(!fault("text/plain", "").empty()); }

TEST_CASE("a media type has a type and a subtype") {
    for (const auto good : {"application/json", "text/html; charset=utf-8", "application/vnd.api+json"}) {
        CHECK(media_type_fault(good).empty());
    }
    for (const auto bad :
         {"", "json", "application/", "/json", "a b/c", "text/plain\r\nX: y", "text/plain; a=\xC3\xA9"}) {
        CHECK(!media_type_fault(bad).empty());
    }
}

TEST_CASE("problems that come before a route is known have no template") {
    for (const auto kind : all_problem_kinds()) {
        const bool early = kind == ProblemKind::no_route || kind == ProblemKind::head_too_large;
        CHECK(has_route(kind) == !early);
    }
}
