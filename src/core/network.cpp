#include "core/network.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string>

namespace oncegate::core {

namespace {

using Bytes = std::array<std::uint8_t, 16>;

constexpr unsigned mapped_prefix_bits = 96;

struct Parsed {
    Bytes bytes{};
    bool v4 = false;
};

std::optional<Parsed> parse_address(std::string_view text) {
    const std::string terminated(text);
    Parsed parsed;
    if (inet_pton(AF_INET6, terminated.c_str(), parsed.bytes.data()) == 1) return parsed;
    std::array<std::uint8_t, 4> four{};
    if (inet_pton(AF_INET, terminated.c_str(), four.data()) != 1) return std::nullopt;
    parsed.v4 = true;
    parsed.bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, four[0], four[1], four[2], four[3]};
    return parsed;
}

/// Whether IPv4 in its mapped form.
bool is_mapped(const Bytes& bytes) {
    return std::all_of(bytes.begin(), bytes.begin() + 10, [](std::uint8_t byte) { return byte == 0; }) &&
           bytes[10] == 0xff && bytes[11] == 0xff;
}

std::string text_of(const Bytes& bytes) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const bool v4 = is_mapped(bytes);
    inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? bytes.data() + 12 : bytes.data(), text.data(), text.size());
    return text.data();
}

bool same_prefix(const Bytes& a, const Bytes& b, unsigned bits) {
    const unsigned whole = bits / 8;
    if (std::memcmp(a.data(), b.data(), whole) != 0) return false;
    const unsigned rest = bits % 8;
    if (rest == 0) return true;
    const auto mask = static_cast<std::uint8_t>(0xffU << (8 - rest));
    return (a[whole] & mask) == (b[whole] & mask);
}

}  // namespace

std::optional<std::string> canonical_address(std::string_view text) {
    const auto parsed = parse_address(text);
    if (!parsed) return std::nullopt;
    return text_of(parsed->bytes);
}

std::optional<Network> Network::parse(std::string_view text) {
    const auto slash = text.find('/');
    const auto parsed = parse_address(text.substr(0, slash));
    if (!parsed) return std::nullopt;
    const unsigned most = parsed->v4 ? 32 : 128;
    unsigned bits = most;
    if (slash != std::string_view::npos) {
        const auto digits = text.substr(slash + 1);
        if (digits.size() > 1 && digits.front() == '0') return std::nullopt;
        const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
        if (fault != std::errc() || end != digits.data() + digits.size() || bits > most) return std::nullopt;
    }
    return Network{parsed->bytes, bits + (parsed->v4 ? mapped_prefix_bits : 0)};
}

Network Network::masked() const {
    Network network = *this;
    for (std::size_t i = 0; i < network.address.size(); ++i) {
        const unsigned kept = std::min(8U, bits > i * 8 ? bits - static_cast<unsigned>(i) * 8 : 0U);
        network.address[i] = static_cast<std::uint8_t>(network.address[i] & (0xff00U >> kept));
    }
    return network;
}

std::string Network::text() const {
    const bool v4 = is_mapped(address) && bits >= mapped_prefix_bits;
    auto out = text_of(address);
    const unsigned shown = v4 ? bits - mapped_prefix_bits : bits;
    if (shown == (v4 ? 32 : 128)) return out;
    return out.append("/").append(std::to_string(shown));
}

bool Network::contains(std::string_view text) const {
    const auto parsed = parse_address(text.substr(0, text.find('%')));
    return parsed && same_prefix(address, parsed->bytes, bits);
}

bool is_among(std::string_view address, const std::vector<Network>& networks) {
    return std::any_of(networks.begin(), networks.end(),
                       [address](const Network& one) { return one.contains(address); });
}

}  // namespace oncegate::core
