#pragma once
// The parts that load_text() is made of, one per top-level key. Each reports what is wrong and leaves defaults in its
// place.

#include <string>
#include <vector>

#include "config/config.hpp"
#include "config/located_yaml.hpp"
#include "config/policy_layer.hpp"
#include "config/problems.hpp"
#include "config/section.hpp"

namespace oncegate::config {

void load_server(const Node& node, Server& server, Problems& problems);
void load_admin(const Node& node, Admin& admin, Problems& problems);
void load_store(const Node& node, Store& store, Problems& problems);
void load_upstreams(const Node& node, std::vector<Upstream>& upstreams, Problems& problems);
void load_routes(const Node& node, const std::vector<Upstream>& upstreams, const NamedPolicies& policies,
                 std::vector<Route>& routes, Problems& problems);
void load_log(const Node& node, Log& log, Problems& problems);
void load_tracing(const Node& node, Problems& problems);

/// Keys of a route that have no effect yet: authorize, jwt, headers, host, upgrade, cors.
void check_later_route_keys(Section& route, Problems& problems);

/// The secret in the file that `node` names, without the line end. Reports a file that cannot be read or is empty.
std::optional<std::string> read_secret(const Node& node, Problems& problems);

}  // namespace oncegate::config
