#pragma once
// Which requests are preflights that a route's `cors` block answers (Fetch standard, R2): one rule for whoever serves
// and for whoever explains.

#include <optional>

#include "config/config.hpp"
#include "core/route_table.hpp"

namespace oncegate::config {

/// The route whose `cors` block answers this preflight: the one that the announced request would take. Nothing for
/// what is no preflight and for routes without a block: that is an ordinary request.
std::optional<std::size_t> preflight_route(const core::RouteTable& routes, const Config& config,
                                           const core::RequestHead& head);

}  // namespace oncegate::config
