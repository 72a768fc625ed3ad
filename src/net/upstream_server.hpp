#pragma once
// One server of an upstream, as the configuration names it.

#include <cstdint>
#include <string>

namespace oncegate::net {

struct UpstreamServer {
    std::string host;  ///< name or address; IPv6 without brackets
    std::uint16_t port = 80;
    std::string authority;  ///< as a Host field would say it
    enum class Scheme : std::uint8_t { http, https };
    Scheme scheme = Scheme::http;
    std::string unix_path;  ///< path of a unix socket; empty: TCP
};

}  // namespace oncegate::net
