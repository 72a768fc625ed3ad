// Who the client is behind proxies (RFC 7239, `trusted_proxies`), and by its certificate.

#include "core/client_address.hpp"

#include <catch2/catch.hpp>
#include <random>

using namespace oncegate::core;

namespace {

const std::vector<Network> trusted{*Network::parse("10.0.0.0/8"), *Network::parse("fd00::/8")};

Peer peer_at(std::string_view address, std::string_view scheme = "http") {
    return {address, scheme, is_among(address, trusted) ? Peer::Trust::trusted : Peer::Trust::none};
}

std::string address(const Fields& fields, std::string_view peer = "10.0.0.1") {
    return client_address(peer_at(peer), fields, trusted);
}

std::string scheme(const Fields& fields, std::string_view peer = "10.0.0.1", std::string_view own = "http") {
    return std::string(client_scheme(peer_at(peer, own), fields, trusted));
}

}  // namespace

TEST_CASE("a peer that is not trusted is the client whatever it says", "[R134]") {
    CHECK(address({{"X-Forwarded-For", "198.51.100.1"}, {"Forwarded", "for=198.51.100.2"}}, "192.0.2.7") ==
          "192.0.2.7");
    CHECK(address({}, "192.0.2.7") == "192.0.2.7");
    CHECK(address({{"X-Forwarded-For", "198.51.100.1"}}, "") == "");
}

TEST_CASE("X-Forwarded-For is believed from its right end as far as trust reaches", "[R134]") {
    struct Row {
        std::string_view list;
        std::string_view client;
    };
    const auto row = GENERATE(values<Row>({
        {"198.51.100.1", "198.51.100.1"},
        {"203.0.113.9, 198.51.100.1", "198.51.100.1"},            // what is left of it the client made up
        {"203.0.113.9, 198.51.100.1, 10.0.0.2", "198.51.100.1"},  // one more proxy of ours
        {"198.51.100.1,10.0.0.2 ,\t10.0.0.3", "198.51.100.1"},
        {"10.0.0.9, 10.0.0.2", "10.0.0.9"},  // all ours: the one farthest away
        {"2001:db8::1, fd00::2", "2001:db8::1"},
        {"2001:DB8:0::1", "2001:db8::1"},  // one spelling
        {"[2001:db8::1]:4711", "2001:db8::1"},
        {"[2001:db8::1]", "2001:db8::1"},
        {"198.51.100.1:4711", "198.51.100.1"},
        {"::ffff:198.51.100.1", "198.51.100.1"},
        {"::ffff:10.0.0.5", "10.0.0.5"},
        {"198.51.100.1, , ,", "198.51.100.1"},  // empty elements are none
        {"", "10.0.0.1"},
        {"unknown", "10.0.0.1"},
        {"198.51.100.1, unknown, 10.0.0.2", "10.0.0.2"},  // ends at the last address that was one
        {"198.51.100.1, _hidden", "10.0.0.1"},
        {"198.51.100.1, 10.0.0.2:x", "10.0.0.1"},
        {"198.51.100.1, 10.0.0.256", "10.0.0.1"},
        {"198.51.100.1, [10.0.0.2]", "10.0.0.1"},
        {"198.51.100.1, [fd00::2", "10.0.0.1"},
        {"198.51.100.1, 10.0.0.2:123456", "10.0.0.1"},
        {"198.51.100.1, localhost", "10.0.0.1"},
        {"198.51.100.1, 10.2", "10.0.0.1"},
    }));
    INFO(row.list);
    CHECK(address({{"X-Forwarded-For", row.list}}) == row.client);
}

TEST_CASE("the lines of X-Forwarded-For are one list", "[R134]") {
    CHECK(address({{"X-Forwarded-For", "203.0.113.9"}, {"x-forwarded-for", "198.51.100.1, 10.0.0.2"}}) ==
          "198.51.100.1");
    CHECK(address({{"X-Forwarded-For", "198.51.100.1"}, {"X-Forwarded-For", "10.0.0.2"}}) == "198.51.100.1");
}

TEST_CASE("Forwarded is read when it stands alone", "[R134]") {
    struct Row {
        std::string_view value;
        std::string_view client;
    };
    const auto row = GENERATE(values<Row>({
        {"for=198.51.100.1", "198.51.100.1"},
        {"For=\"198.51.100.1:4711\";proto=http;by=10.0.0.1", "198.51.100.1"},
        {"for=192.0.2.43, FOR=\"[2001:db8:cafe::17]\"", "2001:db8:cafe::17"},
        {"for=\"[2001:db8:cafe::17]:4711\" , for=10.0.0.2", "2001:db8:cafe::17"},
        {"for=203.0.113.9, for=198.51.100.1;host=\"a,b;c\", for=10.0.0.2", "198.51.100.1"},
        {"for=\"198.51.100\\.1\"", "198.51.100.1"},  // quoted-pair
        {"for=198.51.100.1, for=unknown", "10.0.0.1"},
        {"for=198.51.100.1, for=_gazonk", "10.0.0.1"},
        {"for=198.51.100.1, for=_gazonk, for=10.0.0.2", "10.0.0.2"},
        {"for=198.51.100.1, by=10.0.0.2", "10.0.0.1"},  // no `for`: nothing to go by
        {"for=198.51.100.1;;proto=http, ,", "198.51.100.1"},
        {"", "10.0.0.1"},
        {"for = 198.51.100.1", "10.0.0.1"},  // malformed: nothing of it counts
        {"for=198.51.100.1;for=203.0.113.9", "10.0.0.1"},
        {"for=\"198.51.100.1", "10.0.0.1"},
        {"for=\", for=198.51.100.1", "10.0.0.1"},
        {"for=198.51.100.1 proto=http", "10.0.0.1"},
        {"198.51.100.1", "10.0.0.1"},
        {"for=[2001:db8::1]", "10.0.0.1"},  // an IPv6 address must be quoted
        {"for=", "10.0.0.1"},
        {"for=198.51.100.1\\", "10.0.0.1"},
        {"for=\"a\\", "10.0.0.1"},
    }));
    INFO(row.value);
    CHECK(address({{"Forwarded", row.value}}) == row.client);
}

TEST_CASE("whatever the fields hold the client is an address", "[R134]") {
    const std::string alphabet = "for=proto\"\\;,:[]_. 10123fd\t";
    std::minstd_rand random(20261130);
    for (int round = 0; round < 20'000; ++round) {
        std::string value;
        for (auto length = random() % 40; length > 0; --length) value += alphabet[random() % alphabet.size()];
        INFO(value);
        const auto* name = round % 2 == 0 ? "Forwarded" : "X-Forwarded-For";
        CHECK(canonical_address(address({{name, value}})));
        const auto said = scheme({{name, value}});
        CHECK((said == "http" || said == "https"));
    }
}

TEST_CASE("X-Forwarded-For is taken where both are there", "[R134]") {
    CHECK(address({{"Forwarded", "for=203.0.113.9"}, {"X-Forwarded-For", "198.51.100.1"}}) == "198.51.100.1");
    CHECK(address({{"Forwarded", "for=203.0.113.9"}, {"X-Forwarded-For", "unknown"}}) == "10.0.0.1");
}

TEST_CASE("the client's scheme is ours or what a trusted peer says", "[R134]") {
    CHECK(scheme({}, "192.0.2.7", "https") == "https");
    CHECK(scheme({{"X-Forwarded-Proto", "http"}}, "10.0.0.1", "https") == "https");
    CHECK(scheme({{"X-Forwarded-Proto", "https"}}, "192.0.2.7") == "http");
    CHECK(scheme({{"X-Forwarded-Proto", "https"}}) == "https");
    CHECK(scheme({{"X-Forwarded-Proto", "HTTPS, http"}}) == "https");
    CHECK(scheme({{"X-Forwarded-Proto", "http, https"}}) == "http");
    CHECK(scheme({{"X-Forwarded-Proto", "wss"}}) == "http");
    CHECK(scheme({{"X-Forwarded-Proto", "http"}, {"Forwarded", "for=1.1.1.1;proto=https"}}) == "http");
    CHECK(scheme({{"Forwarded", "for=198.51.100.1;proto=https"}}) == "https");
    CHECK(scheme({{"Forwarded", "for=198.51.100.1;proto=https, for=10.0.0.2;proto=http"}}) == "https");
    CHECK(scheme({{"Forwarded", "for=203.0.113.1;proto=https, for=198.51.100.1;proto=http"}}) == "http");
    CHECK(scheme({{"Forwarded", "proto=https"}}) == "https");
    CHECK(scheme({{"Forwarded", "proto=\"https"}}) == "http");
    CHECK(scheme({}) == "http");
}

TEST_CASE("a client certificate stands for an identity that outlives it") {
    const std::string print = "ab12";
    CHECK(certificate_identity("CN=pay,O=Example", {"dns:pay.example", "uri:spiffe://example/pay"}, print) ==
          "uri:spiffe://example/pay");
    CHECK(certificate_identity("CN=pay,O=Example", {"uri:b", "uri:a"}, print) == "uri:a, uri:b");
    CHECK(certificate_identity("CN=pay,O=Example", {"dns:pay.example"}, print) == "subject:CN=pay,O=Example");
    CHECK(certificate_identity("", {"email:b@example", "dns:a.example"}, print) == "dns:a.example, email:b@example");
    CHECK(certificate_identity("", {}, print) == "sha256:ab12");
}
