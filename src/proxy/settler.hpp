#pragma once
// Settles records whose settling failed at first: the upstream's part is over, the client has its answer, and only the
// store was away (R72). Tries again, with growing pauses, until the store says yes or that the record has moved on.

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <variant>

#include "async/task_set.hpp"
#include "proxy/chunk_writer.hpp"
#include "proxy/in_flight.hpp"
#include "proxy/lease_keeper.hpp"
#include "proxy/metrics.hpp"
#include "proxy/program_log.hpp"
#include "store/store.hpp"

namespace oncegate::proxy {

using Settlement = std::variant<store::Complete, store::Release, store::MarkUnknown>;

/// Applies one settlement. A fault means that it is not known to be applied.
boost::asio::awaitable<store::Outcome<store::Change>> settle(store::Store& store, Settlement settlement);

/// A settlement on its way to the store, with what it holds on to meanwhile.
struct Unsettled {
    Settlement settlement;
    Metrics::Route* route = nullptr;  ///< never null
    InFlight::Permit permit;          ///< keeps duplicates of this process in order
    LeaseKeeper::Guard lease;
    std::unique_ptr<LateBody> late_body;  ///< stored before a completion; null: there is none
};

/// Not thread-safe.
class Settler {
 public:
    Settler(store::Store& store, async::TaskSet& tasks, ProgramLog& log, const std::atomic<bool>& draining)
        : store_(store), tasks_(tasks), log_(log), draining_(draining) {}

    /// Goes on trying in the background, for an hour at most. When too much is waiting already the settlement is
    /// dropped: the lease then passes, and the outcome is unknown, which is the truth.
    void later(Unsettled unsettled);

    /// Lets go of a claim whose result never arrived. A first attempt is freed, since nothing was sent for it; one that
    /// took over goes back to unknown. Said again twice after it was heard: a claim that a stalled database still has
    /// before it may be carried out after the release.
    void let_go(const core::RecordId& id, const core::OwnerToken& owner);

    std::size_t waiting() const { return waiting_; }

 private:
    /// Counts a task and its bytes against the bounds for as long as it lives.
    class Waiting;

    boost::asio::awaitable<void> settle_later(Unsettled unsettled);
    boost::asio::awaitable<void> insist(core::RecordId id, core::OwnerToken owner);
    boost::asio::awaitable<store::Outcome<store::Change>> try_once(Unsettled& unsettled);
    boost::asio::awaitable<void> let_go_once(core::RecordId id, core::OwnerToken owner);
    bool full(std::uint64_t memory_bytes, std::uint64_t file_bytes) const;

    store::Store& store_;
    async::TaskSet& tasks_;
    ProgramLog& log_;
    const std::atomic<bool>& draining_;
    std::size_t waiting_ = 0;
    std::uint64_t memory_bytes_ = 0;
    std::uint64_t file_bytes_ = 0;
};

}  // namespace oncegate::proxy
