#pragma once
// What became of one request: the values that metrics and access log are made of. Filled on the way, written in one
// place (session).

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace oncegate::proxy {

/// The `outcome` label of contract §5.
enum class Outcome : std::uint8_t {
    forwarded,
    replayed,
    refreshed,
    in_flight,
    key_reused,
    key_missing,
    key_invalid,
    key_expired,
    principal_missing,
    unauthorized,
    accepted,
    outcome_unknown,
    not_replayable,
    store_unavailable,
    bad_gateway,
    timeout,
    passthrough,
    rejected,
};

inline constexpr std::array<std::string_view, 18> outcome_names{
    "forwarded",      "replayed",          "refreshed",         "in_flight",    "key_reused",  "key_missing",
    "key_invalid",    "key_expired",       "principal_missing", "unauthorized", "accepted",    "outcome_unknown",
    "not_replayable", "store_unavailable", "bad_gateway",       "timeout",      "passthrough", "rejected"};

constexpr std::string_view name_of(Outcome outcome) { return outcome_names[static_cast<std::size_t>(outcome)]; }

struct Report {
    std::string_view route;   ///< of the configuration, which outlives the report; empty: no route
    std::string_view method;  ///< of the request head, like the path
    std::string_view path;    ///< without the query, which may hold secrets
    Outcome outcome = Outcome::rejected;
    int status = 0;             ///< as sent; 0: the client was gone before anything was sent
    std::string key_hash;       ///< keyed hash over scope and key (R40)
    std::string key;            ///< filled with `log.keys: plain` only
    std::string fingerprint;    ///< first digits
    std::uint32_t attempt = 0;  ///< 0: none was made
    bool replayed = false;
    std::optional<Outcome> would_be;  ///< in shadow mode: what the request would have got
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
    std::chrono::nanoseconds total{0};
    std::chrono::nanoseconds upstream{0};
    std::chrono::nanoseconds store{0};
    std::string trace_id;
    std::string client;
};

/// Adds the time from construction to destruction to a duration of the report.
class Stopwatch {
 public:
    explicit Stopwatch(std::chrono::nanoseconds& total) : total_(total) {}
    ~Stopwatch() { total_ += std::chrono::steady_clock::now() - start_; }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

 private:
    std::chrono::nanoseconds& total_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace oncegate::proxy
