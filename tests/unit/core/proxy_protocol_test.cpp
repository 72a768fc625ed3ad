// Headers are built from the specification's text, not by the code under test.

#include "core/proxy_protocol.hpp"

#include <catch2/catch.hpp>
#include <string>

using oncegate::core::longest_proxy_header;
using oncegate::core::parse_proxy_header;
using oncegate::core::ProxyHeader;
using Status = ProxyHeader::Status;
using namespace std::string_literals;

namespace {

const std::string signature("\x0D\x0A\x0D\x0A\x00\x0D\x0A\x51\x55\x49\x54\x0A", 12);

/// Version 2 with its length.
std::string version_2(char command, char family, const std::string& block) {
    std::string bytes = signature;
    bytes.append(1, command).append(1, family);
    bytes.append(1, static_cast<char>(block.size() >> 8U)).append(1, static_cast<char>(block.size() & 0xffU));
    return bytes.append(block);
}

const std::string four("\xCB\x00\x71\x07\x0A\x00\x00\x01\xDC\x04\x01\xBB", 12);  // 203.0.113.7 to 10.0.0.1
const std::string six(
    "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x05"
    "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x06\xDC\x04\x01\xBB",
    36);
const std::string mapped(
    "\0\0\0\0\0\0\0\0\0\0\xff\xff\xCB\x00\x71\x07"
    "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0A\x00\x00\x01\xDC\x04\x01\xBB",
    36);

/// Reads `bytes` as a stream would: never more than what is said to be missing. What was read by the time of the
/// answer, and the answer.
std::pair<std::size_t, ProxyHeader> read_from(const std::string& bytes) {
    std::size_t held = 0;
    for (;;) {
        auto header = parse_proxy_header(std::string_view(bytes).substr(0, held));
        if (header.status != Status::incomplete) return {held, header};
        REQUIRE(header.missing > 0);
        if (held + header.missing > bytes.size()) return {held, header};
        held += header.missing;
    }
}

}  // namespace

TEST_CASE("a PROXY header tells the client's address") {
    const std::vector<std::pair<std::string, std::string>> cases{
        {"PROXY TCP4 203.0.113.7 10.0.0.1 56324 443\r\n", "203.0.113.7"},
        {"PROXY TCP4 1.1.1.1 1.1.1.1 1 1\r\n", "1.1.1.1"},
        {"PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n", "255.255.255.255"},
        {"PROXY TCP4 0.0.0.0 0.0.0.0 0 0\r\n", "0.0.0.0"},
        {"PROXY TCP6 2001:db8::5 2001:db8::6 56324 443\r\n", "2001:db8::5"},
        {"PROXY TCP6 2001:DB8:0:0:0:0:0:5 :: 1 1\r\n", "2001:db8::5"},
        {"PROXY TCP6 ::ffff:203.0.113.7 ::ffff:10.0.0.1 1 1\r\n", "203.0.113.7"},
        {"PROXY TCP6 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n",
         "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
        {"PROXY UNKNOWN\r\n", ""},
        {"PROXY UNKNOWN ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 "
         "65535\r\n",
         ""},
        {version_2('\x21', '\x11', four), "203.0.113.7"},
        {version_2('\x21', '\x21', six), "2001:db8::5"},
        {version_2('\x21', '\x21', mapped), "203.0.113.7"},
        {version_2('\x21', '\x11', four + "\x04\x00\x02xx"s + "\x01\x00\x00"s), "203.0.113.7"},  // extensions
        {version_2('\x21', '\x12', four), ""},                                                   // UDP
        {version_2('\x21', '\x31', std::string(216, 'p')), ""},                                  // unix
        {version_2('\x21', '\x00', ""), ""},                                                     // unspecified
        {version_2('\x21', '\x00', "anything"), ""},
        {version_2('\x20', '\x00', ""), ""},  // LOCAL
        {version_2('\x20', '\x11', four), ""},
        {version_2('\x20', '\x11', "x"), ""},
        {version_2('\x21', '\x11', four + "\x04\x0f\xf1"s + std::string(4081, 'x')), "203.0.113.7"}};
    for (const auto& [bytes, client] : cases) {
        CAPTURE(bytes);
        // Bytes of a TLS hello behind it must stay where they are.
        const auto [read, header] = read_from(bytes + "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"s);
        CHECK(header.status == Status::complete);
        CHECK(header.client.value_or("") == client);
        CHECK(read == bytes.size());
        for (std::size_t length = 0; length < bytes.size(); ++length) {
            const auto part = parse_proxy_header(std::string_view(bytes).substr(0, length));
            REQUIRE(part.status == Status::incomplete);
            REQUIRE(part.missing > 0);
            REQUIRE(length + part.missing <= bytes.size());
        }
    }
}

TEST_CASE("what is no PROXY header is told from one that is not complete") {
    const std::vector<std::string> cases{
        "GET / HTTP/1.1\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\x00\x00\x00\x00\x00"s,
        "proxy TCP4 1.1.1.1 1.1.1.1 1 1\r\n",
        "PROXY  TCP4 1.1.1.1 1.1.1.1 1 1\r\n",
        "PROXY TCP4  1.1.1.1 1.1.1.1 1 1\r\n",
        "PROXY TCP4 1.1.1.1 1.1.1.1 1 1 \r\n",
        "PROXY TCP4 1.1.1.1 1.1.1.1 1 1 1\r\n",
        "PROXY TCP4 1.1.1.1 1.1.1.1 1\r\n",
        "PROXY TCP4\t1.1.1.1 1.1.1.1 1 1\r\n",
        "PROXY TCP4 1.1.1.1 1.1.1.1 1 1\n",
        "PROXY TCP4 1.1.1.1 1.1.1.1 1 1\r\r\n",
        "PROXY TCP4 1.1.1.1 1.1.1.1 1 65536\r\n",
        "PROXY TCP4 1.1.1.1 1.1.1.1 1 +1\r\n",
        "PROXY TCP4 1.1.1.1 1.1.1.1 01 1\r\n",
        "PROXY TCP4 1.1.1.1 1.1.1.1 -1 1\r\n",
        "PROXY TCP4 1.1.1.1 1.1.1.1 x 1\r\n",
        "PROXY TCP4 1.1.1.01 1.1.1.1 1 1\r\n",
        "PROXY TCP4 1.1.1 1.1.1.1 1 1\r\n",
        "PROXY TCP4 1.1.1.256 1.1.1.1 1 1\r\n",
        "PROXY TCP4 1.1.1.1\0 1.1.1.1 1 1\r\n"s,
        "PROXY TCP4 2001:db8::5 2001:db8::6 1 1\r\n",
        "PROXY TCP6 1.1.1.1 1.1.1.1 1 1\r\n",
        "PROXY TCP6 [::1] [::1] 1 1\r\n",
        "PROXY TCP6 fe80::1%eth0 ::1 1 1\r\n",
        "PROXY TCP5 1.1.1.1 1.1.1.1 1 1\r\n",
        "PROXY UDP4 1.1.1.1 1.1.1.1 1 1\r\n",
        "PROXY \r\n",
        "PROXY UNKNOWN" + std::string(93, ' ') + "\r\n",  // 108 bytes
        "PROXY UNKNOWN\rx\n",
        "PROXY UNKNOWNX\r\n",
        version_2('\x11', '\x11', four),  // version 1 in the form of 2
        version_2('\x31', '\x11', four),
        version_2('\x22', '\x11', four),  // neither LOCAL nor PROXY
        version_2('\x21', '\x41', six),   // unknown family
        version_2('\x21', '\x13', four),  // unknown transport
        version_2('\x21', '\x11', four.substr(1)),
        version_2('\x21', '\x21', six.substr(1)),
        version_2('\x21', '\x11', four + "\x04"),             // an extension without its length
        version_2('\x21', '\x11', four + "\x04\x00\x03xx"s),  // one longer than the header
        version_2('\x21', '\x31', std::string(215, 'p')),
        version_2('\x21', '\x11', four + std::string(longest_proxy_header - 16 - 12 + 1, '\0')),
        signature.substr(0, 11) + "\r" + std::string(16, 'x')};
    for (const auto& bytes : cases) {
        CAPTURE(bytes);
        // The next byte must not help.
        CHECK(read_from(bytes + std::string(200, '\n')).second.status == Status::malformed);
    }
}

TEST_CASE("a PROXY line of 107 bytes is taken and a longer one is refused before its end") {
    const std::string longest = "PROXY UNKNOWN" + std::string(92, 'x');
    CHECK(parse_proxy_header(longest + "\r\n").status == Status::malformed);  // no space behind the word
    const std::string spaced = "PROXY UNKNOWN " + std::string(91, 'x');
    CHECK(parse_proxy_header(spaced + "\r\n").status == Status::complete);
    CHECK(parse_proxy_header(spaced).status == Status::incomplete);
    CHECK(parse_proxy_header(spaced + "x").status == Status::malformed);
}
