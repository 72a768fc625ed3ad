#pragma once
// The shapes of addresses, URLs and pointers that configuration values may have. Checks text only: nothing is resolved
// or opened.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/config.hpp"

namespace oncegate::config {

/// Why no key, scope or fingerprint can be made of the request field `name`; empty: one can.
std::string no_identity_of(std::string_view name);

enum class Reach : std::uint8_t { loopback, wider };

/// Whom a bind reaches: `127.0.0.1:9901`, `[::1]:9901`, `0.0.0.0:8080`, `*:8080`, `:8080`. Nothing when it is not an
/// address and port.
std::optional<Reach> reach_of_bind(std::string_view bind);

/// Whether it is a host name, and no address, with a port: `localhost:8080`.
bool is_named_bind(std::string_view bind);

/// Whether the system cannot bind both: the same port, and addresses that are equal or of which one is a wildcard over
/// the other. `*` and an empty host are every address of both families, `0.0.0.0` and `[::]` those of their own. Never
/// for port 0. Both must be binds.
bool binds_overlap(std::string_view a, std::string_view b);

/// Whether what is wrong with an address is the number of its port: not from 1 to 65535.
bool has_wrong_port(std::string_view address);

/// `http://HOST[:PORT]` or https, with at most a `/` after it, or `unix:/PATH`; `url` begins with one of the three
/// schemes. Nothing when the rest is anything else; `why` then says so.
std::optional<UpstreamServer> parse_server(std::string_view url, std::string& why);

/// A DNS name or an IP address, IPv6 without brackets.
bool is_host(std::string_view text);

/// A host as above, IPv6 in brackets, with or without a port.
bool is_host_with_port(std::string_view text);

/// `api.example.com`, `*.example.com` or an IP address, without a port.
bool is_host_pattern(std::string_view text);

/// Visible ASCII without `#`: what may stand in a request line.
bool is_request_target(std::string_view text);

bool is_http_url(std::string_view text);
bool is_json_pointer(std::string_view text);

}  // namespace oncegate::config
