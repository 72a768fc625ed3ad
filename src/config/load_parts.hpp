#pragma once
// The parts that load_text() is made of, one per top-level key. Each reports what is wrong and leaves defaults in its
// place.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "config/located_yaml.hpp"
#include "config/policy_layer.hpp"
#include "config/problems.hpp"
#include "config/section.hpp"

namespace oncegate::config {

void load_server(const Node& node, Server& server, Problems& problems);
void load_listener_tls(const Node& node, Listener& listener, Problems& problems);
void load_admin(const Node& node, Admin& admin, Problems& problems);
void load_store(const Node& node, Store& store, Problems& problems);
void load_upstreams(const Node& node, std::vector<Upstream>& upstreams, Problems& problems);

/// Reports listeners, and the admin listener among them, whose addresses take each other in: `0.0.0.0:80` beside
/// `127.0.0.1:80`.
void check_binds(const Node& root, const Admin& admin, Problems& problems);

/// Whether the servers were read without a fault, so that something may be said about what is among them.
enum class ServersSound : bool { no, yes };
void load_upstream_tls(const Node& node, Upstream& upstream, ServersSound servers, Problems& problems);

/// What routes refer to. An upstream that a route's `authorize` needs is added.
struct RouteSurroundings {
    std::vector<Upstream>& upstreams;
    const NamedPolicies& policies;
    /// Whether a listener asks for client certificates; unknown when the listeners themselves are wrong.
    enum class ClientCertificates : std::uint8_t { none, asked_for, unknown } client_certificates;
};
void load_routes(const Node& node, const RouteSurroundings& around, std::vector<Route>& routes, Problems& problems);
void load_log(const Node& node, Log& log, Problems& problems);
void load_tracing(const Node& node, Problems& problems);

/// GET, HEAD, OPTIONS, TRACE (RFC 9110 §9.2.1): never enforced (R2), and the ones that may be tried again.
bool is_safe(std::string_view method);

/// `host`, `headers`, `upgrade`, `retries`: how the route's requests are passed on. Its match and policy are there.
void load_forwarding(Section& section, Route& route, Problems& problems);

/// `cors`. The route's edits are there.
void load_cors(Section& section, Route& route, Problems& problems);

/// `authorize`: asks a service whose upstream is among `upstreams` afterwards.
void load_authorize(const Node& node, std::vector<Upstream>& upstreams, Route& route, Problems& problems);
void load_jwt(const Node& node, Route& route, Problems& problems);

/// What of a route these are; null: not written.
struct AccessNodes {
    const Node* authorize = nullptr;
    const Node* jwt = nullptr;
};
/// Reports what has no effect, or goes against the key. The route's policy is there, and everything is sound in itself.
void check_access(const AccessNodes& nodes, const Route& route, Problems& problems);

/// Reports scope parts that nothing of the route brings. Its jwt and authorize are there.
void check_scope_sources(const ResolvedPolicy& resolved, const Route& route, Problems& problems);

/// The path of a file that can be opened now.
std::optional<std::string> readable_file(const Node& node, Problems& problems);

/// The secret in the file that `node` names, without the line end. Reports a file that cannot be read or is empty.
std::optional<std::string> read_secret(const Node& node, Problems& problems);

}  // namespace oncegate::config
