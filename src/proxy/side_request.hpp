#pragma once
// A request of the proxy's own beside the client's: a GET whose answer is read whole. Used to ask about an unknown
// outcome, to refresh a replay, and for authorisation.

#include <boost/asio/awaitable.hpp>
#include <boost/system/result.hpp>
#include <chrono>
#include <cstdint>
#include <string>

#include "core/http_message.hpp"
#include "net/upstream_pool.hpp"
#include "proxy/request.hpp"

namespace oncegate::proxy {

struct SideAnswer {
    core::ResponseHead head;  ///< final, as received
    std::string body;
};

/// Why there is no whole answer.
enum class SideFault : std::uint8_t {
    unreachable,  ///< no connection
    broken,       ///< it broke off or was malformed
    timed_out,
    too_large,  ///< the body is over the limit
};

/// For the operator's log.
std::string_view text_of(SideFault fault);

struct SideLimits {
    std::chrono::milliseconds write_idle{};
    std::chrono::milliseconds answer{};  ///< from the request's last byte to the answer's last byte
    std::size_t body_bytes = 0;
};

/// What is asked on behalf of `request`: GET `target` with the client's end-to-end fields, its credentials among them,
/// as the upstream would get them; without those that describe its content or set conditions.
core::RequestHead question_of(const Request& request, std::string target);

/// Sends `head` (a GET, without content) on a connection of `pool` and reads the answer; once, and never again. Host is
/// added where it is missing. Interim responses are passed over.
boost::asio::awaitable<boost::system::result<SideAnswer, SideFault>> side_request(net::UpstreamPool& pool,
                                                                                  core::RequestHead head,
                                                                                  SideLimits limits);

}  // namespace oncegate::proxy
