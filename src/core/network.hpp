#pragma once
// Networks in CIDR notation and what lies in them: whose word on the client is believed (`trusted_proxies`).

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oncegate::core {

/// The one spelling of an IPv4 or IPv6 address (RFC 5952), an IPv4-mapped one as IPv4; nothing when it is none.
std::optional<std::string> canonical_address(std::string_view text);

/// IPv4 is kept as its IPv4-mapped IPv6 form, so that both compare alike.
struct Network {
    std::array<std::uint8_t, 16> address{};
    unsigned bits = 0;  ///< of the 128

    /// "10.0.0.0/8", "10.1.2.3", "fd00::/8"; nothing when it is none of these.
    static std::optional<Network> parse(std::string_view text);

    /// With the bits after the prefix set to zero: of 10.1.2.3/8 it is 10.0.0.0/8.
    Network masked() const;

    /// "10.0.0.0/8"; a single address without the length.
    std::string text() const;

    /// `address`: IPv4 or IPv6 without brackets or port, a zone after % is passed over; false for anything else.
    bool contains(std::string_view address) const;

    friend bool operator==(const Network&, const Network&) = default;
};

bool is_among(std::string_view address, const std::vector<Network>& networks);

}  // namespace oncegate::core
