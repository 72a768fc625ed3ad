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
    /// `routes`, `upstreams`: names, whose positions the calls below use.
    Metrics(const std::vector<std::string>& routes, const std::vector<std::string>& upstreams,
            std::string_view version);
    ~Metrics() override;

    static constexpr std::size_t no_route = static_cast<std::size_t>(-1);

    void request_done(std::size_t route, Outcome outcome, std::chrono::nanoseconds duration);
    void request_began(std::size_t route);
    void request_ended(std::size_t route);
    void upstream_answered(std::size_t upstream, std::chrono::nanoseconds duration);
    void unrecorded(std::size_t route);
    void expired_key_retry(std::size_t route);
    void takeover(std::size_t route);
    void stale_completion(std::size_t route);
    void reaped(std::size_t records);

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
