#pragma once
// The token that `scope: jwt:CLAIM` reads, taken from the request and verified (R36). What it says counts only after
// that.

#include <boost/json/object.hpp>
#include <optional>

#include "proxy/refusal.hpp"
#include "proxy/request.hpp"

namespace oncegate::proxy {

struct TokenReading {
    std::optional<Refusal> refusal;             ///< the request carries a token that is not good
    std::optional<boost::json::object> claims;  ///< of a verified one
};

/// The claims of the verified token; neither, when the request carries none or its route verifies none. No I/O.
TokenReading read_token(const Request& request);

}  // namespace oncegate::proxy
