// Matching (contract "Matching", R126): the normalised path selects, ambiguous separators are refused only when they
// matter.

#include "core/route_table.hpp"

#include <catch2/catch.hpp>

using namespace oncegate::core;

namespace {

PathPattern pattern(std::string_view text) {
    std::string why;
    auto parsed = PathPattern::parse(text, why);
    INFO(text << " " << why);
    REQUIRE(parsed.has_value());
    return *parsed;
}

RouteMatch route(std::string_view path, std::vector<std::string> methods = {}, std::string_view host = {}) {
    RouteMatch match;
    if (!path.empty()) match.path = pattern(path);
    match.methods = std::move(methods);
    match.host = host;
    return match;
}

RequestHead request(std::string_view method, std::string_view target, std::string_view host = "example.com") {
    RequestHead head;
    head.method = method;
    head.target = target;
    head.fields = Fields{{"Host", host}};
    return head;
}

constexpr int missing = -1;
constexpr int ambiguous = -2;

int found(const RouteTable& table, const RequestHead& head) {
    const auto index = table.find(head);
    if (index.has_value()) return static_cast<int>(*index);
    return index.error() == RouteTable::Miss::none ? missing : ambiguous;
}

}  // namespace

TEST_CASE("a path is normalised by RFC 3986 and duplicate slashes are merged", "[R126]") {
    struct Row {
        std::string_view raw, normalised, section;
    };
    const auto row = GENERATE(values<Row>({
        {"/", "/", ""},
        {"/a/b", "/a/b", ""},
        {"/a/b/", "/a/b/", ""},
        {"/%61%7e%2D%2e%5f", "/a~-._", "6.2.2.2"},
        {"/%41%5A%30", "/AZ0", "6.2.2.2"},
        {"/caf%c3%a9", "/caf%C3%A9", "6.2.2.1"},
        {"/a%2fb%5cc%00", "/a%2Fb%5Cc%00", "6.2.2.1"},
        {"/a%20b", "/a%20b", "6.2.2.2"},
        {"/a%252fb", "/a%252fb", "2.4: decoded once"},
        {"/a/./b", "/a/b", "5.2.4"},
        {"/a/../b", "/b", "5.2.4"},
        {"/a/b/..", "/a/", "5.2.4"},
        {"/a/b/.", "/a/b/", "5.2.4"},
        {"/a/b/../..", "/", "5.2.4"},
        {"/..", "/", "5.2.4"},
        {"/../../a", "/a", "5.2.4"},
        {"/.", "/", "5.2.4"},
        {"/a/b/c/./../../g", "/a/g", "5.2.4"},
        {"/a/%2e%2E/b", "/b", "6.2.2.3"},
        {"/a/%2e/b", "/a/b", "6.2.2.3"},
        {"/a/.%2e/b", "/b", "6.2.2.3"},
        {"/a/...", "/a/...", "5.2.4"},
        {"/a/..b/.c", "/a/..b/.c", "5.2.4"},
        {"//", "/", "slashes merged"},
        {"//a///b//", "/a/b/", "slashes merged"},
        {"//evil/x", "/evil/x", "slashes merged"},
        {"/a//../b", "/b", "slashes merged first"},
        {"*", "*", "no path"},
        {"example.com:443", "example.com:443", "no path"},
    }));
    INFO(row.raw << " RFC 3986 " << row.section);
    CHECK(normalise_path(row.raw) == row.normalised);
    CHECK(normalise_path(row.normalised) == row.normalised);
}

TEST_CASE("a path pattern is exact or a subtree or has segments in braces", "[R126]") {
    struct Row {
        std::string_view pattern, path;
        bool matches;
    };
    const auto row = GENERATE(values<Row>({
        {"/v1/payments", "/v1/payments", true},
        {"/v1/payments", "/v1/payments/", false},
        {"/v1/payments", "/v1/payment", false},
        {"/v1/payments", "/v1/payments/1", false},
        {"/v1/payments", "/V1/payments", false},
        {"/v1/payments", "/v1", false},
        {"/v1/payments/", "/v1/payments/", true},
        {"/v1/payments/", "/v1/payments", false},
        {"/", "/", true},
        {"/", "/a", false},
        {"/", "*", false},
        {"/**", "/", true},
        {"/**", "/a/b/c", true},
        {"/**", "*", true},
        {"/**", "example.com:443", true},
        {"/v1/**", "/v1", true},
        {"/v1/**", "/v1/", true},
        {"/v1/**", "/v1/a/b", true},
        {"/v1/**", "/v10", false},
        {"/v1/**", "/", false},
        {"/v1/**", "*", false},
        {"/orders/{id}/refunds", "/orders/7/refunds", true},
        {"/orders/{id}/refunds", "/orders//refunds", false},
        {"/orders/{id}/refunds", "/orders/7/8/refunds", false},
        {"/orders/{id}/refunds", "/orders/7/refunds/", false},
        {"/orders/{id}", "/orders/", false},
        {"/orders/{id}", "/orders/a%2Fb", true},
        {"/orders/{id}/**", "/orders/7", true},
        {"/orders/{id}/**", "/orders/7/x", true},
        {"/orders/{id}/**", "/orders", false},
        {"/{a}/{b}", "/x/y", true},
        {"/%7Euser", "/~user", true},
        {"/caf%c3%a9", "/caf%C3%A9", true},
    }));
    INFO(row.pattern << " on " << row.path);
    CHECK(pattern(row.pattern).matches(row.path) == row.matches);
    CHECK(pattern(row.pattern).text() == row.pattern);
}

TEST_CASE("text that could never match is no pattern and the reason is told") {
    const auto text = GENERATE(values<std::string_view>(
        {"",       "v1",     "*",     "**",   "/a*",          "/*",  "/**/a",  "/a/**b", "/a//b",
         "//",     "/a/./b", "/a/..", "/{id", "/id}",         "/{}", "/a{id}", "/{id}b", "/{a}{b}",
         "/{{a}}", "/a?b",   "/a#b",  "/a b", "/caf\xC3\xA9", "/a%", "/a%zz"}));
    INFO(text);
    std::string why;
    CHECK(!PathPattern::parse(text, why).has_value());
    CHECK(!why.empty());
}

TEST_CASE("the first route that matches method and host and path is taken") {
    const RouteTable table({route("/v1/payments", {"POST", "PATCH"}, "api.example.com"),
                            route("/v1/payments", {"POST"}), route("/v1/**"), route({}, {"OPTIONS"})});
    CHECK(found(table, request("POST", "/v1/payments", "api.example.com")) == 0);
    CHECK(found(table, request("PATCH", "/v1/payments", "api.example.com")) == 0);
    CHECK(found(table, request("POST", "/v1/payments?x=1", "api.example.com")) == 0);
    CHECK(found(table, request("POST", "/v1/payments", "other.example.com")) == 1);
    CHECK(found(table, request("GET", "/v1/payments", "api.example.com")) == 2);
    CHECK(found(table, request("post", "/v1/payments", "api.example.com")) == 2);  // methods are case-sensitive
    CHECK(found(table, request("GET", "/v2")) == missing);
    CHECK(found(table, request("OPTIONS", "*")) == 3);
    CHECK(found(table, request("OPTIONS", "/v2")) == 3);
    CHECK(found(RouteTable({}), request("GET", "/")) == missing);
}

TEST_CASE("hosts compare without case or port or trailing dot") {
    const RouteTable table({route({}, {}, "api.example.com"), route({}, {}, "*.example.com"), route({}, {}, "[::1]")});
    CHECK(found(table, request("GET", "/", "API.Example.COM")) == 0);
    CHECK(found(table, request("GET", "/", "api.example.com:8080")) == 0);
    CHECK(found(table, request("GET", "/", "api.example.com.")) == 0);
    CHECK(found(table, request("GET", "/", "www.example.com")) == 1);
    CHECK(found(table, request("GET", "/", "a.b.EXAMPLE.com:80")) == 1);
    CHECK(found(table, request("GET", "/", "example.com")) == missing);
    CHECK(found(table, request("GET", "/", ".example.com")) == missing);
    CHECK(found(table, request("GET", "/", "badexample.com")) == missing);
    CHECK(found(table, request("GET", "/", "[::1]:8080")) == 2);
    CHECK(found(table, request("GET", "/", "[::1]")) == 2);
}

TEST_CASE("the host of an absolute-form target selects the route", "[R118]") {
    const RouteTable table({route("/x", {}, "one.example"), route("/x", {}, "two.example")});
    CHECK(found(table, request("GET", "http://one.example/x", "two.example")) == 0);
    CHECK(found(table, request("GET", "http://two.example:80/x?q", "one.example")) == 1);
}

TEST_CASE("no spelling of a path evades its route", "[R126]") {
    const RouteTable table({route("/v1/payments", {"POST"}), route("/**")});
    for (const auto* target :
         {"/v1/payments", "/v1/../v1/payments", "//v1//payments", "/%76%31/payments", "/v1/%2e/payments",
          "/x/%2E%2e/v1/payments", "/./v1/payments", "/v1/payments?a=/../b", "http://example.com/v1/payments"}) {
        INFO(target);
        CHECK(found(table, request("POST", target)) == 0);
    }
}

TEST_CASE("an encoded separator is refused exactly when it would select another route", "[R126]") {
    const RouteTable table(
        {route("/v1/payments", {"POST"}), route("/files/**"), route("/v1/{id}"), route("/open/{id}/x")});
    struct Row {
        std::string_view target;
        int route;
    };
    const auto row = GENERATE(values<Row>({
        {"/v1%2Fpayments", ambiguous},
        {"/v1%2fpayments", ambiguous},
        {"/v1%5Cpayments", ambiguous},
        {"/v1\\payments", ambiguous},
        {"/v1/payments%00", ambiguous},
        {"/v1/payments%00.jpg", ambiguous},
        {"/files/..%2Fv1%2Fpayments", ambiguous},
        {"/files/..\\v1\\payments", ambiguous},
        // Readings mixed: one separator is read, another is not, or the path ends at a NUL.
        {"/files/..%2fv1%2fpayments%5c..%5c..%5cx", ambiguous},
        {"/files/..%5cv1%5cpayments%2f..%2f..%2fx", ambiguous},
        {"/files/..%2fv1%2fpayments%00x", ambiguous},
        {"/files/a%2Fb", 1},
        {"/files/a\\b", 1},
        {"/files/a%5cb%00", 1},
        {"/files%2Fa/b", ambiguous},
        {"/v1/a%2Fb", ambiguous},
        {"/open/a%2Fb", missing},
        {"/other%2Fa", missing},
        {"/files/a%20b", 1},
        {"/v1/a%252Fb", 2},
    }));
    INFO(row.target);
    CHECK(found(table, request("POST", row.target)) == row.route);
}

TEST_CASE("a separator in the query is never ambiguous", "[R126]") {
    const RouteTable table({route("/v1/payments"), route("/**")});
    CHECK(found(table, request("POST", "/v1/payments?next=%2Fx%5C%00\\")) == 0);
}

TEST_CASE("star and authority targets match only routes for every path", "[R135]") {
    const RouteTable table({route("/"), route("/v1/**"), route("/**")});
    CHECK(found(table, request("OPTIONS", "*")) == 2);
    CHECK(found(table, request("CONNECT", "example.com:443")) == 2);
    CHECK(found(RouteTable({route("/"), route("/v1/**")}), request("OPTIONS", "*")) == missing);
}
