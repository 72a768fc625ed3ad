#pragma once
// The keys that this process is busy with. A duplicate that arrives here costs no query and is woken, not polled
// (design §5). It only ever saves work: who may forward is decided by the store's claim alone.

#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <variant>
#include <vector>

#include "async/one_shot.hpp"
#include "core/record.hpp"

namespace oncegate::proxy {

/// Thread-safe; one for the process. Must outlive its permits and watches.
class InFlight {
 public:
    enum class Phase : std::uint8_t {
        looking,  ///< the store is being asked: nothing is known yet
        running,  ///< a request with this key is being forwarded, here or elsewhere
    };

    /// What a watcher learns.
    struct News {
        Phase phase = Phase::running;
        bool over = false;                           ///< the permit was given up
        std::shared_ptr<const core::Record> record;  ///< with `over`: what stands now; null: look again
    };

    /// Held by the one exchange that talks to the store about a key. Given up by leave() or by destruction. Any thread.
    class Permit {
     public:
        Permit(Permit&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)), id_(other.id_) {}
        Permit& operator=(Permit&&) = delete;
        ~Permit() { leave(nullptr); }

        /// The key is now known to be running: those who came in while it was being looked up hear of it.
        void running();

        /// Gives the key up. `record`: a finished record that duplicates may answer from; null when they must look
        /// again.
        void leave(std::shared_ptr<const core::Record> record);

     private:
        friend class InFlight;
        Permit(InFlight* owner, const core::RecordId& id) : owner_(owner), id_(id) {}
        InFlight* owner_;
        core::RecordId id_;
    };

    /// Someone else holds the permit.
    class Watch {
     public:
        Watch(Watch&&) noexcept = default;
        Watch& operator=(Watch&&) = delete;
        ~Watch();

        Phase phase() const { return phase_; }
        /// How many were waiting for this key before.
        std::size_t ahead() const { return ahead_; }
        /// Of the request that holds the permit.
        const core::Fingerprint& fingerprint() const { return fingerprint_; }

        /// The next change, or nothing within `limit`: it may then be asked for again.
        boost::asio::awaitable<std::optional<News>> news(std::chrono::milliseconds limit);

     private:
        friend class InFlight;
        struct Waiter;
        Watch(InFlight* owner, const core::RecordId& id) : owner_(owner), id_(id) {}
        InFlight* owner_;
        core::RecordId id_;
        Phase phase_ = Phase::looking;
        std::size_t ahead_ = 0;
        core::Fingerprint fingerprint_;
        std::shared_ptr<Waiter> waiter_;
    };

    using Entered = std::variant<Permit, Watch>;

    /// `executor`: of the calling exchange, where a watcher is woken.
    Entered enter(const core::RecordId& id, const core::Fingerprint& fingerprint,
                  const boost::asio::any_io_executor& executor);

    /// Keys held now.
    std::size_t size() const;

 private:
    struct Entry {
        Phase phase = Phase::looking;
        core::Fingerprint fingerprint;
        std::vector<std::shared_ptr<Watch::Waiter>> waiters;
    };
    struct IdHash {
        std::size_t operator()(const core::RecordId& id) const;
    };
    struct Shard {
        mutable std::mutex mutex;
        std::unordered_map<core::RecordId, Entry, IdHash> entries;
    };

    Shard& shard_of(const core::RecordId& id) { return shards_[id[31] % shards_.size()]; }
    void mark_running(const core::RecordId& id);
    void end(const core::RecordId& id, std::shared_ptr<const core::Record> record);
    void forget(const core::RecordId& id, const std::shared_ptr<Watch::Waiter>& waiter);

    std::array<Shard, 32> shards_;
};

}  // namespace oncegate::proxy
