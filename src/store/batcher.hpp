#pragma once
// Gathers single operations into batches: while one batch is being committed the next one gathers. No timer and no
// added delay when idle, large batches when busy (design §4). One batcher per io_context, over one or more backends of
// it.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "store/backend.hpp"
#include "store/store.hpp"

namespace oncegate::store {

/// Hears what the batcher does; called on its io_context's thread.
class StoreObserver {
 public:
    virtual ~StoreObserver() = default;
    virtual void operation_done(std::string_view operation, std::chrono::nanoseconds queued_and_run) = 0;
    virtual void batch_done(std::size_t operations) = 0;
    virtual void fault(const StoreFault& fault) = 0;
};

struct BatcherLimits {
    std::size_t batch_operations = 128;     ///< most operations in a batch
    std::size_t batch_bytes = 4U << 20;     ///< bodies in a batch, after which it is closed
    std::size_t queue_operations = 10'000;  ///< waiting; beyond: StoreFault overloaded
    std::size_t queue_bytes = 64U << 20;    ///< bodies waiting; likewise
    milliseconds operation_timeout{2000};   ///< an operation's whole time, from the call on: store.timeout
};

/// An operation whose time passes while it waits is taken out of the queue: StoreFault timeout, not applied. One that
/// is in a batch under way gets timeout, uncertain; what becomes of it later is nobody's concern, but operations on the
/// same record still wait for that batch.
std::unique_ptr<Store> make_batched_store(boost::asio::any_io_executor executor,
                                          std::vector<std::unique_ptr<Backend>> backends, BatcherLimits limits,
                                          StoreObserver& observer);

}  // namespace oncegate::store
