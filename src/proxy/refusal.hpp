#pragma once
// Why a request gets no further, as a value: whoever holds the request says it to the client, or, in shadow mode, only
// counts it.

#include "core/problem.hpp"
#include "proxy/outcome.hpp"

namespace oncegate::proxy {

struct Refusal {
    core::Problem problem;
    Outcome outcome = Outcome::rejected;
};

}  // namespace oncegate::proxy
