#pragma once
// Which servers of an upstream are worth trying: what the active checks found (net/health_checker) and what requests
// met. One object an upstream, shared by the pools of all threads; nothing here connects or waits.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace oncegate::net {

enum class ServerChange : std::uint8_t {
    went_down,  ///< by active checks
    came_up,    ///< by active checks
    ejected,    ///< failed too often in a row
    returned,   ///< answered again after an ejection
};

/// Hears of changes, for log and metrics. Of a server that is down only that it came up: it is then back altogether.
class HealthObserver {
 public:
    virtual ~HealthObserver() = default;
    /// From any thread, one call at a time. Must not block nor call back. `server`: its place in the configuration.
    virtual void server_changed(std::size_t server, ServerChange change, std::string_view reason) = 0;
};

/// When a server is left out for what requests met.
struct Ejection {
    unsigned failures = 0;  ///< in a row; 0: never
    std::chrono::milliseconds time{10'000};
};

/// Safe from any thread. Without trouble its calls are a few relaxed loads.
class UpstreamHealth {
 public:
    using clock = std::chrono::steady_clock;
    enum class Verdict : std::uint8_t { up, down };

    /// Every server begins well. `observer` may be null.
    UpstreamHealth(std::size_t servers, Ejection ejection, std::unique_ptr<HealthObserver> observer = nullptr);

    /// Whether a request may go to the server. After an ejection's time it may, until somebody is admitted.
    bool usable(std::size_t server, clock::time_point now) const;

    /// The same for somebody who now tries. After an ejection's time it admits one try; the next when that one has
    /// answered, or after the time again when nothing was heard of it.
    bool admit(std::size_t server, clock::time_point now);

    /// The server sent a response head, whatever its status.
    void answered(std::size_t server);

    /// A connect or handshake failed, or a connection broke or timed out before a response head. Ejects the server
    /// after so many in a row: for `Ejection::time`, and for a multiple (2, 4, 8, at most 10) when it fails right
    /// after. The only server of an upstream is never ejected.
    void failed(std::size_t server, clock::time_point now);

    /// What the active checks have come to.
    void judge(std::size_t server, Verdict verdict, std::string_view reason);
    Verdict verdict(std::size_t server) const;

    /// How often the server went down or was ejected: who keeps idle connections to it compares.
    std::uint64_t falls(std::size_t server) const;
    /// The sum of all servers' falls.
    std::uint64_t falls() const { return falls_.load(std::memory_order_acquire); }

    std::size_t servers() const { return servers_.size(); }

 private:
    struct Server {
        std::atomic<bool> down = false;
        std::atomic<clock::rep> out_until = 0;  ///< 0: not ejected; later than now: left out
        std::atomic<unsigned> failures = 0;     ///< in a row
        std::atomic<std::uint64_t> falls = 0;
        bool on_trial = false;  ///< somebody was admitted after an ejection; guarded
        unsigned rounds = 0;    ///< ejections without an answer between them; guarded
    };
    void fall(Server& server);
    void tell(const Server& server, ServerChange change, std::string_view reason);

    std::vector<Server> servers_;
    Ejection ejection_;
    std::unique_ptr<HealthObserver> observer_;
    std::mutex mutex_;  ///< of every change
    std::atomic<std::uint64_t> falls_ = 0;
};

}  // namespace oncegate::net
