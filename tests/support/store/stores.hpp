#pragma once
// The stores that the conformance suite holds to one meaning, each with a clock that the test can move.

#include <array>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>

#include "store/batcher.hpp"
#include "support/run.hpp"

namespace oncegate::test {

/// One empty store of some kind.
class StoreUnderTest {
 public:
    virtual ~StoreUnderTest() = default;
    /// The database; further calls of open() give the same store as another process would see it.
    virtual store::Database& database() = 0;
    virtual std::unique_ptr<store::Database> open() = 0;
    /// Moves the store's clock.
    virtual void advance(store::milliseconds by) = 0;
    /// What another process opens with open_database(); empty when there is no such way.
    virtual std::string url() const = 0;
    virtual std::string schema() const { return "oncegate"; }
    /// How many pieces of bodies lie in the store, whoever wrote them.
    virtual std::size_t chunks() = 0;
};

enum class Kind { memory, sqlite, postgres };

std::unique_ptr<StoreUnderTest> make_store(Kind kind);

class IgnoringObserver final : public store::StoreObserver {
 public:
    void operation_done(std::string_view, std::chrono::nanoseconds) override {}
    void batch_done(std::size_t operations) override { largest_batch = std::max(largest_batch, operations); }
    void fault(const store::StoreFault&) override { ++faults; }

    std::size_t largest_batch = 0;
    std::size_t faults = 0;
};

/// A store as one io_context of the program has it, with every operation as a plain call.
class Client {
 public:
    explicit Client(store::Database& database, store::BatcherLimits limits = {});
    ~Client();

    store::Outcome<store::ClaimOutcome> claim(store::Claim operation) {
        return run(io, store->claim(std::move(operation)));
    }
    store::Outcome<store::Change> complete(store::Complete operation) {
        return run(io, store->complete(std::move(operation)));
    }
    store::Outcome<store::Change> release(const store::Hold& hold) {
        return run(io, store->release(store::Release{hold}));
    }
    store::Outcome<store::Change> mark_unknown(const store::Hold& hold, std::string reason) {
        return run(io, store->mark_unknown(store::MarkUnknown{hold, std::move(reason)}));
    }
    store::Outcome<store::Change> renew(const store::Hold& hold, store::milliseconds lease) {
        return run(io, store->renew(store::Renew{hold, lease}));
    }
    store::Outcome<store::Change> put_chunk(const store::Hold& hold, std::uint32_t index, std::string bytes) {
        return run(io, store->put_chunk(store::PutChunk{hold, index, std::move(bytes)}));
    }
    store::Outcome<std::optional<store::Record>> lookup(const store::RecordId& id) {
        return run(io, store->lookup(store::Lookup{id}));
    }
    /// A piece of the body that `record` says it has.
    store::Outcome<std::optional<std::string>> get_chunk(const store::Record& record, std::uint32_t index) {
        return run(io, store->get_chunk(store::GetChunk{record.id, record.attempt, index, record.created_ms}));
    }
    store::Outcome<store::Reaped> reap(std::size_t limit) { return run(io, store->reap(limit)); }

    boost::asio::io_context io;
    IgnoringObserver observer;
    std::unique_ptr<store::Store> store;
};

/// An id whose bytes all depend on `number`.
store::RecordId id_of(std::uint32_t number);
/// A token that no other call returns.
store::OwnerToken new_owner();
core::Fingerprint fingerprint_of(std::string_view request);
/// A claim of `id` with a fresh owner, a lease of a minute and a ttl of a day.
store::Claim claim_of(const store::RecordId& id, std::string_view request = "POST /v1/payments");
/// What the claimant holds when it was granted `attempt`.
store::Hold hold_of(const store::Claim& claim, std::uint32_t attempt = 1);
std::shared_ptr<const core::StoredResponse> response_of(std::string body);
store::Complete completion_of(const store::Hold& hold, std::string body);

/// The claim, or a failed test.
store::Claimed claimed(const store::Outcome<store::ClaimOutcome>& outcome);
/// The record that stood in the way, or a failed test.
store::Record standing(const store::Outcome<store::ClaimOutcome>& outcome);
/// The change, or a failed test.
store::Change changed(const store::Outcome<store::Change>& outcome);
/// The record, or a failed test.
store::Record found(const store::Outcome<std::optional<store::Record>>& outcome);
/// Whether the look-up found nothing; a fault is a failed test.
bool is_absent(const store::Outcome<std::optional<store::Record>>& outcome);
/// The piece of a body, if it is there; a fault is a failed test.
std::optional<std::string> piece(const store::Outcome<std::optional<std::string>>& outcome);
/// How many records a step of removal took; a fault is a failed test.
std::size_t gone(const store::Outcome<store::Reaped>& outcome);
/// Steps of removal until nothing is left to remove; how many records went.
std::size_t gone_in_the_end(Client& client);

}  // namespace oncegate::test
