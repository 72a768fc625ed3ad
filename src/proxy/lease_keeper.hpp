#pragma once
// Renews the leases of the attempts that run in this worker, at a third of each lease (R66), for as long as their
// guards live. One loop for all of them; a request shorter than a third of its lease costs nothing but an entry in a
// map.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <utility>

#include "async/task_set.hpp"
#include "store/store.hpp"

namespace oncegate::proxy {

/// Not thread-safe. run() must have returned before it is destroyed; guards may not outlive it.
class LeaseKeeper {
 public:
    /// Renewals run as tasks of `tasks`, so that many due at once travel in one batch.
    LeaseKeeper(const boost::asio::any_io_executor& executor, store::Store& store, async::TaskSet& tasks);

    /// Keeps one lease alive while it exists.
    class Guard {
     public:
        Guard() = default;
        Guard(Guard&& other) noexcept
            : keeper_(std::exchange(other.keeper_, nullptr)), number_(std::exchange(other.number_, 0)) {}
        Guard& operator=(Guard&& other) noexcept {
            std::swap(keeper_, other.keeper_);
            std::swap(number_, other.number_);
            return *this;
        }
        ~Guard() { drop(); }

        /// Stops renewing.
        void drop();

        /// Whether the lease certainly still stands, judged by this host's own clock from before the claim, or the last
        /// renewal that came through, was handed to the store. An attempt asks before its first byte: a process that
        /// was stopped, or cut off from the store, may find its key in other hands.
        bool stands() const { return keeper_ != nullptr && keeper_->stands(number_); }

     private:
        friend class LeaseKeeper;
        Guard(LeaseKeeper* keeper, std::uint64_t number) : keeper_(keeper), number_(number) {}
        LeaseKeeper* keeper_ = nullptr;
        std::uint64_t number_ = 0;
    };

    using Clock = std::chrono::steady_clock;

    /// From now on `hold` is renewed. `claimed`: when its claim was handed to the store.
    Guard keep(const store::Hold& hold, std::chrono::milliseconds lease, Clock::time_point claimed);

    /// The renewing loop; ends by cancellation.
    boost::asio::awaitable<void> run();

    std::size_t size() const { return kept_.size(); }

 private:
    struct Kept {
        store::Hold hold;
        std::chrono::milliseconds lease;
        Clock::time_point since;  ///< of the claim or of the last renewal that came through
        std::multimap<Clock::time_point, std::uint64_t>::iterator due{};  ///< while `waiting`
        bool waiting = false;
    };

    void schedule(std::uint64_t number, Clock::time_point due);
    void start_due();
    boost::asio::awaitable<void> renew_one(std::uint64_t number);
    void forget(std::uint64_t number);
    bool stands(std::uint64_t number) const;

    store::Store& store_;
    async::TaskSet& tasks_;
    boost::asio::steady_timer wake_;
    std::uint64_t last_number_ = 0;
    std::map<std::uint64_t, Kept> kept_;
    std::multimap<Clock::time_point, std::uint64_t> by_due_;
};

}  // namespace oncegate::proxy
