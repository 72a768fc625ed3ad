#pragma once
// Closing a connection whose peer may still be sending (RFC 9112 §9.6): a plain close would answer the unread bytes
// with a reset, which can destroy the response before the peer has read it (R128).

#include "net/connection.hpp"

namespace oncegate::net {

/// Ends our side, reads and drops what still comes until the peer closes, `limit` passes or `bytes` were dropped; then
/// closes.
asio::awaitable<void> staged_close(Connection& connection, milliseconds limit, std::size_t bytes);

}  // namespace oncegate::net
