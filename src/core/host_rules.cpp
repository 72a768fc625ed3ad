#include "core/host_rules.hpp"

#include "core/ascii.hpp"

namespace oncegate::core {
namespace {

constexpr bool is_hex(char c) { return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f'); }

/// unreserved and sub-delims of RFC 3986 §2.2, §2.3.
constexpr bool is_name_char(char c) {
    return is_alpha(c) || is_digit(c) || std::string_view("-._~!$&'()*+,;=").find(c) != std::string_view::npos;
}

bool is_registered_name(std::string_view text) {
    if (text.empty()) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (is_name_char(text[i])) continue;
        if (text[i] != '%' || i + 2 >= text.size() || !is_hex(text[i + 1]) || !is_hex(text[i + 2])) return false;
        i += 2;
    }
    return true;
}

bool is_ipv4(std::string_view text) {
    int octets = 0;
    for (;;) {
        const auto dot = text.find('.');
        const auto octet = text.substr(0, dot);
        if (octet.empty() || octet.size() > 3 || (octet.size() > 1 && octet.front() == '0')) return false;
        int value = 0;
        for (const char c : octet) {
            if (!is_digit(c)) return false;
            value = value * 10 + (c - '0');
        }
        if (value > 255) return false;
        ++octets;
        if (dot == std::string_view::npos) return octets == 4;
        text.remove_prefix(dot + 1);
    }
}

/// Groups of sixteen bits in a colon-separated run, or -1. An IPv4 address may stand for the last two.
int count_groups(std::string_view run, bool last_run) {
    if (run.empty()) return 0;
    int groups = 0;
    for (;;) {
        const auto colon = run.find(':');
        const auto group = run.substr(0, colon);
        if (colon == std::string_view::npos && last_run && group.find('.') != std::string_view::npos) {
            return is_ipv4(group) ? groups + 2 : -1;
        }
        if (group.empty() || group.size() > 4) return -1;
        for (const char c : group) {
            if (!is_hex(c)) return -1;
        }
        ++groups;
        if (colon == std::string_view::npos) return groups;
        run.remove_prefix(colon + 1);
    }
}

bool is_ipv6(std::string_view text) {
    const auto gap = text.find("::");
    if (gap == std::string_view::npos) return count_groups(text, true) == 8;
    const int before = count_groups(text.substr(0, gap), false);
    const int after = count_groups(text.substr(gap + 2), true);
    return before >= 0 && after >= 0 && before + after <= 7;
}

/// "v" 1*HEXDIG "." 1*( unreserved / sub-delims / ":" )
bool is_ip_future(std::string_view text) {
    if (text.empty() || lower(text.front()) != 'v') return false;
    const auto dot = text.find('.');
    if (dot == std::string_view::npos || dot < 2 || dot + 1 == text.size()) return false;
    for (const char c : text.substr(1, dot - 1)) {
        if (!is_hex(c)) return false;
    }
    for (const char c : text.substr(dot + 1)) {
        if (!is_name_char(c) && c != ':') return false;
    }
    return true;
}

/// Position of the colon before the port, or npos. In brackets a colon belongs to the address.
std::size_t port_colon(std::string_view authority) {
    const auto bracket = authority.rfind(']');
    return authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
}

}  // namespace

bool is_host_and_port(std::string_view text, PortRule port) {
    const auto colon = port_colon(text);
    const auto host = text.substr(0, colon);
    if (colon != std::string_view::npos) {
        std::uint32_t number = 0;
        const auto digits = text.substr(colon + 1);
        for (const char c : digits) {
            if (!is_digit(c)) return false;
            number = number * 10 + static_cast<std::uint32_t>(c - '0');
            if (number > 65535) return false;
        }
        if (digits.empty() && port == PortRule::required) return false;
    } else if (port == PortRule::required) {
        return false;
    }
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
        const auto literal = host.substr(1, host.size() - 2);
        return is_ipv6(literal) || is_ip_future(literal);
    }
    return is_registered_name(host);
}

std::string_view host_of(std::string_view authority) {
    auto host = authority.substr(0, port_colon(authority));
    if (host.size() > 1 && host.back() == '.') host.remove_suffix(1);
    return host;
}

}  // namespace oncegate::core
