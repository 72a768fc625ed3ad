#include "config/addresses.hpp"

#include <arpa/inet.h>
#include <sys/un.h>

#include <algorithm>
#include <array>

#include "config/units.hpp"
#include "core/ascii.hpp"
#include "core/known_fields.hpp"
#include "core/network.hpp"

namespace oncegate::config {

namespace {

bool is_ipv4(std::string_view text) {
    std::array<unsigned char, 4> bytes{};
    return inet_pton(AF_INET, std::string(text).c_str(), bytes.data()) == 1;
}

bool is_ipv6(std::string_view text) {
    std::array<unsigned char, 16> bytes{};
    return inet_pton(AF_INET6, std::string(text).c_str(), bytes.data()) == 1;
}

bool is_wildcard(std::string_view host) {
    const auto network = core::Network::parse(host);
    return network && (network == core::Network::parse("0.0.0.0") || network == core::Network::parse("::"));
}

bool is_dns_name(std::string_view text) {
    if (text.empty() || text.size() > 253) return false;
    std::size_t label = 0;
    for (const char c : text) {
        if (c == '.') {
            if (label == 0) return false;
            label = 0;
            continue;
        }
        const bool allowed = core::is_alpha(c) || core::is_digit(c) || c == '-' || c == '_';
        if (!allowed || ++label > 63) return false;
    }
    return label > 0;
}

struct HostAndPort {
    std::string_view host;  ///< without brackets
    std::optional<std::uint16_t> port;
};

/// `host`, `host:port`, `[v6]`, `[v6]:port`; nothing when brackets or the port are malformed.
std::optional<HostAndPort> split_host(std::string_view text) {
    HostAndPort out;
    std::string_view rest;
    if (!text.empty() && text.front() == '[') {
        const auto end = text.find(']');
        if (end == std::string_view::npos || !is_ipv6(text.substr(1, end - 1))) return std::nullopt;
        out.host = text.substr(1, end - 1);
        rest = text.substr(end + 1);
    } else {
        const auto colon = text.find(':');
        out.host = text.substr(0, colon);
        rest = colon == std::string_view::npos ? std::string_view() : text.substr(colon);
    }
    if (rest.empty()) return out;
    std::string why;
    const auto port = parse_integer(rest.substr(1), why);
    if (rest.front() != ':' || !port || *port > 65'535) return std::nullopt;
    out.port = static_cast<std::uint16_t>(*port);
    return out;
}

/// A path to a unix socket, which must fit into the system's address of one.
std::optional<UpstreamServer> parse_unix_server(std::string_view url, std::string& why) {
    const auto path = url.substr(std::string_view("unix:").size());
    if (!path.starts_with('/') || path.ends_with('/')) {
        why = "'" + std::string(url) + "' is not unix:/PATH, the absolute path of a socket";
        return std::nullopt;
    }
    if (path.find(":/") != std::string_view::npos) {
        why = "'" + std::string(url) + "' holds ':/'; a socket's path stands alone, and requests keep theirs";
        return std::nullopt;
    }
    if (path.size() >= sizeof(sockaddr_un::sun_path)) {
        why = "the path is longer than the " + std::to_string(sizeof(sockaddr_un::sun_path) - 1) +
              " bytes that a unix socket may have";
        return std::nullopt;
    }
    UpstreamServer server;
    server.unix_path = path;
    server.authority = "localhost";
    return server;
}

}  // namespace

std::optional<Reach> reach_of_bind(std::string_view bind) {
    const auto parts = split_host(bind);
    if (!parts || !parts->port) return std::nullopt;
    if (parts->host.empty() || parts->host == "*") return Reach::wider;
    if (is_ipv4(parts->host)) return parts->host.starts_with("127.") ? Reach::loopback : Reach::wider;
    if (is_ipv6(parts->host)) return parts->host == "::1" ? Reach::loopback : Reach::wider;
    return std::nullopt;
}

bool is_named_bind(std::string_view bind) {
    const auto parts = split_host(bind);
    return parts && parts->port && is_dns_name(parts->host) && !reach_of_bind(bind);
}

bool binds_overlap(std::string_view a, std::string_view b) {
    const auto one = split_host(a);
    const auto other = split_host(b);
    if (!one || !other || one->port != other->port || one->port == std::uint16_t{0}) return false;
    const auto takes_in = [](std::string_view wide, std::string_view address) {
        if (wide.empty() || wide == "*") return true;
        return is_wildcard(wide) && is_ipv6(wide) == is_ipv6(address);
    };
    return takes_in(one->host, other->host) || takes_in(other->host, one->host) ||
           core::Network::parse(one->host) == core::Network::parse(other->host);
}

bool has_wrong_port(std::string_view address) {
    const auto colon = address.rfind(':');
    if (colon == std::string_view::npos || colon + 1 == address.size()) return false;
    const auto digits = address.substr(colon + 1);
    if (!std::all_of(digits.begin(), digits.end(), core::is_digit)) return false;
    std::string why;
    const auto port = parse_integer(digits, why);
    return !port || *port == 0 || *port > 65'535;
}

std::optional<UpstreamServer> parse_server(std::string_view url, std::string& why) {
    if (url.starts_with("unix:")) return parse_unix_server(url, why);
    UpstreamServer server;
    std::string_view rest = url.substr(std::min(url.size(), url.find("//") + 2));
    if (rest.ends_with('/')) rest.remove_suffix(1);
    const auto parts = split_host(rest);
    if (rest.starts_with("unix:")) {
        why = "'" + std::string(url) + "' is a socket's; write unix:/PATH";
        return std::nullopt;
    }
    if (rest.find_first_of(" \t") != std::string_view::npos) {
        why = "'" + std::string(url) + "' holds more than a URL; weights and other parameters are not supported yet";
        return std::nullopt;
    }
    if (rest.find_first_of("/?#@") != std::string_view::npos) {
        why = "'" + std::string(url) + "' holds more than a host and a port; requests keep the path they came with";
        return std::nullopt;
    }
    if (has_wrong_port(rest)) {
        why = "'" + std::string(url) + "': the port must be from 1 to 65535";
        return std::nullopt;
    }
    if (!parts || !is_host(parts->host) || parts->port == std::uint16_t{0}) {
        why = "'" + std::string(url) + "' does not name a host, or a host and a port";
        return std::nullopt;
    }
    server.scheme = url.starts_with("https:") ? UpstreamServer::Scheme::https : UpstreamServer::Scheme::http;
    server.host = parts->host;
    server.port = parts->port.value_or(server.scheme == UpstreamServer::Scheme::https ? 443 : 80);
    server.authority = rest;
    return server;
}

bool is_host(std::string_view text) { return is_dns_name(text) || is_ipv6(text); }

bool is_host_with_port(std::string_view text) {
    const auto parts = split_host(text);
    return parts && is_host(parts->host) && parts->port != std::uint16_t{0};
}

bool is_host_pattern(std::string_view text) {
    if (text.starts_with("*.")) return is_dns_name(text.substr(2));
    return is_host(text) || (text.starts_with('[') && text.ends_with(']') && is_ipv6(text.substr(1, text.size() - 2)));
}

bool is_request_target(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f && c != '#'; });
}

bool is_http_url(std::string_view text) {
    const bool graphic = std::all_of(text.begin(), text.end(), [](char c) {
        return c > ' ' && c < 0x7f && std::string_view("\"<>\\^`{|}").find(c) == std::string_view::npos;
    });
    if (!graphic || !(text.starts_with("http://") || text.starts_with("https://"))) return false;
    const auto authority = text.substr(text.find("//") + 2);
    const auto parts = split_host(authority.substr(0, authority.find_first_of("/?#")));
    return parts && is_host(parts->host);
}

bool is_json_pointer(std::string_view text) {
    if (!text.empty() && text.front() != '/') return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '~' && (i + 1 == text.size() || (text[i + 1] != '0' && text[i + 1] != '1'))) return false;
    }
    return true;
}

std::string no_identity_of(std::string_view name) {
    const auto known = core::known_field(name);
    using core::FieldTrait;
    if (known.is(FieldTrait::hop_by_hop | FieldTrait::framing))
        return "is of one connection and says nothing of the request";
    if (known.is(FieldTrait::proxy_only)) return "is only for the proxy to send";
    if (known.id == core::FieldId::idempotency_outcome) return "is a field of responses";
    return {};
}

}  // namespace oncegate::config
