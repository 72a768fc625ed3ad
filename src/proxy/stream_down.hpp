#pragma once
// A response on its way from the upstream to the client of a plain route: as it comes, piece by piece, in constant
// memory.

#include <boost/asio/awaitable.hpp>

#include "net/body_reader.hpp"
#include "proxy/request.hpp"

namespace oncegate::proxy {

/// What a response head becomes on its way to the client of a plain route, and what its framing announces.
struct Down {
    core::ResponseHead head;
    core::Framing framing;
    std::string_view server;  ///< that it came from, for the operator
};
Down down_of(const Request& request, const core::ResponseHead& received, core::Framing framing,
             std::string_view server);

/// Whether bytes of the body have come with the head. When not, the client gets the head at once.
enum class Pending : std::uint8_t { nothing, something };
Pending pending_on(const net::Connection& connection);

/// Passes the response on as it comes. False when it was cut off, or so malformed from its first byte on that the
/// client could still be told. `received`: the fields that came, which say what of the trailers stays behind.
boost::asio::awaitable<bool> stream_down(Request& request, net::BodyReader& body, Down down,
                                         const core::Fields& received, Pending pending);

}  // namespace oncegate::proxy
