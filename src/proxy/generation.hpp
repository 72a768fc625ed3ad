#pragma once
// One loaded configuration with everything that is made of it. A reload makes the next generation; a request keeps the
// one it began with until it is over, so that no request ever sees two configurations.

#include <boost/system/result.hpp>
#include <memory>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "core/fingerprint.hpp"
#include "core/jwt.hpp"
#include "core/route_table.hpp"
#include "net/health_checker.hpp"
#include "net/tls_client.hpp"
#include "net/tls_server.hpp"
#include "net/upstream_health.hpp"
#include "net/upstream_pool.hpp"
#include "proxy/metrics.hpp"
#include "proxy/program_log.hpp"

namespace oncegate::proxy {

/// Shared by all threads and never changed. Positions are those of the configuration.
class Generation {
 public:
    struct Upstream {
        Metrics::Upstream* counts = nullptr;        ///< never null
        std::shared_ptr<const net::TlsClient> tls;  ///< null: no server is https
        core::Digest files{};                       ///< of what its TLS files hold
        std::shared_ptr<net::UpstreamHealth> health;
    };

    /// Reads what the configuration names (certificates, keys); the error says which file and why. Upstreams that are
    /// as in `before` (which may be null) keep what is known of their health, and listeners whose files hold what they
    /// held keep their TLS sessions. Metrics and log must outlive it.
    static boost::system::result<std::shared_ptr<const Generation>, std::string> make(config::Config config,
                                                                                      Metrics& metrics, ProgramLog& log,
                                                                                      const Generation* before);

    const config::Config& config() const { return config_; }
    const core::RouteTable& routes() const { return routes_; }
    Metrics::Route& route_counts(std::size_t route) const { return *route_counts_[route]; }
    const Upstream& upstream(std::size_t index) const { return upstreams_[index]; }
    /// How tokens of a route are verified. The route has a `jwt`.
    const core::TokenRules& token_rules(std::size_t route) const { return token_rules_[route]; }
    /// One for each upstream that is to be checked.
    std::vector<net::HealthCheckOptions> health_checks() const;
    /// Null for a listener without TLS.
    const std::shared_ptr<const net::TlsServer>& listener_tls(std::size_t listener) const {
        return listener_tls_[listener];
    }

 private:
    explicit Generation(config::Config config);

    std::string read_files(const Generation* before);
    std::string read_listener_files(const config::Listener& listener, const Generation* before);
    std::string read_token_keys(const config::Route& route);
    std::string read_upstream_files(const config::Upstream& upstream, const Generation* before);
    void prepare(Metrics& metrics, ProgramLog& log, const Generation* before);

    config::Config config_;
    core::RouteTable routes_;
    std::vector<Metrics::Route*> route_counts_;
    std::vector<Upstream> upstreams_;
    std::vector<core::TokenRules> token_rules_;  ///< by route; empty for those without a `jwt`
    std::vector<std::shared_ptr<const net::TlsServer>> listener_tls_;
    std::vector<core::Digest> listener_files_;  ///< of what the TLS files of each listener hold
};

/// Which of how many workers.
struct Place {
    std::size_t index = 0;
    std::size_t workers = 1;
};

/// What one of `workers` gets of a number that all share: at least one each, so that a small number grows.
std::size_t share_of(std::size_t total, std::size_t index, std::size_t workers);

/// A generation as one worker has it: with its own connections to the upstreams. On the worker's thread only.
class LocalGeneration {
 public:
    /// Connections to upstreams that are as in `before` (which may be null) are taken over from it. `open_connections`
    /// counts those to upstreams and must outlive all of them.
    LocalGeneration(std::shared_ptr<const Generation> generation, const boost::asio::any_io_executor& executor,
                    Place place, std::atomic<int>& open_connections, const LocalGeneration* before);

    const Generation& shared() const { return *generation_; }
    const config::Config& config() const { return generation_->config(); }
    net::UpstreamPool& pool(std::size_t upstream) const { return *pools_[upstream]; }

    /// Closes idle connections, and those in use when they come back; but for what `next` (which may be null) took
    /// over.
    void retire(const LocalGeneration* next);

 private:
    std::shared_ptr<const Generation> generation_;
    std::vector<std::shared_ptr<net::UpstreamPool>> pools_;
};

}  // namespace oncegate::proxy
