#pragma once
// Plain proxying: request and response stream through in constant memory, both at once, so that an upstream may answer
// before it has read everything. Nothing is recorded and nothing is sent twice.

#include <boost/asio/awaitable.hpp>

#include "proxy/kept_content.hpp"
#include "proxy/request.hpp"

namespace oncegate::proxy {

/// For routes without a policy, methods that are not enforced, and requests that need no key.
boost::asio::awaitable<void> relay(Request& request);

/// Whether the answer says `Idempotency-Recorded: false`.
enum class Mark : std::uint8_t { none, unrecorded };

/// For a request on a keyed route that goes ahead without a record although its body was read already: the store is
/// down
/// (`store_down: pass`, R71), the key that was looked for in the body is not there, or the mode is shadow.
boost::asio::awaitable<void> relay_kept(Request& request, const KeptContent& content, Mark mark);

}  // namespace oncegate::proxy
