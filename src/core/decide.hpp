#pragma once
// The decision (design: "a pure function"): what a keyed request gets, given its policy, the record that stood when it
// tried to claim, and what is known of the request. No I/O, no clock. The exchange carries out the action and nothing
// else.

#include <optional>
#include <variant>

#include "core/policy.hpp"
#include "core/problem.hpp"
#include "core/record.hpp"

namespace oncegate::core {

/// How the request compares with the record that stands.
enum class Sameness : std::uint8_t { same, differs };

/// Whether a request that meets a running one may still wait for it.
enum class Patience : std::uint8_t { fresh, exhausted };

struct Facts {
    Sameness fingerprint = Sameness::same;
    Patience patience = Patience::fresh;
};

struct Forward {};         ///< nothing stands in the way: with a claim of ours reach the upstream, else claim anew
struct Replay {};          ///< give the recorded response
struct Wait {};            ///< a request with this key runs: wait for it, then look again
struct Ask {};             ///< ask the upstream whether the unknown attempt was done
struct TakeOver {};        ///< claim the next attempt of an unknown record, then forward
struct SettleAsFailed {};  ///< claim the unknown record and record the failure as its result; nothing is forwarded
struct Reject {
    ProblemKind kind;
    friend bool operator==(const Reject&, const Reject&) = default;
};

using Action = std::variant<Forward, Replay, Wait, Ask, TakeOver, SettleAsFailed, Reject>;

/// `standing`: the record that kept us from claiming; null when the claim succeeded.
Action decide(const Policy& policy, const Record* standing, const Facts& facts);

}  // namespace oncegate::core
