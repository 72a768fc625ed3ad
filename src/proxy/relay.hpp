#pragma once
// Plain proxying: request and response stream through in constant memory, both at once, so that an upstream may answer
// before it has read everything. Nothing is recorded and nothing is sent twice.

#include <boost/asio/awaitable.hpp>

#include "net/body_spill.hpp"
#include "proxy/request.hpp"

namespace oncegate::proxy {

/// For routes without a policy, methods that are not enforced, and requests that need no key.
boost::asio::awaitable<void> relay(Request& request);

/// For a keyed request that goes ahead although the store is down (`store_down: pass`, R71): its body was read already.
/// The answer is marked with `Idempotency-Recorded: false`.
boost::asio::awaitable<void> relay_buffered(Request& request, const net::BodySpill& body, core::RequestHead head,
                                            core::Framing framing);

}  // namespace oncegate::proxy
