// Raw heads against RFC 9112 §2-§5 and RFC 9110 §5: each row holds the bytes and the section that decides it (R118,
// R119, R131).

#include "core/head_rules.hpp"

#include <catch2/catch.hpp>

using namespace oncegate::core;
using namespace std::string_literals;

namespace {

constexpr int accepted = 0;

int request_status(std::string_view raw) {
    const auto head = parse_request_head(raw);
    if (head.has_value()) return accepted;
    CHECK(!head.error().detail.empty());
    return head.error().status;
}

int line_status(std::string_view request_line) {
    return request_status(std::string(request_line) + "\r\nHost: example.com\r\n\r\n");
}

int field_status(std::string_view field_lines) {
    return request_status("GET / HTTP/1.1\r\nHost: example.com\r\n" + std::string(field_lines) + "\r\n");
}

int host_status(std::string_view value) {
    return request_status("GET / HTTP/1.1\r\nHost: " + std::string(value) + "\r\n\r\n");
}

int response_status(std::string_view raw) {
    const auto head = parse_response_head(raw);
    return head.has_value() ? accepted : head.error().status;
}

RequestHead parsed(std::string_view raw) {
    auto head = parse_request_head(raw);
    REQUIRE(head.has_value());
    return *head;
}

struct Row {
    std::string raw;
    int status;
    std::string_view section;
};

}  // namespace

TEST_CASE("a head is kept line by line as it was received", "[R74][R126]") {
    const auto head = parsed(
        "POST /a/%7Eb/../c//d?x=1&y=%20 HTTP/1.1\r\nhost: Example.com:8080\r\nX-Odd-CASE:v\r\nSet-Cookie: a=1\r\n"
        "X-Empty:\r\nX-Blank: \t \r\nset-cookie:\tb=2 \r\nX-Obs: caf\xE9\r\n\r\n");
    CHECK(head.method == "POST");
    CHECK(head.target == "/a/%7Eb/../c//d?x=1&y=%20");
    CHECK(head.version == HttpVersion::http11);
    CHECK(head.fields == Fields{{"host", "Example.com:8080"},
                                {"X-Odd-CASE", "v"},
                                {"Set-Cookie", "a=1"},
                                {"X-Empty", ""},
                                {"X-Blank", ""},
                                {"set-cookie", "b=2"},
                                {"X-Obs", "caf\xE9"}});
}

TEST_CASE("the request line is a method and a target and a version with single spaces", "[R119][R131]") {
    const auto row = GENERATE(values<Row>({
        {"GET / HTTP/1.1", accepted, "9112-3"},
        {"get / HTTP/1.1", accepted, "9110-9.1"},
        {"M-SEARCH!#$%&'*+-.^_`|~09 / HTTP/1.1", accepted, "9110-5.6.2"},
        {"GET  / HTTP/1.1", 400, "9112-3"},
        {"GET /  HTTP/1.1", 400, "9112-3"},
        {"GET / HTTP/1.1 ", 400, "9112-3"},
        {" GET / HTTP/1.1", 400, "9112-3"},
        {"GET\t/ HTTP/1.1", 400, "9112-3"},
        {"GET /\tHTTP/1.1", 400, "9112-3"},
        {"GET /", 400, "9112-3"},
        {"GET", 400, "9112-3"},
        {"GET ", 400, "9112-3"},
        {"", 400, "9112-3"},
        {"G(T / HTTP/1.1", 400, "9110-9.1"},
        {"G\x80T / HTTP/1.1", 400, "9110-9.1"},
        {"GET / a HTTP/1.1", 400, "9112-3.2"},
        {"GET /\x01 HTTP/1.1", 400, "9112-3.2"},
        {"GET /\x7F HTTP/1.1", 400, "9112-3.2"},
        {"GET /\xC3\xA9 HTTP/1.1", 400, "9112-3.2"},
        {"GET /a#b HTTP/1.1", 400, "9112-3.2"},
        {"GET /"s + '\0' + " HTTP/1.1", 400, "9112-3.2"},
        {"GET /a\rb HTTP/1.1", 400, "9112-2.2"},
        {"GET /%zz HTTP/1.1", 400, "3986-2.1"},
        {"GET /%2 HTTP/1.1", 400, "3986-2.1"},
        {"GET /100% HTTP/1.1", 400, "3986-2.1"},
        {"GET /?q=100% HTTP/1.1", accepted, "compared as bytes"},
        {"GET /{a}|\"b\"\\c<d>^` HTTP/1.1", accepted, "visible ASCII is passed on"},
    }));
    INFO(row.raw << " RFC " << row.section);
    CHECK(line_status(row.raw) == row.status);
}

TEST_CASE("a version other than 1.x is refused as such and 1.x reads as 1.1", "[R119]") {
    const auto row = GENERATE(values<Row>({
        {"GET / HTTP/1.0", accepted, "9112-2.3"},
        {"GET / HTTP/1.2", accepted, "9110-2.5"},
        {"GET / HTTP/1.9", accepted, "9110-2.5"},
        {"GET / HTTP/2.0", 505, "9110-15.6.6"},
        {"GET / HTTP/0.9", 505, "9110-15.6.6"},
        {"GET / HTTP/9.1", 505, "9110-15.6.6"},
        {"GET / HTTP/1", 400, "9112-2.3"},
        {"GET / HTTP/1.10", 400, "9112-2.3"},
        {"GET / HTTP/01.1", 400, "9112-2.3"},
        {"GET / HTTP/1,1", 400, "9112-2.3"},
        {"GET / http/1.1", 400, "9112-2.3"},
        {"GET / HTTPS/1.1", 400, "9112-2.3"},
        {"GET / HTTP/x.y", 400, "9112-2.3"},
        {"GET / HTTP/-1.1", 400, "9112-2.3"},
    }));
    INFO(row.raw << " RFC " << row.section);
    CHECK(line_status(row.raw) == row.status);
    CHECK(parsed("GET / HTTP/1.0\r\n\r\n").version == HttpVersion::http10);
    CHECK(parsed("GET / HTTP/1.7\r\nHost: a\r\n\r\n").version == HttpVersion::http11);
}

TEST_CASE("each form of a target goes with the methods that may use it", "[R118]") {
    const auto row = GENERATE(values<Row>({
        {"OPTIONS * HTTP/1.1", accepted, "9112-3.2.4"},
        {"GET * HTTP/1.1", 400, "9112-3.2.4"},
        {"OPTIONS *x HTTP/1.1", 400, "9112-3.2.4"},
        {"CONNECT example.com:443 HTTP/1.1", accepted, "9112-3.2.3"},
        {"CONNECT [2001:db8::1]:443 HTTP/1.1", accepted, "9112-3.2.3"},
        {"CONNECT example.com HTTP/1.1", 400, "9112-3.2.3"},
        {"CONNECT example.com: HTTP/1.1", 400, "9112-3.2.3"},
        {"CONNECT / HTTP/1.1", 400, "9112-3.2.3"},
        {"CONNECT u@example.com:443 HTTP/1.1", 400, "9112-3.2.3"},
        {"CONNECT http://example.com/ HTTP/1.1", 400, "9112-3.2.3"},
        {"GET http://example.com/ HTTP/1.1", accepted, "9112-3.2.2"},
        {"GET HTTP://Example.com:80/a?b HTTP/1.1", accepted, "9112-3.2.2"},
        {"GET https://example.com HTTP/1.1", accepted, "9112-3.2.2"},
        {"GET http://example.com?q HTTP/1.1", accepted, "9112-3.2.2"},
        {"GET http:///path HTTP/1.1", 400, "9110-4.2.1"},
        {"GET http://user@example.com/ HTTP/1.1", 400, "9110-4.2.4"},
        {"GET http://user:pw@example.com/ HTTP/1.1", 400, "9110-4.2.4"},
        {"GET ftp://example.com/ HTTP/1.1", 400, "9112-3.2.2"},
        {"GET http:/path HTTP/1.1", 400, "9112-3.2.2"},
        {"GET example.com:443 HTTP/1.1", 400, "9112-3.2.3"},
        {"GET path HTTP/1.1", 400, "9112-3.2.1"},
        {"GET ?q HTTP/1.1", 400, "9112-3.2.1"},
        {"GET //evil/x HTTP/1.1", accepted, "9112-3.2.1"},
    }));
    INFO(row.raw << " RFC " << row.section);
    CHECK(line_status(row.raw) == row.status);
}

TEST_CASE("a target of 16 KiB is read and a longer one is 414", "[R131]") {
    constexpr std::size_t limit = 16U << 10;
    CHECK(line_status("GET /" + std::string(limit - 1, 'a') + " HTTP/1.1") == accepted);
    CHECK(line_status("GET /" + std::string(limit, 'a') + " HTTP/1.1") == 414);
    CHECK(line_status("GET /" + std::string(60'000, 'a')) == 414);
}

TEST_CASE("a field line is a token then a colon then a value on one line", "[R119]") {
    const auto row = GENERATE(values<Row>({
        {"A: b\r\n", accepted, "9112-5"},
        {"A:\r\n", accepted, "9112-5"},
        {"A:b:c\r\n", accepted, "9112-5"},
        {"A: \x80\xFF\r\n", accepted, "9110-5.5"},
        {"A: b\tc\r\n", accepted, "9110-5.5"},
        {"!#$%&'*+-.^_`|~0aZ: b\r\n", accepted, "9110-5.6.2"},
        {"A : b\r\n", 400, "9112-5.1"},
        {"A\t: b\r\n", 400, "9112-5.1"},
        {" A: b\r\n", 400, "9112-5.2"},
        {"\tA: b\r\n", 400, "9112-5.2"},
        {"A: b\r\n c\r\n", 400, "9112-5.2"},
        {"A: b\r\n\tc\r\n", 400, "9112-5.2"},
        {"A: b\r\n \r\n", 400, "9112-5.2"},
        {"A b\r\n", 400, "9112-5"},
        {"A\r\n", 400, "9112-5"},
        {": b\r\n", 400, "9110-5.1"},
        {"A(: b\r\n", 400, "9110-5.6.2"},
        {"A\xE9: b\r\n", 400, "9110-5.6.2"},
        {"A: b\rc\r\n", 400, "9112-2.2"},
        {"A: b\r\r\n", 400, "9112-2.2"},
        {"A: b\nC: d\r\n", 400, "9112-2.2"},
        {"A: b\n", 400, "9112-2.2"},
        {"A\r\n: b\r\n", 400, "9112-5"},
        {"A: "s + '\0' + "b\r\n", 400, "9110-5.5"},
        {"A"s + '\0' + ": b\r\n", 400, "9110-5.1"},
        {"A: \x01\r\n", 400, "9110-5.5"},
        {"A: \x0B\r\n", 400, "9110-5.5"},
        {"A: \x1F\r\n", 400, "9110-5.5"},
        {"A: \x7F\r\n", 400, "9110-5.5"},
        {"Transfer-Encoding: \x0B"
         "chunked\r\n",
         400, "9110-5.5"},
        {"Transfer-Encoding\t: chunked\r\n", 400, "9112-5.1"},
    }));
    INFO(row.raw << " RFC " << row.section);
    CHECK(field_status(row.raw) == row.status);
}

TEST_CASE("white space before the first field line is refused", "[R119]") {
    CHECK(request_status("GET / HTTP/1.1\r\n Host: a\r\nHost: a\r\n\r\n") == 400);
    CHECK(request_status("GET / HTTP/1.1\r\n\r\n") == 400);  // and there is no Host at all
}

TEST_CASE("a head must end in its empty line and hold nothing behind it", "[R119]") {
    const std::string whole = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    REQUIRE(request_status(whole) == accepted);
    for (std::size_t length = 0; length < whole.size(); ++length) {
        INFO(length);
        CHECK(request_status(std::string_view(whole).substr(0, length)) == 400);
    }
    CHECK(request_status(whole + "x") == 400);
    CHECK(request_status("GET / HTTP/1.1\nHost: a\n\n") == 400);
    CHECK(request_status("GET / HTTP/1.1\r\nHost: a\r\n\n") == 400);
}

TEST_CASE("HTTP/1.1 needs exactly one Host and HTTP/1.0 at most one", "[R118]") {
    const auto row = GENERATE(values<Row>({
        {"GET / HTTP/1.1\r\nA: b\r\n\r\n", 400, "9112-3.2"},
        {"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, "9112-3.2"},
        {"GET / HTTP/1.1\r\nHost: a\r\nhOST: a\r\n\r\n", 400, "9112-3.2"},
        {"GET http://a/ HTTP/1.1\r\nX: y\r\n\r\n", 400, "9112-3.2"},
        {"OPTIONS * HTTP/1.1\r\nX: y\r\n\r\n", 400, "9112-3.2"},
        {"CONNECT a:1 HTTP/1.1\r\nX: y\r\n\r\n", 400, "9112-3.2"},
        {"GET / HTTP/1.0\r\nA: b\r\n\r\n", accepted, "9112-3.2"},
        {"GET / HTTP/1.0\r\nHost: a\r\n\r\n", accepted, "9112-3.2"},
        {"GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n", 400, "9112-3.2"},
        {"GET / HTTP/1.0\r\nHost: a b\r\n\r\n", 400, "9112-3.2"},
    }));
    INFO(row.raw << " RFC " << row.section);
    CHECK(request_status(row.raw) == row.status);
}

TEST_CASE("Host is a host with an optional port", "[R118]") {
    const auto row = GENERATE(values<Row>({
        {"example.com", accepted, "3986-3.2.2"},
        {"example.com.", accepted, "3986-3.2.2"},
        {"example.com:8080", accepted, "9110-7.2"},
        {"example.com:", accepted, "3986-3.2.3"},
        {"example.com:65535", accepted, "3986-3.2.3"},
        {"127.0.0.1", accepted, "3986-3.2.2"},
        {"[::1]", accepted, "3986-3.2.2"},
        {"[2001:db8::192.0.2.1]:80", accepted, "3986-3.2.2"},
        {"[1:2:3:4:5:6:7:8]", accepted, "3986-3.2.2"},
        {"[v1.fe80::a+en1]", accepted, "3986-3.2.2"},
        {"a_b.example", accepted, "3986-3.2.2"},
        {"%41.example", accepted, "3986-3.2.2"},
        {"", 400, "9110-4.2.1"},
        {":80", 400, "9110-4.2.1"},
        {"example.com:65536", 400, "3986-3.2.3"},
        {"example.com:99999999999999999999", 400, "3986-3.2.3"},
        {"example.com:80a", 400, "3986-3.2.3"},
        {"example.com:-1", 400, "3986-3.2.3"},
        {"a:1:2", 400, "3986-3.2.3"},
        {"user@example.com", 400, "9110-7.2"},
        {"a b", 400, "3986-3.2.2"},
        {"a, b", 400, "3986-3.2.2"},
        {"a/b", 400, "3986-3.2.2"},
        {"a?b", 400, "3986-3.2.2"},
        {"http://a", 400, "3986-3.2.2"},
        {"\"a\"", 400, "3986-3.2.2"},
        {"a%zz", 400, "3986-2.1"},
        {"a%2", 400, "3986-2.1"},
        {"caf\xC3\xA9", 400, "3986-3.2.2"},
        {"::1", 400, "3986-3.2.2"},
        {"[::1", 400, "3986-3.2.2"},
        {"::1]", 400, "3986-3.2.2"},
        {"[]", 400, "3986-3.2.2"},
        {"[::1]x", 400, "3986-3.2.2"},
        {"[1:2:3:4:5:6:7]", 400, "3986-3.2.2"},
        {"[1:2:3:4:5:6:7:8:9]", 400, "3986-3.2.2"},
        {"[1::2::3]", 400, "3986-3.2.2"},
        {"[:::1]", 400, "3986-3.2.2"},
        {"[12345::]", 400, "3986-3.2.2"},
        {"[::256.0.0.1]", 400, "3986-3.2.2"},
        {"[::1%25eth0]", 400, "9110-7.2"},
        {"[v.x]", 400, "3986-3.2.2"},
    }));
    INFO(row.raw << " RFC " << row.section);
    CHECK(host_status(row.raw) == row.status);
}

TEST_CASE("the authority of an absolute-form target wins over Host", "[R118]") {
    CHECK(effective_host(parsed("GET http://one.example:81/x HTTP/1.1\r\nHost: two.example\r\n\r\n")) ==
          "one.example:81");
    CHECK(effective_host(parsed("GET https://one.example?q HTTP/1.1\r\nHost: two.example\r\n\r\n")) == "one.example");
    CHECK(effective_host(parsed("GET /http://one.example/ HTTP/1.1\r\nHost: two.example\r\n\r\n")) == "two.example");
    CHECK(effective_host(parsed("OPTIONS * HTTP/1.1\r\nHost: two.example\r\n\r\n")) == "two.example");
    CHECK(effective_host(parsed("CONNECT one.example:443 HTTP/1.1\r\nHost: two.example\r\n\r\n")) == "one.example:443");
    CHECK(effective_host(parsed("GET / HTTP/1.0\r\n\r\n")).empty());
}

TEST_CASE("a target splits into path and query byte for byte", "[R126]") {
    struct Split {
        std::string_view target, path, query;
    };
    const auto row = GENERATE(values<Split>({
        {"/", "/", ""},
        {"/a/b?c=d", "/a/b", "?c=d"},
        {"/a?", "/a", "?"},
        {"/a?b?c", "/a", "?b?c"},
        {"//a/../%7e?x", "//a/../%7e", "?x"},
        {"http://h/p?q", "/p", "?q"},
        {"http://h", "/", ""},
        {"http://h?q", "/", "?q"},
        {"https://h:1/", "/", ""},
        {"/x?u=http://h/p", "/x", "?u=http://h/p"},
        {"*", "*", ""},
        {"example.com:443", "example.com:443", ""},
    }));
    INFO(row.target);
    const auto parts = split_target(row.target);
    CHECK(parts.path == row.path);
    CHECK(parts.query == row.query);
}

TEST_CASE("a response head gives status and reason and fields as received", "[R74][R120]") {
    const auto head = parse_response_head("HTTP/1.1 404 Not  Found, caf\xE9\r\nSet-Cookie: a\r\nset-cookie: b\r\n\r\n");
    REQUIRE(head.has_value());
    CHECK(head->version == HttpVersion::http11);
    CHECK(head->status == 404);
    CHECK(head->reason == "Not  Found, caf\xE9");
    CHECK(head->fields == Fields{{"Set-Cookie", "a"}, {"set-cookie", "b"}});
    CHECK(parse_response_head("HTTP/1.0 200 OK\r\n\r\n")->version == HttpVersion::http10);
    CHECK(parse_response_head("HTTP/1.1 200 \r\n\r\n")->reason.empty());
    CHECK(parse_response_head("HTTP/1.1 200\r\n\r\n")->reason.empty());
}

TEST_CASE("a malformed response head is a fault of the upstream", "[R120]") {
    const auto row = GENERATE(values<Row>({
        {"HTTP/1.1 599 \r\n\r\n", accepted, "9112-4"},
        {"HTTP/1.1 100 Continue\r\n\r\n", accepted, "9112-4"},
        {"HTTP/1.1 200 OK\r\nA : b\r\n\r\n", 502, "9112-5.1"},
        {"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", 502, "9112-5.2"},
        {"HTTP/1.1 200 OK\r\nA: b\nC: d\r\n\r\n", 502, "9112-2.2"},
        {"HTTP/1.1 200 OK\r\nA: "s + '\0' + "\r\n\r\n", 502, "9110-5.5"},
        {"HTTP/1.1 200 OK\r\n", 502, "9112-2.1"},
        {"HTTP/1.1 200 OK\n\n", 502, "9112-2.2"},
        {"HTTP/1.1 200 O\x01K\r\n\r\n", 502, "9112-4"},
        {"HTTP/1.1 200OK\r\n\r\n", 502, "9112-4"},
        {"HTTP/1.1 2000 OK\r\n\r\n", 502, "9112-4"},
        {"HTTP/1.1 20 OK\r\n\r\n", 502, "9112-4"},
        {"HTTP/1.1 099 OK\r\n\r\n", 502, "9110-15"},
        {"HTTP/1.1 600 OK\r\n\r\n", 502, "9110-15"},
        {"HTTP/1.1 -20 OK\r\n\r\n", 502, "9112-4"},
        {"HTTP/1.1  200 OK\r\n\r\n", 502, "9112-4"},
        {"HTTP/1.1\r\n\r\n", 502, "9112-4"},
        {"HTTP/1.1 \r\n\r\n", 502, "9112-4"},
        {"HTTP/2.0 200 OK\r\n\r\n", 502, "9112-2.3"},
        {"HTTP/1.1x 200 OK\r\n\r\n", 502, "9112-2.3"},
        {"ICY 200 OK\r\n\r\n", 502, "9112-4"},
        {"<html>\r\n\r\n", 502, "9112-4"},
        {"\r\n\r\n", 502, "9112-4"},
        {"", 502, "9112-4"},
    }));
    INFO(row.raw << " RFC " << row.section);
    CHECK(response_status(row.raw) == row.status);
}

TEST_CASE("a fault's text never holds what was sent", "[R101]") {
    for (const auto* raw :
         {"GET /zz9secret\x01 HTTP/1.1\r\n\r\n", "zz9secret(\r\n\r\n", "GET / HTTP/1.1\r\nzz9secret : a\r\n\r\n",
          "GET / HTTP/1.1\r\nHost: zz9secret zz9secret\r\n\r\n"}) {
        const auto head = parse_request_head(raw);
        REQUIRE(!head.has_value());
        CHECK(head.error().detail.find("zz9secret") == std::string::npos);
    }
}

TEST_CASE("any single byte put anywhere in a head is either refused or kept", "[R119]") {
    const std::string whole = "POST /p HTTP/1.1\r\nHost: a\r\nX-Y: z\r\n\r\n";
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (int byte = 0; byte < 256; ++byte) {
            auto raw = whole;
            raw.insert(at, 1, static_cast<char>(byte));
            const auto head = parse_request_head(raw);
            if (!head.has_value()) continue;
            // What is accepted holds every byte that was sent, white space around values apart.
            std::size_t kept = head->method.size() + head->target.size();
            for (const auto field : head->fields) kept += field.name.size() + field.value.size();
            const bool white = byte == ' ' || byte == '\t';
            INFO("byte " << byte << " at " << at);
            const std::size_t original = 4 + 2 + 4 + 1 + 3 + 1;
            CHECK((kept > original || (white && kept == original)));
        }
    }
}
