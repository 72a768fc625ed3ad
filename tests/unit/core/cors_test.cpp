// Cross-origin requests as the Fetch standard has them: what is an origin, what is a preflight, who may read what.

#include "core/cors.hpp"

#include <catch2/catch.hpp>

using namespace oncegate::core;

namespace {

RequestHead asking(std::string method, Fields fields) {
    RequestHead head;
    head.method = std::move(method);
    head.target = "/pay";
    head.fields = std::move(fields);
    return head;
}

CorsAnswer answer(std::string origin, Credentials credentials = Credentials::omitted) {
    CorsAnswer out;
    out.allow_origin = std::move(origin);
    out.credentials = credentials;
    out.expose = "Retry-After, Link";
    return out;
}

Fields applied(const CorsAnswer& about, Fields fields) {
    about.apply(fields);
    return fields;
}

}  // namespace

TEST_CASE("an origin is what a browser sends: scheme, host and perhaps a port in lower case", "[R100]") {
    const auto good = GENERATE("https://shop.example", "http://localhost:3000", "https://a.b-c.example:8443",
                               "http://127.0.0.1:8080", "http://[::1]:3000", "https://[2001:db8::1]",
                               "capacitor://localhost", "chrome-extension://gighmmpiobklfepjocnamgkkbiglidom");
    INFO(good);
    CHECK(origin_fault(good).empty());
}

TEST_CASE("what no browser sends as an origin is told apart", "[R100]") {
    const auto bad = GENERATE(
        "", "null", "shop.example", "https://", "https://shop.example/", "https://shop.example/app",
        "HTTPS://shop.example", "https://Shop.example", "https://*.shop.example", "https://shop.example:443",
        "http://shop.example:80", "https://shop.example:", "https://shop.example:0", "https://shop.example:65536",
        "https://shop.example:080", "https://a b", "https://a,https://b", "https://user@shop.example",
        "https://shop.example?q", "1http://a", "https://[::1", "https://[]", "://a", "https://caf\xC3\xA9.example");
    INFO(bad);
    CHECK(!origin_fault(bad).empty());
}

TEST_CASE("the default port of another scheme is a port like any other", "[R100]") {
    CHECK(origin_fault("http://shop.example:443").empty());
    CHECK(origin_fault("https://shop.example:80").empty());
    CHECK(origin_fault("https://shop.example:65535").empty());
}

TEST_CASE("a preflight is OPTIONS with one origin and one requested method", "[R2][R100]") {
    const Fields both{{"Origin", "https://a"}, {"Access-Control-Request-Method", "POST"}};
    CHECK(preflight_method(asking("OPTIONS", both)) == "POST");
    CHECK(!preflight_method(asking("POST", both)));
    CHECK(!preflight_method(asking("options", both)));
    CHECK(!preflight_method(asking("OPTIONS", {{"Origin", "https://a"}})));
    CHECK(!preflight_method(asking("OPTIONS", {{"Access-Control-Request-Method", "POST"}})));
    CHECK(!preflight_method(asking("OPTIONS", {{"Origin", ""}, {"Access-Control-Request-Method", "POST"}})));
    CHECK(!preflight_method(asking("OPTIONS", {{"Origin", "https://a"}, {"Access-Control-Request-Method", "PO ST"}})));
    CHECK(!preflight_method(asking("OPTIONS", {{"Origin", "https://a"},
                                               {"Access-Control-Request-Method", "POST"},
                                               {"access-control-request-method", "PUT"}})));
}

TEST_CASE("two origins are none", "[R100]") {
    CHECK(origin_of(asking("POST", {{"Origin", "https://a"}})) == "https://a");
    CHECK(!origin_of(asking("POST", {{"Origin", "https://a"}, {"origin", "https://b"}})));
    CHECK(!origin_of(asking("POST", {})));
}

TEST_CASE("origins are compared byte by byte", "[R100]") {
    const std::vector<std::string> allowed{"https://shop.example", "http://localhost:3000"};
    CHECK(allowed_origin(allowed, Credentials::omitted, "https://shop.example") == "https://shop.example");
    CHECK(allowed_origin(allowed, Credentials::included, "http://localhost:3000") == "http://localhost:3000");
    for (const auto other : {"https://shop.example.evil", "https://shop.exampl", "http://shop.example", "null", "*", "",
                             "https://SHOP.example", "https://shop.example/"}) {
        INFO(other);
        CHECK(!allowed_origin(allowed, Credentials::omitted, other));
    }
}

TEST_CASE("a star allows everybody without credentials and nobody with them", "[R100]") {
    CHECK(allowed_origin({"*"}, Credentials::omitted, "https://any.example") == "*");
    CHECK(allowed_origin({"*"}, Credentials::omitted, "null") == "*");
    CHECK(!allowed_origin({"*"}, Credentials::included, "https://any.example"));
    CHECK(!allowed_origin({"*"}, Credentials::included, "*"));
}

TEST_CASE("an answer says who may read it and what of it", "[R100]") {
    CHECK(applied(answer("https://a"), {{"Content-Type", "text/plain"}}) ==
          Fields{{"Content-Type", "text/plain"},
                 {"Vary", "Origin"},
                 {"Access-Control-Allow-Origin", "https://a"},
                 {"Access-Control-Expose-Headers", "Retry-After, Link"}});
    CHECK(applied(answer("https://a", Credentials::included), {}).find("Access-Control-Allow-Credentials") == "true");
    CHECK(!applied(answer("https://a"), {}).contains("Access-Control-Allow-Credentials"));
}

TEST_CASE("an answer to an origin that is not allowed differs for caches alone", "[R100]") {
    CHECK(applied(answer(""), {{"Age", "1"}}) == Fields{{"Age", "1"}, {"Vary", "Origin"}});
}

TEST_CASE("what the upstream says of origins gives way", "[R100]") {
    const Fields theirs{{"access-control-allow-origin", "*"},
                        {"Access-Control-Allow-Credentials", "true"},
                        {"ACCESS-CONTROL-EXPOSE-HEADERS", "X-Secret"},
                        {"Timing-Allow-Origin", "*"}};
    CHECK(applied(answer(""), theirs) == Fields{{"Timing-Allow-Origin", "*"}, {"Vary", "Origin"}});
    const auto out = applied(answer("https://a"), theirs);
    CHECK(out.count("Access-Control-Allow-Origin") == 1);
    CHECK(out.find("Access-Control-Allow-Origin") == "https://a");
    CHECK(out.combined("Access-Control-Expose-Headers") == "Retry-After, Link");
}

TEST_CASE("Vary is added to and not replaced nor repeated", "[R100]") {
    const auto vary = [](Fields fields) { return applied(answer("https://a"), std::move(fields)).combined("Vary"); };
    CHECK(vary({{"Vary", "Accept-Encoding"}}) == "Accept-Encoding, Origin");
    CHECK(vary({{"Vary", "Accept, origin"}}) == "Accept, origin");
    CHECK(vary({{"Vary", "Accept"}, {"vary", "Origin"}}) == "Accept, Origin");
    CHECK(vary({{"Vary", "*"}}) == "*");
    CHECK(vary({{"Vary", "X-Origin"}}) == "X-Origin, Origin");
}

TEST_CASE("a preflight's answer allows an origin everything or nothing", "[R100]") {
    PreflightAnswer about;
    about.about = answer("https://a");
    about.methods = "POST, PATCH";
    about.headers = "Idempotency-Key, Content-Type";
    about.max_age_s = 600;
    CHECK(about.fields() == Fields{{"Vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"},
                                   {"Access-Control-Allow-Origin", "https://a"},
                                   {"Access-Control-Allow-Methods", "POST, PATCH"},
                                   {"Access-Control-Allow-Headers", "Idempotency-Key, Content-Type"},
                                   {"Access-Control-Max-Age", "600"}});
    about.about = answer("");
    CHECK(about.fields() == Fields{{"Vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"}});
}

TEST_CASE("a list names a field once whatever its case", "[R100]") {
    std::string list;
    for (const auto name : {"Link", "", "link", "Retry-After", "LINK"}) add_field_name(list, name);
    CHECK(list == "Link, Retry-After");
}
