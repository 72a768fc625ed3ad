#pragma once
// What is asked, and by whom: key, scope, body and fingerprint of a request on an enforced route, read before anything
// else happens (R69). Whatever is wrong with them is answered here, before the store or the upstream hear of the
// request.

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>

#include "core/record.hpp"
#include "core/scope.hpp"
#include "net/body_spill.hpp"
#include "proxy/request.hpp"

namespace oncegate::proxy {

/// Everything that names a claim, and the body it is for.
struct Ticket {
    core::RecordId id{};
    core::Fingerprint fingerprint;
    core::Digest body_digest{};
    net::BodySpill body;

    /// How this request compares with a standing record, by the rules of the record's day (R51).
    core::Fingerprint as_of(const core::RequestHead& head, const core::Fingerprint& standing) const;
};

/// The key as the policy reads it.
struct KeyFound {
    std::string key;
    std::vector<core::ScopeValue> scope;
};

/// Nothing when it was answered with a problem, or when the request carries no key and needs none (`missing` is then
/// set).
boost::asio::awaitable<std::optional<KeyFound>> find_key(Request& request, bool& missing);

/// Reads the body whole and makes the ticket; nothing when the request was answered or broke off (R65).
boost::asio::awaitable<std::optional<Ticket>> make_ticket(Request& request, KeyFound found);

}  // namespace oncegate::proxy
