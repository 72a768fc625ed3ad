#pragma once
// OPTIONS and TRACE whose Max-Forwards is used up end here (RFC 9110 §7.6.2, R125): this proxy answers as their final
// recipient.

#include <boost/asio/awaitable.hpp>

#include "proxy/client_side.hpp"

namespace oncegate::proxy {

/// OPTIONS or TRACE with `Max-Forwards: 0`.
bool ends_here(const core::RequestHead& head);

/// OPTIONS: an empty 200. TRACE: the request as received, without the fields that may hold secrets (RFC 9110 §9.3.8).
boost::asio::awaitable<void> answer_as_recipient(ClientSide& client);

}  // namespace oncegate::proxy
