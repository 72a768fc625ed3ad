#pragma once
// Switching one connection to another protocol (RFC 9110 §7.8, R135): which requests ask for it in a form that can be
// passed on. Whether a route passes it on, and the tunnel that follows, are others' to say.

#include <cstdint>
#include <string>

#include "core/http_message.hpp"

namespace oncegate::core {

/// What becomes of Upgrade on the way.
enum class Upgrade : std::uint8_t { drop, keep };

/// The protocols that the Upgrade lines name and a tunnel may carry, in their order: "websocket". Left out is whatever
/// speaks HTTP again (h2c, h2, HTTP, TLS): the requests inside it would pass by every route and policy. Empty when
/// nothing is left or a line is malformed.
std::string tunnel_protocols(const Fields& fields);

/// Whether a request asks for an upgrade that may be passed on: HTTP/1.1, `upgrade` among its connection options, and
/// tunnel_protocols() not empty.
bool wants_upgrade(const RequestHead& head);

/// Whether `received` is a 101 to a protocol that `sent` asked for. Any other 101 is a fault of the upstream.
bool switches_as_asked(const RequestHead& sent, const ResponseHead& received);

}  // namespace oncegate::core
