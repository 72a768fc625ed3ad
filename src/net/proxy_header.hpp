#pragma once
// Reads the PROXY protocol header that a TCP balancer puts before everything else, TLS included, and makes the stream
// say who the client is. What it looks like is core/proxy_protocol's to know.

#include <boost/asio/awaitable.hpp>

#include "net/stream.hpp"

namespace oncegate::net {

/// Takes exactly the header off the stream, under its deadline; the stream's peer_address() is the client's afterwards
/// (unchanged for LOCAL and UNKNOWN). invalid_argument when there is no valid header: the connection cannot be used.
asio::awaitable<error_code> read_proxy_header(Stream& stream);

}  // namespace oncegate::net
