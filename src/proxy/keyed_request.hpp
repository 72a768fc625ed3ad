#pragma once
// What is asked, and by whom: key, scope and fingerprint of a request on an enforced route, read before the store or
// the upstream hear of it. What is wrong with them is a value: whether the client is told depends on the policy's mode.

#include <boost/asio/awaitable.hpp>
#include <string>
#include <variant>

#include "core/record.hpp"
#include "core/scope.hpp"
#include "proxy/kept_content.hpp"
#include "proxy/refusal.hpp"
#include "proxy/request.hpp"

namespace oncegate::proxy {

/// The key as the policy reads it, whose it is, and the record's id that the two make.
struct KeyFound {
    std::string key;
    std::vector<core::ScopeValue> scope;
    core::RecordId id{};
};

/// There is no key, and the request may go on without (R5).
struct NoKeyNeeded {};

/// The request is over: its body was at fault, which it has been told, or its client is gone.
struct Over {};

using KeyReading = std::variant<KeyFound, NoKeyNeeded, Refusal, Over>;

/// Reads the content too when the key lies there. Notes the key in the report.
boost::asio::awaitable<KeyReading> find_key(Request& request, KeptContent& content);

/// Everything that names a claim.
struct Ticket {
    core::RecordId id{};
    std::string key;
    std::vector<core::ScopeValue> scope;
    core::Fingerprint fingerprint;
};

/// `content` is read. Notes the fingerprint in the report.
Ticket make_ticket(const Request& request, KeyFound found, const KeptContent& content);

}  // namespace oncegate::proxy
