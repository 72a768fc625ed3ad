// Where a Location leads (RFC 3986 §5.4), and whose credentials may go there.

#include <catch2/catch.hpp>

#include "core/local_reference.hpp"

using oncegate::core::local_target;

namespace {

const std::vector<std::string> here{"api.example.com", "payments:9000"};

std::optional<std::string> target(std::string_view location) {
    return local_target(location, "/v1/payments?x=1", here);
}

}  // namespace

TEST_CASE("a reference is resolved against the request's own target") {
    CHECK(target("/v1/payments/17") == "/v1/payments/17");
    CHECK(target("payments/17") == "/v1/payments/17");
    CHECK(target("../v2/payments/17?full=1#top") == "/v2/payments/17?full=1");
    CHECK(target("?state=now") == "/v1/payments?state=now");
    CHECK(target("") == "/v1/payments?x=1");
    CHECK(target("#top") == "/v1/payments?x=1");
    CHECK(target("./a%2Fb") == "/v1/a%2Fb");
    CHECK(target("/a%2F..%2Fb/./c/../d") == "/a%2F..%2Fb/d");
    CHECK(target("../../../x") == "/x");
    CHECK(target("/x/.") == "/x/");
    CHECK(target("/x/..") == "/");
    CHECK(target("/a%2Fb?q=%20") == "/a%2Fb?q=%20");
}

TEST_CASE("an absolute Location leads here when it names this host or the upstream's") {
    CHECK(target("http://api.example.com/v1/payments/17") == "/v1/payments/17");
    CHECK(target("https://API.example.com:443/v1/payments/17") == "/v1/payments/17");
    CHECK(target("http://payments:9000/17") == "/17");
    CHECK(target("//api.example.com/17") == "/17");
    CHECK(target("http://api.example.com") == "/");
}

TEST_CASE("a Location elsewhere is not followed") {
    CHECK(target("http://other.example.com/v1/payments/17") == std::nullopt);
    CHECK(target("http://api.example.com:8080/17") == std::nullopt);
    CHECK(target("//other.example.com/17") == std::nullopt);
    CHECK(target("http://api.example.com@other.example.com/17") == std::nullopt);
    CHECK(target("http://me@api.example.com/17") == std::nullopt);
    CHECK(target("ftp://api.example.com/17") == std::nullopt);
    CHECK(target("mailto:someone@example.com") == std::nullopt);
    CHECK(target("http:///17") == std::nullopt);
    CHECK(target("not a reference") == std::nullopt);
    CHECK(target("/line\r\nbreak") == std::nullopt);
}
