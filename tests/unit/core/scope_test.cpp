// Whose key it is, and the identity made of it.

#include "core/scope.hpp"

#include <boost/json/value.hpp>
#include <catch2/catch.hpp>
#include <set>

using namespace oncegate::core;
using Kind = ScopePart::Kind;

namespace {

RequestHead request(Fields fields = {{"Host", "api.example.com"}}) {
    RequestHead head;
    head.method = "POST";
    head.target = "/v1/payments";
    head.fields = std::move(fields);
    return head;
}

RecordId id_of(const std::vector<ScopePart>& parts, const RequestHead& head, std::string_view route = "r",
               std::string_view key = "k") {
    const auto scope = read_scope(parts, {route, head});
    REQUIRE(scope.has_value());
    return identify(*scope, key);
}

}  // namespace

TEST_CASE("the same key on another route or from another principal is another record", "[R34]") {
    const std::vector<ScopePart> parts{{Kind::route, {}, false}, {Kind::header, "Authorization", false}};
    const auto alice = request({{"Authorization", "Bearer alice"}});
    const auto bob = request({{"Authorization", "Bearer bob"}});
    CHECK(id_of(parts, alice) == id_of(parts, alice));
    const std::set<RecordId> all{id_of(parts, alice), id_of(parts, bob), id_of(parts, alice, "other"),
                                 id_of(parts, alice, "r", "K")};
    CHECK(all.size() == 4);
}

TEST_CASE("a request without the principal is named for what it lacks", "[R37]") {
    const std::vector<ScopePart> parts{{Kind::route, {}, false}, {Kind::header, "Authorization", false}};
    const auto missing = read_scope(parts, {"r", request()});
    REQUIRE(missing.has_error());
    CHECK(missing.error() == "header:Authorization");
    CHECK(read_scope(parts, {"r", request({{"Authorization", ""}})}).has_error());
}

TEST_CASE("a request without a host has no host to be scoped by", "[R37]") {
    CHECK(read_scope({{Kind::host, {}, false}}, {"r", request({})}).has_error());
    CHECK(read_scope({{Kind::host, {}, true}}, {"r", request({})}).has_value());
}

TEST_CASE("an optional part that is absent is a scope of its own", "[R37]") {
    const std::vector<ScopePart> parts{{Kind::header, "X-Tenant", true}};
    const auto absent = id_of(parts, request());
    CHECK(absent == id_of(parts, request({{"X-Tenant", ""}})));
    CHECK(absent != id_of(parts, request({{"X-Tenant", "t"}})));
}

TEST_CASE("key and scope cannot run into each other", "[R54]") {
    const std::vector<ScopePart> parts{{Kind::header, "A", true}, {Kind::header, "B", true}};
    CHECK(id_of(parts, request({{"A", "xy"}, {"B", "z"}})) != id_of(parts, request({{"A", "x"}, {"B", "yz"}})));
    CHECK(id_of(parts, request({{"A", "x"}})) != id_of(parts, request({{"B", "x"}})));
    CHECK(id_of({{Kind::route, {}, false}}, request(), "ab", "c") !=
          id_of({{Kind::route, {}, false}}, request(), "a", "bc"));
}

TEST_CASE("host and path are compared in their normal form", "[R34]") {
    const std::vector<ScopePart> parts{{Kind::host, {}, false}, {Kind::path, {}, false}};
    auto spelled = request({{"Host", "API.example.com:443"}});
    spelled.target = "/v1/./p%61yments?x=1";
    CHECK(id_of(parts, request()) == id_of(parts, spelled));
}

TEST_CASE("field names of the scope are compared without case", "[R7]") {
    CHECK(id_of({{Kind::header, "Authorization", false}}, request({{"authorization", "x"}})) ==
          id_of({{Kind::header, "AUTHORIZATION", false}}, request({{"Authorization", "x"}})));
}

TEST_CASE("the client's address and certificate are parts that the connection brings", "[R34][R37]") {
    const std::vector<ScopePart> by_address{{Kind::client_ip, {}, false}};
    const std::vector<ScopePart> by_certificate{{Kind::client_cert, {}, false}};
    const auto head = request();
    const auto id = [&](const std::vector<ScopePart>& parts, std::string_view address,
                        std::optional<std::string_view> certificate) {
        const auto scope = read_scope(parts, {"r", head, address, certificate});
        REQUIRE(scope.has_value());
        return identify(*scope, "k");
    };
    CHECK(id(by_address, "192.0.2.7", {}) == id(by_address, "192.0.2.7", "subject:CN=a"));
    CHECK(id(by_address, "192.0.2.7", {}) != id(by_address, "192.0.2.8", {}));
    CHECK(id(by_certificate, "192.0.2.7", "subject:CN=a") == id(by_certificate, "192.0.2.8", "subject:CN=a"));
    CHECK(id(by_certificate, "192.0.2.7", "subject:CN=a") != id(by_certificate, "192.0.2.7", "subject:CN=b"));

    CHECK(read_scope(by_certificate, {"r", head, "192.0.2.7"}).error() == "client_cert");
    CHECK(read_scope(by_address, {"r", head}).error() == "client_ip");
    CHECK(read_scope({{Kind::client_cert, {}, true}}, {"r", head}).has_value());
}

TEST_CASE("a part is named as the configuration writes it", "[R37]") {
    CHECK(name_of({Kind::route, {}, false}) == "route");
    CHECK(name_of({Kind::jwt, "sub", false}) == "jwt:sub");
}

TEST_CASE("one host in two spellings is one scope", "[R34]") {
    const std::vector<ScopePart> parts{{Kind::host, {}, false}};
    const auto plain = id_of(parts, request());
    CHECK(id_of(parts, request({{"Host", "API.example.com."}})) == plain);
    CHECK(id_of(parts, request({{"Host", "api.example.com:8080"}})) == plain);
    CHECK(id_of(parts, request({{"Host", "other.example.com"}})) != plain);
}

TEST_CASE("a claim of the verified token is a scope", "[R35][R36]") {
    const boost::json::object claims{{"sub", "alice"}, {"tenant", 42},    {"root", true}, {"ratio", 0.5},
                                     {"empty", ""},    {"none", nullptr}, {"list", {1}},  {"map", {{"a", 1}}}};
    const auto head = request();
    ScopeSource source{"r", head};
    source.claims = &claims;
    const auto value = [&](const char* name) -> std::optional<std::string> {
        const auto scope = read_scope({{Kind::jwt, name, true}}, source);
        REQUIRE(scope.has_value());
        return scope->front().value;
    };
    CHECK(value("sub") == "alice");
    CHECK(value("tenant") == "42");
    CHECK(value("root") == "true");
    for (const auto* absent : {"empty", "none", "list", "map", "Sub", "nobody"}) {
        CAPTURE(absent);
        CHECK_FALSE(value(absent).has_value());
        CHECK(read_scope({{Kind::jwt, absent, false}}, source).error() == std::string("jwt:").append(absent));
    }
}

TEST_CASE("without a token there is no claim", "[R37]") {
    const auto head = request();
    CHECK(read_scope({{Kind::jwt, "sub", false}}, {"r", head}).has_error());
    CHECK(read_scope({{Kind::jwt, "sub", true}}, {"r", head}).has_value());
}

TEST_CASE("what the authorisation service answered is a scope and what the client sent under that name is none",
          "[R35][R37]") {
    const auto head = request({{"X-Tenant", "spoofed"}});
    const Fields answer{{"x-tenant", "acme"}, {"X-Empty", ""}};
    ScopeSource source{"r", head};
    CHECK(read_scope({{Kind::auth, "X-Tenant", false}}, source).error() == "auth:X-Tenant");
    source.authorization = &answer;
    CHECK(read_scope({{Kind::auth, "X-Tenant", false}}, source)->front().value == "acme");
    CHECK(read_scope({{Kind::auth, "X-Empty", false}}, source).has_error());
    CHECK(read_scope({{Kind::auth, "X-Other", false}}, source).has_error());
}
