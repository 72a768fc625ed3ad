// Where messages end (RFC 9112 §6, §9.3): each row holds the field lines and the section that decides it (R114-R117,
// R120).

#include "core/framing.hpp"

#include <catch2/catch.hpp>

using namespace oncegate::core;

namespace {

constexpr Framing none{};
constexpr Framing chunked{Framing::Kind::chunked, 0};
constexpr Framing until_close{Framing::Kind::until_close, 0};
constexpr Framing length(std::uint64_t bytes) { return {Framing::Kind::length, bytes}; }

HeadResult<Framing> of_request(Fields fields, HttpVersion version = HttpVersion::http11) {
    RequestHead head;
    head.method = "POST";
    head.target = "/";
    head.version = version;
    head.fields = std::move(fields);
    return request_framing(head);
}

HeadResult<Framing> of_response(std::string_view method, int status, Fields fields,
                                HttpVersion version = HttpVersion::http11) {
    ResponseHead head;
    head.status = status;
    head.version = version;
    head.fields = std::move(fields);
    return response_framing(method, head);
}

Fields lengths(std::string_view value) { return Fields{{"Content-Length", value}}; }
Fields codings(std::string_view value) { return Fields{{"Transfer-Encoding", value}}; }

}  // namespace

TEST_CASE("a request without framing fields has no body", "[R136]") {
    CHECK(*of_request(Fields{{"Host", "a"}}) == none);
    CHECK(*of_request(Fields{{"Host", "a"}}, HttpVersion::http10) == none);
}

TEST_CASE("a request's Content-Length is one line of digits", "[R115]") {
    CHECK(*of_request(lengths("0")) == length(0));
    CHECK(*of_request(lengths("5")) == length(5));
    CHECK(*of_request(lengths("0005")) == length(5));
    CHECK(*of_request(lengths("9223372036854775807")) == length(9223372036854775807ULL));
    CHECK(*of_request(Fields{{"content-LENGTH", "7"}}) == length(7));
    CHECK(*of_request(lengths("5"), HttpVersion::http10) == length(5));

    const auto value = GENERATE(values<std::string_view>({"",
                                                          "5, 6",
                                                          "5, 5",
                                                          "5,5",
                                                          "5,",
                                                          ",5",
                                                          "+5",
                                                          "-1",
                                                          "0x5",
                                                          "5 ",
                                                          " 5",
                                                          "5 5",
                                                          "5.0",
                                                          "5e1",
                                                          "five",
                                                          "\"5\"",
                                                          "5;a",
                                                          "9223372036854775808",
                                                          "18446744073709551615",
                                                          "18446744073709551616",
                                                          "99999999999999999999999"}));
    INFO(value << " RFC 9112 section 6.3, RFC 9110 section 8.6");
    const auto framing = of_request(lengths(value));
    REQUIRE(!framing.has_value());
    CHECK(framing.error().status == 400);
}

TEST_CASE("two Content-Length lines are refused even when alike", "[R115]") {
    CHECK(of_request(Fields{{"Content-Length", "5"}, {"Content-Length", "6"}}).error().status == 400);
    CHECK(of_request(Fields{{"Content-Length", "5"}, {"content-length", "5"}}).error().status == 400);
}

TEST_CASE("a request's Transfer-Encoding is exactly one chunked", "[R116]") {
    struct Row {
        std::string_view value;
        int status;  // 0: accepted
        std::string_view section;
    };
    const auto row = GENERATE(values<Row>({
        {"chunked", 0, "9112-7.1"},
        {"Chunked", 0, "9112-7"},
        {"CHUNKED", 0, "9112-7"},
        {"", 400, "9112-6.3"},
        {"gzip", 400, "9112-6.3"},
        {"chunked, gzip", 400, "9112-6.3"},
        {"identity", 400, "9112-6.3"},
        {"xchunked", 400, "9112-6.3"},
        {"chunkedx", 400, "9112-6.3"},
        {"chun\tked", 400, "9112-6.3"},
        {"chunked chunked", 400, "9112-6.3"},
        {"chunked, chunked", 400, "9112-6.1"},
        {"chunked,", 400, "9112-6.3"},
        {", chunked", 400, "9112-6.3"},
        {"chunked, , chunked", 400, "9112-6.3"},
        {"chunked;q=1", 400, "9112-7.1"},
        {"\"chunked\"", 400, "9112-7"},
        {"chunked, gzip, chunked", 400, "9112-6.1"},
        {"gzip, chunked", 501, "9112-6.1"},
        {"identity, chunked", 501, "9112-6.1"},
        {"foo;a=b, chunked", 400, "9112-6.1"},
    }));
    INFO(row.value << " RFC " << row.section);
    const auto framing = of_request(codings(row.value));
    if (row.status == 0) {
        REQUIRE(framing.has_value());
        CHECK(*framing == chunked);
    } else {
        REQUIRE(!framing.has_value());
        CHECK(framing.error().status == row.status);
    }
}

TEST_CASE("the Transfer-Encoding of several lines is one list", "[R116]") {
    CHECK(of_request(Fields{{"Transfer-Encoding", "chunked"}, {"X", "y"}, {"transfer-encoding", "chunked"}})
              .error()
              .status == 400);
    CHECK(of_request(Fields{{"Transfer-Encoding", "gzip"}, {"Transfer-Encoding", "chunked"}}).error().status == 501);
    CHECK(of_request(Fields{{"Transfer-Encoding", "chunked"}, {"Transfer-Encoding", "identity"}}).error().status ==
          400);
    CHECK(of_request(Fields{{"Transfer-Encoding", "chunked"}, {"Transfer-Encoding", ""}}).error().status == 400);
}

TEST_CASE("Transfer-Encoding beside Content-Length is refused in either order", "[R114]") {
    CHECK(of_request(Fields{{"Transfer-Encoding", "chunked"}, {"Content-Length", "5"}}).error().status == 400);
    CHECK(of_request(Fields{{"Content-Length", "5"}, {"Transfer-Encoding", "chunked"}}).error().status == 400);
    CHECK(of_request(Fields{{"Content-Length", "0"}, {"Transfer-Encoding", ""}}).error().status == 400);
}

TEST_CASE("Transfer-Encoding in an HTTP/1.0 request is refused", "[R116]") {
    CHECK(of_request(codings("chunked"), HttpVersion::http10).error().status == 400);
}

TEST_CASE("a response to HEAD or with status 1xx or 204 or 304 has no body whatever it declares", "[R76]") {
    const auto fields = GENERATE(
        values<Fields>({Fields{}, Fields{{"Content-Length", "10"}}, Fields{{"Transfer-Encoding", "chunked"}}}));
    CHECK(*of_response("HEAD", 200, fields) == none);
    CHECK(*of_response("HEAD", 500, fields) == none);
    for (const int status : {100, 101, 102, 103, 199, 204, 304}) {
        INFO(status);
        CHECK(*of_response("POST", status, fields) == none);
    }
}

TEST_CASE("any other response is chunked or of a length or ends with the connection", "[R76]") {
    CHECK(*of_response("POST", 200, codings("chunked")) == chunked);
    CHECK(*of_response("POST", 200, lengths("12")) == length(12));
    CHECK(*of_response("POST", 200, lengths("0")) == length(0));
    CHECK(*of_response("POST", 200, Fields{}) == until_close);
    CHECK(*of_response("GET", 404, Fields{}, HttpVersion::http10) == until_close);
    CHECK(*of_response("head", 200, lengths("12")) == length(12));  // methods are case-sensitive
}

TEST_CASE("a response whose framing can be read in two ways is the upstream's fault", "[R120]") {
    const auto fields = GENERATE(values<Fields>({
        Fields{{"Content-Length", "5"}, {"Content-Length", "6"}},
        Fields{{"Content-Length", "5"}, {"Content-Length", "5"}},
        Fields{{"Content-Length", "5, 6"}},
        Fields{{"Content-Length", "-1"}},
        Fields{{"Content-Length", ""}},
        Fields{{"Transfer-Encoding", "chunked"}, {"Content-Length", "5"}},
        Fields{{"Transfer-Encoding", "gzip"}},
        Fields{{"Transfer-Encoding", "gzip, chunked"}},
        Fields{{"Transfer-Encoding", "chunked, chunked"}},
        Fields{{"Transfer-Encoding", ""}},
    }));
    const auto framing = of_response("POST", 200, fields);
    REQUIRE(!framing.has_value());
    CHECK(framing.error().status == 502);
    CHECK(of_response("POST", 200, codings("chunked"), HttpVersion::http10).error().status == 502);
}

TEST_CASE("a connection persists by version and Connection", "[R127]") {
    struct Row {
        HttpVersion version;
        Fields fields;
        bool keeps;
    };
    const auto row = GENERATE(values<Row>({
        {HttpVersion::http11, Fields{}, true},
        {HttpVersion::http11, Fields{{"Connection", "close"}}, false},
        {HttpVersion::http11, Fields{{"connection", "CLOSE"}}, false},
        {HttpVersion::http11, Fields{{"Connection", "keep-alive"}}, true},
        {HttpVersion::http11, Fields{{"Connection", "keep-alive, close"}}, false},
        {HttpVersion::http11, Fields{{"Connection", "X-Foo ,\tclose"}}, false},
        {HttpVersion::http11, Fields{{"Connection", "X-Foo"}, {"Connection", "close"}}, false},
        {HttpVersion::http11, Fields{{"Connection", "closed"}}, true},
        {HttpVersion::http11, Fields{{"Connection", ""}}, true},
        {HttpVersion::http10, Fields{}, false},
        {HttpVersion::http10, Fields{{"Connection", "Keep-Alive"}}, true},
        {HttpVersion::http10, Fields{{"Connection", "keep-alive, close"}}, false},
        {HttpVersion::http10, Fields{{"Keep-Alive", "timeout=5"}}, false},
    }));
    INFO(row.fields.combined("Connection").value_or("(none)"));
    CHECK(keeps_alive(row.version, row.fields) == row.keeps);
}
