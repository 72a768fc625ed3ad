#pragma once
// Every metric of contract §5 that exists, registered once and found by plain calls. One object for the process; all
// calls from any thread.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/outcome.hpp"
#include "store/batcher.hpp"

namespace oncegate::proxy {

class Metrics final : public store::StoreObserver {
 public:
    explicit Metrics(std::string_view version);
    ~Metrics() override;

    /// What is counted of one route, or of one upstream. A name keeps its counts when the configuration is loaded anew.
    /// Valid for as long as the metrics are.
    class Route;
    class Upstream;
    Route& route(const std::string& name);
    Upstream& upstream(const std::string& name);
    /// Of requests that no route matched.
    Route& unmatched();

    void request_done(Route& route, Outcome outcome, std::chrono::nanoseconds duration);
    static void request_began(Route& route);
    static void request_ended(Route& route);
    static void upstream_answered(Upstream& upstream, std::chrono::nanoseconds duration);
    static void unrecorded(Route& route);
    static void expired_key_retry(Route& route);
    static void takeover(Route& route);
    static void stale_completion(Route& route);
    static void keyless(Route& route);
    static void suspected_duplicate(Route& route);
    /// In shadow mode: what the request would have got.
    void shadowed(Route& route, Outcome would_be);
    void reaped(std::size_t records);

    /// What an upstream did wrong, or what kept a connection to it from coming about.
    enum class Failure : std::uint8_t { connect, broken, timeout, malformed };
    static void upstream_failed(Upstream& upstream, Failure kind);

    /// What a connection must bring before HTTP, and did not.
    enum class Entrance : std::uint8_t { tls, proxy_header };
    void entrance_failed(Entrance what);

    enum class ServerUse : std::uint8_t { left_out, used };
    /// Whether requests go to this server of an upstream.
    void server_use(const std::string& upstream, const std::string& server, ServerUse use);
    /// The server is in no configuration any more.
    void forget_server(const std::string& upstream, const std::string& server);

    enum class Reload : std::uint8_t { taken, refused };
    /// A configuration was loaded anew, or could not be.
    void reloaded(Reload result);

    void client_connections(int change);
    /// Counts the open connections to upstreams; read when the text is made.
    std::atomic<int>& upstream_connections() { return upstream_connections_; }

    void operation_done(std::string_view operation, std::chrono::nanoseconds queued_and_run) override;
    void batch_done(std::size_t operations) override;
    void fault(const store::StoreFault& fault) override;

    /// Prometheus text format, whole.
    std::string text() const;

 private:
    struct Families;
    std::unique_ptr<Families> families_;
    std::atomic<int> upstream_connections_{0};
};

}  // namespace oncegate::proxy
