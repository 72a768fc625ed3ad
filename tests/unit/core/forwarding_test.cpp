// What an intermediary takes away and adds (RFC 9110 §7.6, RFC 7239, contract "Replay" and "To the upstream").

#include "core/forwarding.hpp"

#include <catch2/catch.hpp>

using namespace oncegate::core;

namespace {

constexpr std::string_view us = "oncegate-3f9a1c";
const Peer peer{"192.0.2.7", "http"};

RequestHead request(Fields fields, std::string_view target = "/p?q", std::string_view method = "POST") {
    RequestHead head;
    head.method = method;
    head.target = target;
    head.fields = std::move(fields);
    return head;
}

Fields sent(Fields fields, const Peer& from = peer) {
    return for_upstream(request(std::move(fields)), from, us).fields;
}

ResponseHead response(Fields fields) {
    ResponseHead head;
    head.status = 201;
    head.reason = "Made";
    head.fields = std::move(fields);
    return head;
}

constexpr std::string_view now = "Mon, 30 Nov 2026 18:00:00 GMT";
constexpr std::string_view then = "Mon, 30 Nov 2026 12:00:00 GMT";

Fields delivered(Fields fields) { return for_client(response(std::move(fields)), now).fields; }

}  // namespace

TEST_CASE("Connection cannot take away what is meant for every recipient", "[R121]") {
    const auto fields = sent(Fields{
        {"Host", "a"},
        {"Connection", "Host, Via, Forwarded, X-Forwarded-For, X-Forwarded-Proto, X-Forwarded-Host, Cache-Control"},
        {"X-Forwarded-For", "198.51.100.1"},
        {"Cache-Control", "no-transform"}});
    CHECK(fields.find("Host") == "a");
    CHECK(fields.find("X-Forwarded-For") == "198.51.100.1, 192.0.2.7");
    CHECK(fields.find("Cache-Control") == "no-transform");
}

TEST_CASE("a forwarded request keeps end-to-end fields in order and loses the others", "[R75][R121][R133][R150]") {
    const auto fields = sent(Fields{{"host", "api.example.com"},
                                    {"Connection", "keep-alive, X-Foo"},
                                    {"X-Foo", "1"},
                                    {"Keep-Alive", "timeout=5"},
                                    {"Authorization", "Bearer t"},
                                    {"TE", "trailers"},
                                    {"Idempotency-Key", "\"k\";p=1"},
                                    {"Transfer-Encoding", "chunked"},
                                    {"Upgrade", "websocket"},
                                    {"Expect", "100-continue"},
                                    {"Proxy-Authorization", "Basic x"},
                                    {"X-Repeat", "1"},
                                    {"content-TYPE", "application/json"},
                                    {"x-repeat", "2"},
                                    {"CDN-Loop", "other"}});
    const Fields kept{
        {"host", "api.example.com"}, {"Authorization", "Bearer t"},        {"Idempotency-Key", "\"k\";p=1"},
        {"X-Repeat", "1"},           {"content-TYPE", "application/json"}, {"x-repeat", "2"},
        {"CDN-Loop", "other"}};
    REQUIRE(fields.size() >= kept.size());
    for (std::size_t i = 0; i < kept.size(); ++i) CHECK(fields[i] == kept[i]);
    CHECK(!fields.contains("Content-Length"));
    CHECK(!sent(Fields{{"Host", "a"}, {"Content-Length", "5"}}).contains("Content-Length"));
}

TEST_CASE("fields that only the proxy may send are taken from a client", "[R121]") {
    const auto fields = sent(Fields{{"Host", "a"},
                                    {"Idempotency-Attempt", "9"},
                                    {"idempotency-token", "forged"},
                                    {"Idempotency-Recovery-Point", "paid"},
                                    {"Idempotency-Key", "k"}});
    CHECK(!fields.contains("Idempotency-Attempt"));
    CHECK(!fields.contains("Idempotency-Token"));
    CHECK(!fields.contains("Idempotency-Recovery-Point"));
    CHECK(fields.find("Idempotency-Key") == "k");
}

TEST_CASE("method and target go upstream byte for byte", "[R126]") {
    const auto head = for_upstream(request(Fields{{"Host", "a"}}, "/a/%7Eb/../c//d?x=%20&y", "PATCH"), peer, us);
    CHECK(head.method == "PATCH");
    CHECK(head.target == "/a/%7Eb/../c//d?x=%20&y");
}

TEST_CASE("an absolute-form target becomes origin-form and its authority replaces Host", "[R118]") {
    const auto head = for_upstream(
        request(Fields{{"A", "b"}, {"hOst", "two.example"}, {"C", "d"}}, "http://one.example:81/x//y?z"), peer, us);
    CHECK(head.target == "/x//y?z");
    CHECK(head.fields[1] == FieldView{"hOst", "one.example:81"});
    CHECK(head.fields.find("X-Forwarded-Host") == "one.example:81");
    CHECK(for_upstream(request(Fields{{"Host", "a"}}, "http://one.example"), peer, us).target == "/");
    CHECK(for_upstream(request(Fields{{"Host", "a"}}, "http://one.example?q"), peer, us).target == "/?q");
    CHECK(for_upstream(request(Fields{{"Host", "a"}}, "http://one.example", "OPTIONS"), peer, us).target == "*");
    CHECK(for_upstream(request(Fields{{"Host", "a"}}, "http://one.example/", "OPTIONS"), peer, us).target == "/");
    CHECK(for_upstream(request(Fields{{"Host", "a"}}, "*", "OPTIONS"), peer, us).target == "*");
}

TEST_CASE("Via gets the protocol that was received and our name as its last element", "[R122]") {
    CHECK(sent(Fields{{"Host", "a"}}).find("Via") == "1.1 oncegate-3f9a1c");
    CHECK(sent(Fields{{"Host", "a"}, {"Via", "1.0 fred"}}).combined("Via") == "1.0 fred, 1.1 oncegate-3f9a1c");
    auto old = request(Fields{{"Host", "a"}});
    old.version = HttpVersion::http10;
    CHECK(for_upstream(old, peer, us).fields.find("Via") == "1.0 oncegate-3f9a1c");
    CHECK(for_upstream(old, peer, us).version == HttpVersion::http11);
}

TEST_CASE("a request that already carries our name is running in a circle", "[R122]") {
    const auto carries = [](std::string_view via) { return loops(Fields{{"Via", via}}, us); };
    CHECK(carries("1.1 oncegate-3f9a1c"));
    CHECK(carries("1.0 fred, HTTP/1.1 OnceGate-3F9A1C (a comment)"));
    CHECK(carries("1.0 fred (a, b), 1.1 oncegate-3f9a1c"));
    CHECK(carries("1.0 fred (a (nested, \\) ,) b),1.1\toncegate-3f9a1c"));
    CHECK(loops(Fields{{"Via", "1.1 a"}, {"via", "1.1 oncegate-3f9a1c"}}, us));
    CHECK(!carries("1.1 oncegate-3f9a1d"));
    CHECK(!carries("1.1 oncegate-3f9a1c0"));
    CHECK(!carries("1.1 fred (1.1 oncegate-3f9a1c)"));
    CHECK(!carries("1.1 fred (x, 1.1 oncegate-3f9a1c)"));
    CHECK(!carries("oncegate-3f9a1c"));
    CHECK(!carries(""));
    CHECK(!carries(",,"));
    CHECK(!loops(Fields{{"X-Via", "1.1 oncegate-3f9a1c"}}, us));
}

TEST_CASE("the client and what it asked for are added as X-Forwarded fields", "[R134]") {
    const auto fields = sent(Fields{{"Host", "api.example.com:8080"}}, Peer{"192.0.2.7", "https"});
    CHECK(fields.find("X-Forwarded-For") == "192.0.2.7");
    CHECK(fields.find("X-Forwarded-Proto") == "https");
    CHECK(fields.find("X-Forwarded-Host") == "api.example.com:8080");
}

TEST_CASE("the list of addresses grows at its end, and nobody else says how the request came here", "[R134]") {
    const auto fields = sent(Fields{{"Host", "inner"},
                                    {"x-forwarded-for", "198.51.100.1"},
                                    {"X-Forwarded-For", "198.51.100.2"},
                                    {"X-Forwarded-Proto", "https"},
                                    {"X-Forwarded-Host", "outer"}});
    CHECK(fields.count("X-Forwarded-For") == 1);
    CHECK(fields.find("X-Forwarded-For") == "198.51.100.1, 198.51.100.2, 192.0.2.7");
    CHECK(fields.combined("X-Forwarded-Proto") == "http");  // the word of a stranger does not count
    CHECK(fields.combined("X-Forwarded-Host") == "inner");
}

TEST_CASE("the word of a trusted proxy on scheme and host stays when it is well formed", "[R134]") {
    struct Row {
        std::string_view proto;
        std::string_view host;
        std::string_view proto_sent;
        std::string_view host_sent;
    };
    const auto row = GENERATE(values<Row>({
        {"https", "outer", "https", "outer"},
        {"https, http", "outer:8443, inner", "https, http", "outer:8443, inner"},
        {"HTTP", "[2001:db8::1]", "HTTP", "[2001:db8::1]"},
        {"wss", "outer", "http", "outer"},
        {"", "", "http", "inner"},
        {",https", "a b", "http", "inner"},
        {"https", "user@outer", "https", "inner"},
    }));
    const Fields received{{"Host", "inner"}, {"X-Forwarded-Proto", row.proto}, {"X-Forwarded-Host", row.host}};
    const auto fields = sent(received, Peer{"10.0.0.1", "http", Peer::Trust::trusted});
    CHECK(fields.combined("X-Forwarded-Proto") == row.proto_sent);
    CHECK(fields.combined("X-Forwarded-Host") == row.host_sent);
    CHECK(fields.find("X-Forwarded-For") == "10.0.0.1");
    const auto unsaid = sent(Fields{{"Host", "inner"}}, Peer{"10.0.0.1", "https", Peer::Trust::trusted});
    CHECK(unsaid.find("X-Forwarded-Proto") == "https");
    CHECK(unsaid.find("X-Forwarded-Host") == "inner");
}

TEST_CASE("a peer without an address is unknown and hides nobody before it", "[R134]") {
    CHECK(sent(Fields{{"Host", "a"}, {"X-Forwarded-For", "198.51.100.1"}}, Peer{}).find("X-Forwarded-For") ==
          "198.51.100.1, unknown");
    CHECK(sent(Fields{{"Host", "a"}, {"X-Forwarded-For", ""}}).find("X-Forwarded-For") == "192.0.2.7");
}

TEST_CASE("Host goes upstream as sent or by the route's name or is left to the writer") {
    const auto received = request(Fields{{"A", "b"}, {"host", "api.example.com"}, {"C", "d"}});
    const auto host_of = [&](std::optional<std::string_view> host) {
        return for_upstream(received, peer, us, {host, Upgrade::drop}).fields;
    };
    CHECK(host_of(std::nullopt)[1] == FieldView{"host", "api.example.com"});
    CHECK(host_of("internal:9000")[1] == FieldView{"host", "internal:9000"});
    CHECK(host_of("internal:9000").count("Host") == 1);
    CHECK(host_of("internal:9000").find("X-Forwarded-Host") == "api.example.com");
    CHECK(host_of("internal:9000").find("Forwarded") == "for=192.0.2.7;host=api.example.com;proto=http");
    CHECK_FALSE(host_of("").contains("Host"));
    CHECK(host_of("").find("X-Forwarded-Host") == "api.example.com");
    CHECK(for_upstream(request(Fields{}), peer, us, {"internal", Upgrade::drop}).fields.find("Host") == "internal");
    CHECK_FALSE(for_upstream(request(Fields{}), peer, us, {"", Upgrade::drop}).fields.contains("Host"));
}

TEST_CASE("Forwarded gets one element at its end", "[R134]") {
    struct Row {
        Peer from;
        std::string_view host;
        std::string_view element;
    };
    const auto row = GENERATE(values<Row>({
        {{"192.0.2.7", "http"}, "example.com", "for=192.0.2.7;host=example.com;proto=http"},
        {{"2001:db8::1", "https"}, "example.com", "for=\"[2001:db8::1]\";host=example.com;proto=https"},
        {{"192.0.2.7", "http"}, "example.com:8080", "for=192.0.2.7;host=\"example.com:8080\";proto=http"},
        {{"192.0.2.7", "http"}, "[::1]", "for=192.0.2.7;host=\"[::1]\";proto=http"},
        {{"", "http"}, "example.com", "for=unknown;host=example.com;proto=http"},
    }));
    CHECK(sent(Fields{{"Host", row.host}}, row.from).find("Forwarded") == row.element);
    CHECK(sent(Fields{{"Forwarded", "for=\"_a,b\""}, {"Host", row.host}, {"forwarded", "for=x"}}, row.from)
              .combined("Forwarded") == "for=\"_a,b\", for=x, " + std::string(row.element));
}

TEST_CASE("an HTTP/1.0 request without Host is forwarded without naming one", "[R134]") {
    const auto fields = sent(Fields{{"A", "b"}});
    CHECK(!fields.contains("X-Forwarded-Host"));
    CHECK(fields.find("Forwarded") == "for=192.0.2.7;proto=http");
}

TEST_CASE("Max-Forwards of OPTIONS and TRACE is one less and otherwise untouched", "[R125]") {
    const auto hops = [](std::string_view method, std::string_view value) {
        return std::string(*for_upstream(request(Fields{{"Host", "a"}, {"Max-Forwards", value}}, "/", method), peer, us)
                                .fields.find("Max-Forwards"));
    };
    CHECK(hops("OPTIONS", "3") == "2");
    CHECK(hops("TRACE", "1") == "0");
    CHECK(hops("TRACE", "x") == "x");
    CHECK(hops("TRACE", "0") == "0");
    CHECK(hops("TRACE", "99999999999999") == "999999999");  // the most that is supported
    CHECK(hops("POST", "3") == "3");
}

TEST_CASE("a first delivery keeps the end-to-end fields in order and nothing of the proxy's own", "[R74][R75][R81]") {
    const auto head = for_client(response(Fields{{"Set-Cookie", "a=1"},
                                                 {"Connection", "close, X-Hop"},
                                                 {"X-Hop", "1"},
                                                 {"content-TYPE", "text/plain"},
                                                 {"Date", then},
                                                 {"Content-Length", "5"},
                                                 {"Transfer-Encoding", "chunked"},
                                                 {"Keep-Alive", "timeout=5"},
                                                 {"Idempotency-Outcome", "free"},
                                                 {"Idempotent-Replayed", "true"},
                                                 {"x-should-retry", "true"},
                                                 {"set-cookie", "b=\xE9"},
                                                 {"Trailer", "X"},
                                                 {"X-Empty", ""}}),
                                 now);
    CHECK(head.status == 201);
    CHECK(head.reason == "Made");
    CHECK(head.fields == Fields{{"Set-Cookie", "a=1"},
                                {"content-TYPE", "text/plain"},
                                {"Date", then},
                                {"Idempotent-Replayed", "true"},
                                {"x-should-retry", "true"},
                                {"set-cookie", "b=\xE9"},
                                {"X-Empty", ""}});
}

TEST_CASE("a response without Date gets one at first delivery", "[R79]") {
    CHECK(delivered(Fields{{"A", "b"}}) == Fields{{"A", "b"}, {"Date", now}});
    CHECK(delivered(Fields{{"date", then}}) == Fields{{"date", then}});
    CHECK(delivered(Fields{{"Connection", "Date"}, {"Date", then}}) == Fields{{"Date", now}});
}

TEST_CASE("a replay is what was stored and the marker", "[R74][R79][R80][R81][R82]") {
    const Fields stored{{"Set-Cookie", "a=1"}, {"Date", then},  {"content-TYPE", "x"},
                        {"set-cookie", "b=2"}, {"Link", "<a>"}, {"link", "<b>"}};
    CHECK(for_replay(stored, ReplayRule{}, now) == Fields{{"Set-Cookie", "a=1"},
                                                          {"Date", then},
                                                          {"content-TYPE", "x"},
                                                          {"set-cookie", "b=2"},
                                                          {"Link", "<a>"},
                                                          {"link", "<b>"},
                                                          {"Idempotent-Replayed", "true"}});
}

TEST_CASE("a replay carries exactly one marker as the policy names it", "[R81]") {
    const Fields stored{{"idempotent-replayed", "false"}, {"A", "b"}, {"Idempotent-Replayed", "true"}};
    CHECK(for_replay(stored, ReplayRule{}, now) == Fields{{"A", "b"}, {"Idempotent-Replayed", "true"}});
    ReplayRule named;
    named.marker = "X-Replayed";
    CHECK(for_replay(Fields{{"A", "b"}}, named, now) == Fields{{"A", "b"}, {"X-Replayed", "true"}});
    ReplayRule without;
    without.marker.clear();
    CHECK(for_replay(Fields{{"A", "b"}}, without, now) == Fields{{"A", "b"}});
}

TEST_CASE("with a date of now a replay carries one Date where the first one stood", "[R80]") {
    ReplayRule rule;
    rule.date = ReplayRule::Date::now;
    rule.marker.clear();
    CHECK(for_replay(Fields{{"A", "b"}, {"date", then}, {"C", "d"}, {"Date", then}}, rule, now) ==
          Fields{{"A", "b"}, {"date", now}, {"C", "d"}});
    CHECK(for_replay(Fields{{"A", "b"}}, rule, now) == Fields{{"A", "b"}, {"Date", now}});
}

TEST_CASE("a replay leaves out what the policy excludes", "[R82]") {
    ReplayRule rule;
    rule.marker.clear();
    rule.exclude_headers = {"Set-Cookie", "x-trace"};
    CHECK(for_replay(Fields{{"set-COOKIE", "a"}, {"A", "b"}, {"X-Trace", "1"}, {"Set-Cookie", "c"}}, rule, now) ==
          Fields{{"A", "b"}});
}

TEST_CASE("a replay does not ask for a retry", "[R146]") {
    ReplayRule rule;
    rule.marker.clear();
    CHECK(for_replay(Fields{{"X-Should-Retry", "true"}, {"stripe-should-retry", "True"}}, rule, now) ==
          Fields{{"X-Should-Retry", "false"}, {"stripe-should-retry", "false"}});
    CHECK(for_replay(Fields{{"x-should-retry", "false"}, {"X-Other", "true"}}, rule, now) ==
          Fields{{"x-should-retry", "false"}, {"X-Other", "true"}});
}

TEST_CASE("an HTTP date is an IMF-fixdate", "[R79]") {
    CHECK(http_date(784111777) == "Sun, 06 Nov 1994 08:49:37 GMT");  // the example of RFC 9110 section 5.6.7
    CHECK(http_date(0) == "Thu, 01 Jan 1970 00:00:00 GMT");
    CHECK(http_date(951782400) == "Tue, 29 Feb 2000 00:00:00 GMT");
    CHECK(http_date(4102444799) == "Thu, 31 Dec 2099 23:59:59 GMT");
    CHECK(http_date(-1) == "Wed, 31 Dec 1969 23:59:59 GMT");
}

TEST_CASE("trailers cannot carry what a recipient acts on before the body", "[R78][R121]") {
    const Fields received{
        {"X-Checksum", "1"},           {"Idempotency-Attempt", "3"},   {"idempotency-outcome", "free"},
        {"Connection", "close"},       {"X-Forwarded-For", "1.1.1.1"}, {"Authorization", "x"},
        {"Transfer-Encoding", "gzip"}, {"Server-Timing", "a"}};
    CHECK(forwarded_trailers(received) == Fields{{"X-Checksum", "1"}, {"Server-Timing", "a"}});
}

TEST_CASE("trailers cannot carry what RFC 9110 section 6.5.1 keeps to the header section", "[R78]") {
    for (const auto* name : {"Content-Length",
                             "Content-Type",
                             "Content-Encoding",
                             "Content-Range",
                             "Cache-Control",
                             "Age",
                             "Expires",
                             "Date",
                             "Location",
                             "Retry-After",
                             "Vary",
                             "Warning",
                             "WWW-Authenticate",
                             "Proxy-Authenticate",
                             "TE",
                             "Trailer",
                             "Host",
                             "Range",
                             "If-Match",
                             "If-None-Match",
                             "If-Modified-Since",
                             "If-Unmodified-Since",
                             "If-Range",
                             "Max-Forwards",
                             "Set-Cookie",
                             "Expect",
                             "Connection"}) {
        INFO(name);
        CHECK(forwarded_trailers(Fields{{name, "x"}, {"Server-Timing", "a"}}) == Fields{{"Server-Timing", "a"}});
    }
}

TEST_CASE("a trailer that Connection names goes no further", "[R121]") {
    const Fields head{{"Connection", "close, x-checksum"}};
    CHECK(forwarded_trailers(Fields{{"X-Checksum", "1"}, {"Server-Timing", "a"}}, head) ==
          Fields{{"Server-Timing", "a"}});
}

TEST_CASE("naming the key in Connection does not take it from the upstream", "[R121]") {
    RequestHead received;
    received.method = "POST";
    received.target = "/";
    received.fields = {
        {"Host", "a"}, {"Connection", "Idempotency-Key, X-Hop"}, {"Idempotency-Key", "k"}, {"X-Hop", "1"}};
    const auto head = for_upstream(received, Peer{"127.0.0.1", "http"}, "p");
    CHECK(head.fields.find("Idempotency-Key") == "k");
    CHECK_FALSE(head.fields.contains("X-Hop"));
}

TEST_CASE("a Forwarded that cannot be read does not swallow our own element", "[R134]") {
    const auto last = [](std::string_view received) {
        return std::string(*sent(Fields{{"Host", "a"}, {"Forwarded", received}}).find("Forwarded"));
    };
    CHECK(last("for=9.9.9.9;by=\"") == last(""));
    CHECK(last("for=9.9.9.9").starts_with("for=9.9.9.9, for="));
}

TEST_CASE("an unclosed comment in Via hides nobody", "[R122]") {
    CHECK(loops(Fields{{"Via", "1.1 x (, 1.1 oncegate-3f9a1c"}}, us));
    CHECK(!loops(Fields{{"Via", "1.1 x (1.1 oncegate-3f9a1c, really)"}}, us));
}
