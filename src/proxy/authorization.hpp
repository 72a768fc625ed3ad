#pragma once
// Asks the route's authorisation service whether a request may pass (`authorize`): before its body is read, before the
// key is claimed and before anything is replayed (R38).

#include <boost/asio/awaitable.hpp>

#include "proxy/request.hpp"

namespace oncegate::proxy {

/// True: it may pass, also when the route asks nobody; what the service answered is then in `request.authorization`.
/// False: the service's refusal, or that it could not be asked, has been passed on to the client.
boost::asio::awaitable<bool> authorize(Request& request);

/// Whether the caller of `request` may GET `target` as well, which goes by `route`: asked of that route's service, if
/// it has one. Nothing is said to the client.
boost::asio::awaitable<bool> permits(const Request& request, const config::Route& route, std::string target);

}  // namespace oncegate::proxy
