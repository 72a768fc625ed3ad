#pragma once
// The payments API behind `oncegate demo-upstream`: answers requests and counts what it really executes, so that a
// retry that came through twice shows. Knows nothing of sockets; demo_upstream serves it. A demonstration, not a model
// of a ledger.

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/http_message.hpp"

namespace oncegate::app {

struct DemoReply {
    core::ResponseHead head;
    std::string body;
    std::chrono::milliseconds delay{0};  ///< to wait before answering
};

/// Not thread-safe. Remembers the latest payments and keys only; the counts go on.
class DemoPayments {
 public:
    /// The answer to one complete request. `unix_seconds`: now, for the Date field.
    ///   POST /v1/payments            creates a payment from JSON or a form: 201, Location, two Set-Cookie lines
    ///   GET  /v1/payments, /{id}     what was created
    ///   POST /v1/slow?ms=N           executes, and answers after N milliseconds (a minute at most)
    ///   POST /v1/fail?status=NNN     executes, and answers 4xx or 5xx
    ///   POST /v1/echo                executes, and answers with the bytes it got
    ///   GET  /count                  how many operations were executed, in all and by key
    ///   GET  /healthz
    DemoReply answer(const core::RequestHead& head, std::string_view body, std::int64_t unix_seconds);

 private:
    struct Payment {
        std::string id;
        std::int64_t amount = 0;
        std::string currency;
        std::uint64_t execution = 0;
    };

    DemoReply get(std::string_view path) const;
    DemoReply post(const core::RequestHead& head, std::string_view path, std::string_view query, std::string_view body);
    DemoReply create_payment(const core::RequestHead& head, std::string_view body);
    DemoReply list_payments() const;
    DemoReply show_payment(std::string_view id) const;
    DemoReply counts() const;

    /// Counts one operation and returns its number.
    std::uint64_t execute(const core::RequestHead& head);

    std::uint64_t executions_ = 0;
    std::uint64_t created_ = 0;
    std::deque<Payment> payments_;
    std::map<std::string, std::uint64_t, std::less<>> executions_by_key_;
    std::deque<std::string> keys_in_order_;
};

}  // namespace oncegate::app
