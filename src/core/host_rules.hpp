#pragma once
// The grammar of uri-host [ ":" port ] (RFC 9110 §4.2, §7.2; RFC 3986 §3.2.2), as Host and an absolute-form target
// carry it.

#include <cstdint>
#include <string_view>

namespace oncegate::core {

/// Whether a port may be left out.
enum class PortRule : std::uint8_t { optional, required };

/// A non-empty host (registered name, IPv4, bracketed IPv6 or IPvFuture) and a port up to 65535. User information is
/// refused. With PortRule::optional the digits after the colon may be missing too, as the grammar has it.
bool is_host_and_port(std::string_view text, PortRule port);

/// The host alone: without port, the brackets of an IPv6 address kept, one trailing dot dropped.
std::string_view host_of(std::string_view authority);

}  // namespace oncegate::core
