#pragma once
// Active health checks of one upstream: asks every server for a path now and then, and tells UpstreamHealth what came
// of it. Runs once a process, whatever the number of pools.

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>
#include <vector>

#include "net/resolver.hpp"
#include "net/tls_client.hpp"
#include "net/upstream_health.hpp"
#include "net/upstream_server.hpp"

namespace oncegate::net {

struct HealthCheckOptions {
    std::vector<UpstreamServer> servers;
    std::shared_ptr<UpstreamHealth> health;  ///< of these servers in this order
    std::shared_ptr<const TlsClient> tls;    ///< for https servers; may be null when there are none
    std::string tls_server_name;             ///< empty: the server's host
    std::string path;                        ///< "/healthz", perhaps with a query
    milliseconds interval{5'000};            ///< from the beginning of one check to that of the next
    milliseconds limit{5'000};               ///< of a whole check; never more than the interval
    unsigned unhealthy_after = 3;            ///< failures in a row
    unsigned healthy_after = 2;              ///< successes in a row
    Resolver::LookUp look_up;                ///< of names; empty: the system's
};

/// Checks until it is cancelled (terminal); every check under way has ended when it does. A server is well when it
/// answers `GET path` with a 2xx or 3xx and a body whose framing holds. Servers are checked independently of each
/// other.
asio::awaitable<void> check_health(HealthCheckOptions options);

}  // namespace oncegate::net
