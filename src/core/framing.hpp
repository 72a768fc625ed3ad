#pragma once
// Where a message ends (RFC 9112 §6.3). Decided from the head alone, strictly: two readings of one message are a
// request-smuggling hole, so what is ambiguous is a fault and never guessed (R114-R118).

#include <boost/system/result.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/http_message.hpp"

namespace oncegate::core {

struct Framing {
    enum class Kind : std::uint8_t {
        none,         ///< no content, and nothing follows the head
        length,       ///< exactly `bytes`
        chunked,      ///< chunked transfer coding, perhaps trailers
        until_close,  ///< responses only
    };
    Kind kind = Kind::none;
    std::uint64_t bytes = 0;

    friend bool operator==(const Framing&, const Framing&) = default;
};

/// Why a head cannot be accepted. `status` is what a client is told: 400, 414, 431, 501 or 505; from an upstream any is
/// 502.
struct HeadFault {
    int status = 400;
    std::string detail;  ///< one sentence for the problem document; never echoes the offending bytes
};

template <class T>
using HeadResult = boost::system::result<T, HeadFault>;

/// RFC 9112 §6.3 for a request: Transfer-Encoding must be exactly one `chunked` on HTTP/1.1 and never beside
/// Content-Length; Content-Length must be one line of digits (R115: a list, even of equal values, is refused).
HeadResult<Framing> request_framing(const RequestHead& head);

/// RFC 9112 §6.3 for the final response to a request with `method`: HEAD, 1xx, 204 and 304 have no content whatever
/// they declare.
HeadResult<Framing> response_framing(std::string_view method, const ResponseHead& head);

/// Whether the connection may carry another message after this one (RFC 9112 §9.3), judged by version and Connection.
bool keeps_alive(HttpVersion version, const Fields& fields);

}  // namespace oncegate::core
