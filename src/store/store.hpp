#pragma once
// The store as the proxy uses it. One object per io_context; every call from that context's thread, and the result is
// delivered there. An operation that ends in a StoreFault with Certainty::uncertain may have been applied: after such a
// claim the caller must not forward. Conformance suite: tests/store.

#include <boost/asio/awaitable.hpp>
#include <boost/system/result.hpp>
#include <cstddef>
#include <optional>
#include <string>

#include "store/operation.hpp"

namespace oncegate::store {

template <class T>
using Outcome = boost::system::result<T, StoreFault>;

/// What one step of removal did.
struct Reaped {
    std::size_t records = 0;  ///< that went; a completed record that became a tombstone counts
    bool more = false;        ///< something that may go was left for the next step
};

class Store {
 public:
    virtual ~Store() = default;

    /// Durable before it returns (synchronous commit): a crash at any later point finds the claim (R57).
    virtual boost::asio::awaitable<Outcome<ClaimOutcome>> claim(Claim operation) = 0;
    virtual boost::asio::awaitable<Outcome<Change>> complete(Complete operation) = 0;
    virtual boost::asio::awaitable<Outcome<Change>> release(Release operation) = 0;
    virtual boost::asio::awaitable<Outcome<Change>> mark_unknown(MarkUnknown operation) = 0;
    virtual boost::asio::awaitable<Outcome<Change>> renew(Renew operation) = 0;
    virtual boost::asio::awaitable<Outcome<Change>> put_chunk(PutChunk operation) = 0;
    virtual boost::asio::awaitable<Outcome<std::optional<Record>>> lookup(Lookup operation) = 0;
    virtual boost::asio::awaitable<Outcome<std::optional<std::string>>> get_chunk(GetChunk operation) = 0;

    /// One bounded step of removing what is past its expiry (Backend::reap says what may go, and how much at once).
    /// Waits its turn between batches; call again at once while it says that there is more. A step may remove pieces of
    /// bodies alone, and so no record. Its fault says nothing about other operations and leaves reachable() as it is.
    virtual boost::asio::awaitable<Outcome<Reaped>> reap(std::size_t limit) = 0;

    /// Reaches for the database, connecting when it must; an empty string, or what keeps it from being used.
    virtual boost::asio::awaitable<std::string> probe() = 0;

    /// Whether the last contact succeeded (false before the first); for readiness, not for decisions.
    virtual bool reachable() const = 0;
};

}  // namespace oncegate::store
