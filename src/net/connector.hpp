#pragma once
// One TCP connect with a deadline: name to addresses, then each address in turn until one answers.

#include <boost/asio/ip/tcp.hpp>
#include <boost/system/result.hpp>
#include <string>

#include "net/resolver.hpp"
#include "net/stream.hpp"

namespace oncegate::net {

/// Why nothing answered. Nothing was sent.
enum class ConnectFault : std::uint8_t { unresolved, refused, timed_out };

/// `limit` covers the look-up and all addresses together. `resolver` must outlive the call.
asio::awaitable<boost::system::result<std::unique_ptr<Stream>, ConnectFault>> connect(Resolver& resolver,
                                                                                      std::string host,
                                                                                      std::uint16_t port,
                                                                                      milliseconds limit);

}  // namespace oncegate::net
