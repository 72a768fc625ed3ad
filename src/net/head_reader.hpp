#pragma once
// Reads one message head from a connection: bytes up to the empty line, then core's rules on the raw head.

#include <boost/system/result.hpp>
#include <string_view>
#include <variant>

#include "core/head_rules.hpp"
#include "net/connection.hpp"

namespace oncegate::net {

/// Why there is no head.
struct NoHead {
    enum class Kind : std::uint8_t {
        closed,     ///< the peer closed (or reset) before the first byte: nothing was lost
        broken,     ///< it closed in the middle
        timed_out,  ///< the stream's deadline passed; `started` tells whether bytes had come
        malformed,  ///< `fault` says why
    };
    Kind kind = Kind::closed;
    bool started = false;
    core::HeadFault fault;
};

template <class T>
using HeadOr = boost::system::result<T, NoHead>;

/// `limit`: bytes of a head; beyond it is malformed with 431 (414 when even the request line does not fit).
/// `first_byte` is awaited under the deadline that is set; when it has come, the deadline becomes `rest`.
/// Empty lines before a request line are skipped (RFC 9112 §2.2), a few of them.
asio::awaitable<HeadOr<core::RequestHead>> read_request_head(Connection& connection, std::size_t limit,
                                                             milliseconds rest);

/// One response head, 1xx included: the caller loops.
asio::awaitable<HeadOr<core::ResponseHead>> read_response_head(Connection& connection, std::size_t limit);

}  // namespace oncegate::net
