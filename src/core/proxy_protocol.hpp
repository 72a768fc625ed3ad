#pragma once
// The PROXY protocol, versions 1 and 2: what a TCP balancer puts before everything else to say who the client is
// (haproxy.org, "The PROXY protocol", 2020/03/05, §2.1 and §2.2).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace oncegate::core {

/// What is known of a header from its first bytes.
struct ProxyHeader {
    enum class Status : std::uint8_t { incomplete, complete, malformed };
    Status status = Status::malformed;

    /// incomplete: at least so many bytes more belong to the header, so that reading them takes nothing of what
    /// follows.
    std::size_t missing = 0;

    /// complete: the client's address without port, IPv4 when it is IPv4-mapped; nothing when the balancer speaks for
    /// itself or does not know (LOCAL, UNKNOWN, a unix socket, UDP).
    std::optional<std::string> client;
};

/// The longest header that is taken: version 2 with its extensions (they are skipped).
constexpr std::size_t longest_proxy_header = 16 + 4096;

/// `bytes` is what was read so far, and never more than the header: read `missing` bytes and ask again.
ProxyHeader parse_proxy_header(std::string_view bytes);

}  // namespace oncegate::core
