#pragma once
// What an intermediary must take away and add on the way (RFC 9110 §7.6, R75, R81, R121, R122). Values in, values out.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/client_address.hpp"
#include "core/http_message.hpp"
#include "core/policy.hpp"
#include "core/upgrade.hpp"

namespace oncegate::core {

/// A name of its own for Via, unlikely to collide with another instance's: "oncegate-3f9a1c".
using Pseudonym = std::string;

/// Whether a Via line already names us: the request is running in a circle (R122).
bool loops(const Fields& fields, std::string_view pseudonym);

/// What a route says about the request's head. The text must outlive it.
struct ForwardingRule {
    /// The Host that goes upstream; nothing: as the client asked; empty: none, for the writer adds the server's own.
    std::optional<std::string_view> host;
    /// With Upgrade::keep a request for which wants_upgrade() holds takes `Connection: upgrade` and the protocols
    /// along.
    Upgrade upgrade = Upgrade::drop;
};

/// The head that goes upstream: hop-by-hop and framing fields removed, fields that only the proxy may send
/// (`Idempotency-Attempt`, `-Token`, `-Recovery-Point`) removed, Via, X-Forwarded-For/-Proto/-Host and Forwarded added
/// (R134). Framing fields for the new body are the writer's to add. The key and the scope must be read from `received`,
/// because a client may name their fields in Connection (R121); Idempotency-Key itself always travels on, and so do
/// Host, Cache-Control, Via, Forwarded and X-Forwarded-*, which are meant for every recipient.
/// - Via, X-Forwarded-For and Forwarded get a new last element, whoever sent the ones before: `unknown` for a peer
/// without an address. The lines of each of the last two become one line.
/// - X-Forwarded-Proto and X-Forwarded-Host of a trusted peer stay when their first element is well formed (http or
/// https; a host). Else they say how the request came here and what it asked for.
/// - Expect is dropped, since the proxy itself meets it; Max-Forwards of OPTIONS and TRACE is one less (RFC 9110
/// §7.6.2).
/// - An absolute-form target becomes origin-form and its authority replaces Host (RFC 9112 §3.2.2); other targets stay
/// as they are.
RequestHead for_upstream(const RequestHead& received, const Peer& peer, std::string_view pseudonym,
                         const ForwardingRule& rule = {});

/// The head that goes to the client on a first delivery and into the record: hop-by-hop and framing fields and
/// `Idempotency-Outcome` removed, a Date added when there is none (R79) unless `http_date` is empty. Nothing else of
/// the proxy's own (R81). With Upgrade::keep a 101, and a 426 that names what it wants, take `Connection: upgrade` and
/// Upgrade along.
ResponseHead for_client(const ResponseHead& received, std::string_view http_date, Upgrade upgrade = Upgrade::drop);

/// What of a message's trailers may travel on: neither what a trailer must not hold (RFC 9110 §6.5.1) nor what the
/// Connection of the same message's `head` names (§7.6.1).
Fields forwarded_trailers(const Fields& received, const Fields& head = {});

/// The fields of a replay: as stored and in that order, but for the policy's exclusions, the marker (exactly one, R81),
/// Date with `replay.date: now`, and `x-should-retry` / `Stripe-Should-Retry: true` turned to `false` (R146).
Fields for_replay(const Fields& stored, const ReplayRule& rule, std::string_view http_date);

/// IMF-fixdate of RFC 9110 §5.6.7.
std::string http_date(std::int64_t unix_seconds);

}  // namespace oncegate::core
