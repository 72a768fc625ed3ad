#pragma once
// What an attempt's end means for the record, judged by bytes on the wire and the status table (R60-R62, R91). Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "core/policy.hpp"

namespace oncegate::core {

/// The attempt ended without a complete, well-framed response.
struct Failure {
    enum class Cause : std::uint8_t {
        unreachable,  ///< no connection: name, connect, pool exhausted
        broken,       ///< connection closed or reset, or the response was malformed or cut off
        timeout,      ///< a deadline passed
    };
    Cause cause = Cause::broken;
    std::uint64_t bytes_sent = 0;  ///< of this request, handed to the upstream's socket
};

/// A complete, well-framed final response.
struct Answered {
    int status = 0;
    enum class Keeping : std::uint8_t { replayable, too_large, no_store };
    Keeping keeping = Keeping::replayable;
    /// `Idempotency-Outcome` of the upstream, when the policy lets it decide; empty: it said nothing.
    std::string_view outcome_field;
};

using UpstreamOutcome = std::variant<Failure, Answered>;

enum class Verdict : std::uint8_t {
    complete,               ///< record the response
    complete_unreplayable,  ///< record that it was executed, without the response
    complete_failure,  ///< `unknown_outcome: fail`: record the proxy's own 502/504 (or the upstream's) as the result
    release,           ///< nothing was done: the key is free
    unknown,           ///< it may have been done
};

/// `attempt`: 1 for the first forward. From the second on a release becomes unknown: an earlier attempt may have acted.
Verdict classify(const Policy& policy, const UpstreamOutcome& outcome, std::uint32_t attempt);

/// What an upstream's answer to the question "was it done?" means (`unknown_outcome: ask`).
enum class Reply : std::uint8_t { done, not_done, unclear };

/// `status`: of the answer; nothing when there was none.
Reply read_reply(const AskRule& rule, std::optional<int> status);

/// The target of the question about `key`, percent-encoded in its place (RFC 3986 §2.1). Nothing when the
/// key makes a dot segment of its place: that would be another path, however it is written (§5.2.4).
std::optional<std::string> question_target(const AskRule& rule, std::string_view key);

/// The reason kept in an unknown record, for people.
std::string_view reason_text(const UpstreamOutcome& outcome);

}  // namespace oncegate::core
