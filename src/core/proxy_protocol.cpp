#include "core/proxy_protocol.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace oncegate::core {

namespace {

using Status = ProxyHeader::Status;

constexpr std::string_view signature("\r\n\r\n\0\r\nQUIT\n", 12);  // of version 2
constexpr std::string_view version_1 = "PROXY ";
constexpr std::size_t fixed_part = 16;     // of version 2
constexpr std::size_t longest_line = 107;  // of version 1, with its CRLF

ProxyHeader incomplete(std::size_t missing) { return {Status::incomplete, missing, std::nullopt}; }
ProxyHeader complete(std::optional<std::string> client) { return {Status::complete, 0, std::move(client)}; }
ProxyHeader malformed() { return {}; }

std::string text_of(const in_addr& address) {
    std::array<char, INET_ADDRSTRLEN> text{};
    return inet_ntop(AF_INET, &address, text.data(), text.size());
}

std::string text_of(const in6_addr& address) {
    if (IN6_IS_ADDR_V4MAPPED(&address)) {
        in_addr mapped{};
        std::copy_n(&address.s6_addr[12], 4, reinterpret_cast<unsigned char*>(&mapped));
        return text_of(mapped);
    }
    std::array<char, INET6_ADDRSTRLEN> text{};
    return inet_ntop(AF_INET6, &address, text.data(), text.size());
}

/// An address as inet_pton takes it (no leading zeros), in its usual spelling.
template <class Address>
std::optional<std::string> parse_address(int family, std::string_view text) {
    const std::string terminated(text);
    Address address{};
    if (terminated.find('\0') != std::string::npos || inet_pton(family, terminated.c_str(), &address) != 1)
        return std::nullopt;
    return text_of(address);
}

bool is_port(std::string_view text) {
    std::uint16_t port = 0;
    const bool leading_zero = text.size() > 1 && text.front() == '0';
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), port);
    return fault == std::errc() && end == text.data() + text.size() && !leading_zero;
}

/// The text up to the next `mark`, or all of it.
std::string_view take_up_to(std::string_view& rest, char mark) {
    const auto at = rest.find(mark);
    const auto taken = rest.substr(0, at);
    rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
    return taken;
}

/// `line` without "PROXY " and CRLF.
ProxyHeader parse_line(std::string_view line) {
    const auto protocol = take_up_to(line, ' ');
    if (protocol == "UNKNOWN") return complete(std::nullopt);
    if (protocol != "TCP4" && protocol != "TCP6") return malformed();
    const auto parse = protocol == "TCP4" ? parse_address<in_addr> : parse_address<in6_addr>;
    const int family = protocol == "TCP4" ? AF_INET : AF_INET6;
    auto source = parse(family, take_up_to(line, ' '));
    const auto destination = parse(family, take_up_to(line, ' '));
    const bool ports = is_port(take_up_to(line, ' ')) && is_port(line);
    if (!source || !destination || !ports) return malformed();
    return complete(std::move(source));
}

/// The fewest bytes that can end a line which does not end yet: "PROXY TCP4 1.1.1.1 1.1.1.1 1 1" has five spaces, and
/// what follows a space has a byte.
std::size_t fewest_missing(std::string_view line) {
    const bool return_seen = line.back() == '\r';
    std::size_t missing = return_seen ? 1 : 2;
    if (return_seen || line.substr(version_1.size(), 3) != "TCP") return missing;
    const auto spaces = static_cast<std::size_t>(std::count(line.begin(), line.end(), ' '));
    if (spaces < 5) missing += 2 * (5 - spaces);
    if (line.back() == ' ') ++missing;
    return missing;
}

ProxyHeader parse_version_1(std::string_view bytes) {
    const auto end = bytes.find('\n');
    if (end == std::string_view::npos) {
        const auto carriage_return = bytes.find('\r');
        const std::size_t missing = fewest_missing(bytes);
        const bool inside = carriage_return != std::string_view::npos && carriage_return + 1 != bytes.size();
        return inside || bytes.size() + missing > longest_line ? malformed() : incomplete(missing);
    }
    if (end + 1 != bytes.size() || end + 1 > longest_line || bytes[end - 1] != '\r') return malformed();
    return parse_line(bytes.substr(version_1.size(), end - 1 - version_1.size()));
}

/// Type, two bytes of length, value: they must fill what is left.
bool are_extensions(std::string_view rest) {
    while (!rest.empty()) {
        if (rest.size() < 3) return false;
        const std::size_t length =
            (static_cast<std::size_t>(static_cast<unsigned char>(rest[1])) << 8U) | static_cast<unsigned char>(rest[2]);
        if (length > rest.size() - 3) return false;
        rest.remove_prefix(3 + length);
    }
    return true;
}

template <class Address>
std::string address_at_start(std::string_view block) {
    Address address{};
    std::copy_n(block.begin(), sizeof(address), reinterpret_cast<char*>(&address));
    return text_of(address);
}

/// `block`: what follows the fixed part.
ProxyHeader parse_addresses(unsigned family, unsigned transport, std::string_view block) {
    constexpr std::array<std::size_t, 4> sizes{0, 12, 36, 216};  // unspecified, IPv4, IPv6, unix
    constexpr unsigned last_transport = 2;                       // unspecified, stream, datagram
    if (family >= sizes.size() || transport > last_transport) return malformed();
    if (family == 0 || transport == 0) return complete(std::nullopt);
    if (block.size() < sizes[family] || !are_extensions(block.substr(sizes[family]))) return malformed();
    if (transport != 1 || family == 3) return complete(std::nullopt);
    return complete(family == 1 ? address_at_start<in_addr>(block) : address_at_start<in6_addr>(block));
}

ProxyHeader parse_version_2(std::string_view bytes) {
    const auto at = [bytes](std::size_t index) -> unsigned { return static_cast<unsigned char>(bytes[index]); };
    const std::size_t size = fixed_part + ((at(14) << 8U) | at(15));
    const unsigned command = at(12) & 15U;
    if (at(12) >> 4U != 2 || command > 1 || size > longest_proxy_header || bytes.size() > size) return malformed();
    if (bytes.size() < size) return incomplete(size - bytes.size());
    if (command == 0) return complete(std::nullopt);  // LOCAL: whatever the rest says
    return parse_addresses(at(13) >> 4U, at(13) & 15U, bytes.substr(fixed_part));
}

bool begins(std::string_view bytes, std::string_view with) {
    const auto size = std::min(bytes.size(), with.size());
    return bytes.substr(0, size) == with.substr(0, size);
}

}  // namespace

ProxyHeader parse_proxy_header(std::string_view bytes) {
    // Both versions are longer than the signature: "PROXY UNKNOWN\r\n" is the shortest.
    if (begins(bytes, signature)) {
        if (bytes.size() < signature.size()) return incomplete(signature.size() - bytes.size());
        return bytes.size() < fixed_part ? incomplete(fixed_part - bytes.size()) : parse_version_2(bytes);
    }
    if (!begins(bytes, version_1)) return malformed();
    if (bytes.size() < signature.size()) {
        const bool ended = bytes.find_first_of("\r\n") != std::string_view::npos;
        return ended ? malformed() : incomplete(signature.size() - bytes.size());
    }
    return parse_version_1(bytes);
}

}  // namespace oncegate::core
