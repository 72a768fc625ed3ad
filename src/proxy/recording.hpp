#pragma once
// A response on its two ways: to the record and to the client. A small one is recorded first and sent then. A large one
// streams to the client while its chunks are stored, and its last piece is held back until the record is complete: no
// client ever holds a whole answer that the record does not.

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>

#include "core/classify.hpp"
#include "core/record.hpp"
#include "proxy/attempt.hpp"
#include "proxy/chunk_writer.hpp"
#include "proxy/in_flight.hpp"
#include "proxy/keyed_request.hpp"
#include "proxy/request.hpp"

namespace oncegate::proxy {

/// The claim that a delivery settles.
struct Held {
    store::Hold hold;
    std::int64_t created_ms = 0;
    InFlight::Permit permit;
    LeaseKeeper::Guard lease;
};

/// Lives in its exchange's frame; used once.
class Recording {
 public:
    Recording(Request& request, const Ticket& ticket, Held held)
        : request_(request), policy_(*request.route.policy), ticket_(ticket), held_(std::move(held)) {}

    /// The attempt answered with `head`: reads the body, settles the record, answers the client.
    boost::asio::awaitable<void> deliver(Attempt& attempt, core::ResponseHead head);

    /// The attempt ended without an answer: settles the record and says so to the client.
    boost::asio::awaitable<void> broken_off(core::Failure failure);

    /// The lease passed before a byte was sent: gives up what is left of the claim and says so to the client.
    boost::asio::awaitable<void> settle_as_unsent();

    /// Records the proxy's own 502 as the result of an attempt that nobody will hear of again (`unknown_outcome:
    /// fail`).
    boost::asio::awaitable<void> settle_as_failed();

    enum class Settled : std::uint8_t { yes, not_yet };

    /// The upstream was asked and says that it was done (`unknown_outcome: ask`): its answer is the recorded response.
    boost::asio::awaitable<void> settle_as_done(core::ResponseHead received, std::string body);
    /// It says that it was not done: the key is free.
    boost::asio::awaitable<Settled> settle_as_not_done();
    /// It does not say.
    boost::asio::awaitable<Settled> settle_as_unclear();

 private:
    boost::asio::awaitable<void> deliver_whole(core::ResponseHead head, std::string body, core::Answered answer);
    boost::asio::awaitable<void> deliver_stream(Attempt& attempt, core::ResponseHead head, std::string begun,
                                                core::Answered answer);
    boost::asio::awaitable<void> cut_off(core::Failure failure);

    boost::asio::awaitable<Settled> settle_record(core::Verdict verdict, const core::UpstreamOutcome& outcome,
                                                  std::shared_ptr<const core::StoredResponse> response);
    boost::asio::awaitable<Settled> settle_by(Settlement settlement, std::shared_ptr<const core::Record> standing);
    /// Records the proxy's own answer as the result, and gives it.
    boost::asio::awaitable<std::shared_ptr<const core::StoredResponse>> record_failure(core::ProblemKind kind);
    boost::asio::awaitable<void> send_recorded(const core::StoredResponse& response);

    std::shared_ptr<core::StoredResponse> response_of(const core::ResponseHead& head) const;
    std::shared_ptr<const core::Record> record_of(core::State state,
                                                  std::shared_ptr<const core::StoredResponse> response) const;
    /// Whether the answer is passed on as it comes: a stream of events, and in shadow mode every one.
    bool flows(const core::Fields& fields) const;
    /// In shadow mode the client hears nothing of the proxy.
    bool tells() const { return policy_.mode != core::Mode::shadow; }
    core::Answered::Keeping keeping_of(const core::ResponseHead& head) const;

    Request& request_;
    const core::Policy& policy_;
    const Ticket& ticket_;
    Held held_;
    std::unique_ptr<LateBody> late_body_;  ///< of a streamed answer during which the store failed
};

}  // namespace oncegate::proxy
