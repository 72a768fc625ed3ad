#pragma once
// `replay.mode: refresh`: a completed create is answered with the current state of what it created, fetched from the
// recorded Location (semantic equivalence, as AWS promises it). What cannot be fetched is answered as recorded.

#include <boost/asio/awaitable.hpp>
#include <optional>

#include "core/record.hpp"
#include "proxy/request.hpp"

namespace oncegate::proxy {

/// The answer of today: status and Location as recorded, the rest from a GET with the caller's credentials on the same
/// upstream. Nothing when the recorded response is no create (2xx with content and a Location on this upstream), or
/// the GET did not give a 200 of at most `limits.memory_body`.
struct CurrentState {
    core::ResponseHead head;
    std::string body;
};
boost::asio::awaitable<std::optional<CurrentState>> current_state(const Request& request,
                                                                  const core::StoredResponse& stored);

}  // namespace oncegate::proxy
