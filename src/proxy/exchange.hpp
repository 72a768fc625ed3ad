#pragma once
// One keyed request, from its key to its answer. Carries out what core/decide and core/classify say and reads like
// section 3 of the contract: claim, then by what stood there forward, replay, wait, take over, ask or refuse. In shadow
// mode it is forwarded all the same, and what it would have got is only noted.

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <memory>

#include "core/decide.hpp"
#include "proxy/in_flight.hpp"
#include "proxy/keyed_request.hpp"
#include "proxy/recording.hpp"
#include "proxy/relay.hpp"
#include "proxy/request.hpp"

namespace oncegate::proxy {

/// Lives in the session's frame; used once. The request's route has a policy that is enforced for its method.
class Exchange {
 public:
    explicit Exchange(Request& request) : request_(request), policy_(*request.route.policy), content_(request) {}

    boost::asio::awaitable<void> run();

 private:
    using Clock = std::chrono::steady_clock;

    /// Whether the request has its answer, or must look again at what stands now.
    enum class Progress : std::uint8_t { answered, look_again };

    // What stands: exchange.cpp
    boost::asio::awaitable<void> look();
    boost::asio::awaitable<bool> find_ticket();
    boost::asio::awaitable<void> give(const core::Record& record);
    boost::asio::awaitable<Progress> with_permit(InFlight::Permit permit);
    boost::asio::awaitable<Progress> with_watch(InFlight::Watch watch);
    boost::asio::awaitable<Progress> act_on(InFlight::Permit permit, std::shared_ptr<const core::Record> standing);
    boost::asio::awaitable<Progress> wait_elsewhere(InFlight::Permit permit);
    boost::asio::awaitable<Progress> store_is_down(InFlight::Permit permit, store::StoreFault fault,
                                                   core::OwnerToken owner);
    boost::asio::awaitable<void> answer_from(const core::Record& record);
    boost::asio::awaitable<void> reject(core::ProblemKind kind, const core::Fingerprint* standing);
    boost::asio::awaitable<void> turn_away(Refusal refusal);
    boost::asio::awaitable<void> pass_over(Outcome would_be);
    boost::asio::awaitable<void> pass_on(Mark mark);
    core::Problem problem_of(core::ProblemKind kind, const core::Fingerprint* standing) const;
    core::Facts facts_about(const core::Fingerprint& standing) const;
    core::Fingerprint as_of(const core::Fingerprint& standing) const;
    std::chrono::milliseconds patience_left() const;
    bool shadows() const { return policy_.mode == core::Mode::shadow; }

    // What a claim of ours leads to: exchange_claim.cpp
    store::Claim claim_of(const core::Fingerprint& fingerprint) const;
    Held held_of(InFlight::Permit permit, const store::Claimed& claimed, const core::OwnerToken& owner);
    boost::asio::awaitable<Progress> take_over(InFlight::Permit permit, const core::Record& standing,
                                               core::Action action);
    boost::asio::awaitable<Progress> ask(Held held);
    boost::asio::awaitable<void> forward(InFlight::Permit permit, store::Claimed claimed, core::OwnerToken owner);
    boost::asio::awaitable<bool> still_held(const Held& held);
    boost::asio::awaitable<void> forward_by(Attempt& attempt, Held held);
    void look_for_suspects();
    core::RequestHead upstream_head(const store::Hold& hold) const;

    Request& request_;
    const core::Policy& policy_;
    KeptContent content_;
    std::optional<Ticket> ticket_;
    Clock::time_point wait_until_{};
    mutable std::optional<core::Fingerprint> of_old_;  ///< by the rules of an earlier day, once that was made
    Clock::time_point claim_sent_{};                   ///< when the last claim was handed to the store
    bool waited_ = false;                              ///< since the request was authorised
};

}  // namespace oncegate::proxy
