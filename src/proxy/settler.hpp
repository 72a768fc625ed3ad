#pragma once
// Settles records whose settling failed at first: the upstream's part is over, the client has its answer, and only the
// store was away (R72). Tries again, with growing pauses, until the store says yes or that the record has moved on.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <variant>

#include "async/task_set.hpp"
#include "proxy/in_flight.hpp"
#include "proxy/lease_keeper.hpp"
#include "proxy/metrics.hpp"
#include "proxy/program_log.hpp"
#include "store/store.hpp"

namespace oncegate::proxy {

using Settlement = std::variant<store::Complete, store::Release, store::MarkUnknown>;

/// Applies one settlement. A fault means that it is not known to be applied.
boost::asio::awaitable<store::Outcome<store::Change>> settle(store::Store& store, Settlement settlement);

/// Not thread-safe.
class Settler {
 public:
    Settler(store::Store& store, async::TaskSet& tasks, Metrics& metrics, ProgramLog& log)
        : store_(store), tasks_(tasks), metrics_(metrics), log_(log) {}

    /// Goes on trying in the background, for an hour at most. The permit keeps duplicates of this process in order
    /// meanwhile and the guard keeps the lease. When too much is waiting already the settlement is dropped: the lease
    /// then passes, and the outcome is unknown, which is the truth.
    void later(Settlement settlement, std::size_t route, InFlight::Permit permit, LeaseKeeper::Guard guard);

    /// The same for a claim whose result never arrived: nobody waits for it. Said again twice after it was heard, since
    /// a claim that a stalled database still has before it may be carried out after the release.
    void let_go(Settlement settlement, std::size_t route);

    std::size_t waiting() const { return waiting_; }

 private:
    boost::asio::awaitable<void> keep_trying(Settlement settlement, std::size_t route, LeaseKeeper::Guard guard);
    boost::asio::awaitable<void> insist(Settlement settlement, std::size_t route);
    boost::asio::awaitable<void> keep_trying_with_permit(Settlement settlement, std::size_t route,
                                                         InFlight::Permit permit, LeaseKeeper::Guard guard);

    store::Store& store_;
    async::TaskSet& tasks_;
    Metrics& metrics_;
    ProgramLog& log_;
    std::size_t waiting_ = 0;
    std::uint64_t waiting_bytes_ = 0;
};

}  // namespace oncegate::proxy
