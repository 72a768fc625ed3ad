// Networks in CIDR notation.

#include "core/network.hpp"

#include <catch2/catch.hpp>

using namespace oncegate::core;

TEST_CASE("a network holds the addresses of its prefix and no others") {
    struct Row {
        const char* network;
        const char* inside;
        const char* outside;
    };
    const auto row = GENERATE(values<Row>({
        {"10.0.0.0/8", "10.255.0.1", "11.0.0.1"},
        {"10.0.0.0/9", "10.127.255.255", "10.128.0.0"},
        {"192.0.2.7", "192.0.2.7", "192.0.2.8"},
        {"192.0.2.4/30", "192.0.2.7", "192.0.2.8"},
        {"0.0.0.0/0", "255.255.255.255", "::1"},
        {"fd00::/8", "fdff::1", "fe00::1"},
        {"2001:db8::/33", "2001:db8:7fff::1", "2001:db8:8000::1"},
        {"::1", "::1", "::2"},
        {"10.0.0.0/8", "::ffff:10.1.2.3", "::ffff:11.1.2.3"},
        {"::ffff:10.0.0.0/104", "10.1.2.3", "11.1.2.3"},
        {"fe80::/10", "fe80::1%eth0", "fd80::1"},
    }));
    INFO(row.network);
    const auto network = Network::parse(row.network);
    REQUIRE(network);
    CHECK(network->contains(row.inside));
    CHECK_FALSE(network->contains(row.outside));
    CHECK_FALSE(network->contains(""));
    CHECK_FALSE(network->contains("localhost"));
    CHECK_FALSE(network->contains("10.0.0.1:80"));
}

TEST_CASE("what is no network is refused") {
    for (const auto* text : {"", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/08", "10.0.0.0/8x", "10.0.0/8",
                             "::/129", "::1/", "localhost", "10.0.0.0 /8", "fe80::1%eth0", "[::1]", "/8"}) {
        INFO(text);
        CHECK_FALSE(Network::parse(text));
    }
}

TEST_CASE("a network is shown with the bits after its prefix at zero") {
    CHECK(Network::parse("10.1.2.3/8")->masked().text() == "10.0.0.0/8");
    CHECK(Network::parse("10.129.2.3/9")->masked().text() == "10.128.0.0/9");
    CHECK(Network::parse("10.0.0.0/8")->masked() == *Network::parse("10.0.0.0/8"));
    CHECK(Network::parse("192.0.2.7")->masked().text() == "192.0.2.7");
    CHECK(Network::parse("192.0.2.7/0")->masked().text() == "0.0.0.0/0");
    CHECK(Network::parse("2001:DB8::1/32")->masked().text() == "2001:db8::/32");
    CHECK(Network::parse("fd00::1")->text() == "fd00::1");
    CHECK(Network::parse("::1/0")->masked().text() == "::/0");
}

TEST_CASE("an address has one spelling") {
    CHECK(canonical_address("2001:DB8:0:0::0001") == "2001:db8::1");
    CHECK(canonical_address("::ffff:192.0.2.7") == "192.0.2.7");
    CHECK(canonical_address("192.0.2.7") == "192.0.2.7");
    CHECK_FALSE(canonical_address("192.0.2.07"));
    CHECK_FALSE(canonical_address("192.0.2"));
    CHECK_FALSE(canonical_address(""));
    CHECK_FALSE(canonical_address("fe80::1%eth0"));
    CHECK_FALSE(canonical_address("_hidden"));
}

TEST_CASE("no address lies in no networks") {
    CHECK_FALSE(is_among("10.0.0.1", {}));
    CHECK(is_among("10.0.0.1", {*Network::parse("::1"), *Network::parse("10.0.0.0/8")}));
}
