#pragma once
// A route's `cors` block at work (R100): preflights are answered here and go no further, neither claimed nor recorded
// nor authorised, and every other answer of the route says which origin may read it. The stored record knows nothing
// of it: a replay carries what goes for the origin that asks for it.

#include <boost/asio/awaitable.hpp>
#include <optional>

#include "config/config.hpp"
#include "core/cors.hpp"
#include "proxy/client_side.hpp"

namespace oncegate::proxy {

/// What the answers of `route` say about the origin of this request; nothing when the route has no `cors` block.
std::optional<core::CorsAnswer> cors_answer(const config::Route& route, const core::RequestHead& head);

boost::asio::awaitable<void> answer_preflight(ClientSide& client, const config::Route& route);

}  // namespace oncegate::proxy
