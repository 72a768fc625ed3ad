#pragma once
// Tells the operator when a server of an upstream goes down, comes up, is ejected or returns: in the program's log and
// as a gauge.

#include <string>
#include <vector>

#include "config/config.hpp"
#include "net/upstream_health.hpp"
#include "proxy/metrics.hpp"
#include "proxy/program_log.hpp"

namespace oncegate::proxy {

/// A server as log and metrics call it: "payments:9000", "unix:/run/app.sock".
std::string server_name(const config::UpstreamServer& server);

/// From any thread, one call at a time. Log and metrics must outlive it.
class ServerNews final : public net::HealthObserver {
 public:
    ServerNews(const config::Upstream& upstream, Metrics& metrics, ProgramLog& log);

    void server_changed(std::size_t server, net::ServerChange change, std::string_view reason) override;

 private:
    std::string upstream_;
    std::vector<std::string> servers_;  ///< as the configuration writes them
    Metrics& metrics_;
    ProgramLog& log_;
};

}  // namespace oncegate::proxy
