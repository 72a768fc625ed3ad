#pragma once
// What an intermediary must take away and add on the way (RFC 9110 §7.6, R75, R81, R121, R122). Values in, values out.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/http_message.hpp"
#include "core/policy.hpp"

namespace oncegate::core {

/// Who sent the request and how it arrived.
struct Peer {
    std::string address;  ///< of the client's socket, no port; IPv6 without brackets
    std::string scheme = "http";
};

/// True for Connection and every field it names, Keep-Alive, Proxy-Connection, TE, Trailer, Transfer-Encoding, Upgrade,
/// Proxy-Authenticate, Proxy-Authentication-Info, Proxy-Authorization (R75). `connection_options` comes from
/// connection_options(). Naming Host, Cache-Control, Via, Forwarded or X-Forwarded-* in Connection has no effect: they
/// are meant for every recipient.
bool is_hop_by_hop(std::string_view name, const std::vector<std::string>& connection_options);

/// The lower-case names that the Connection lines list, sorted and each once.
std::vector<std::string> connection_options(const Fields& fields);

/// A name of its own for Via, unlikely to collide with another instance's: "oncegate-3f9a1c".
using Pseudonym = std::string;

/// Whether a Via line already names us: the request is running in a circle (R122).
bool loops(const Fields& fields, std::string_view pseudonym);

/// The head that goes upstream: hop-by-hop and framing fields removed, fields that only the proxy may send
/// (`Idempotency-Attempt`, `-Token`, `-Recovery-Point`) removed, Via, X-Forwarded-For/-Proto/-Host and Forwarded added
/// (R134). Framing fields for the new body are the writer's to add. The key and the scope must be read from `received`,
/// because a client may name their fields in Connection (R121).
/// - Via, X-Forwarded-For and Forwarded get the client as a new last element; the lines of each of the last two become
/// one line.
/// - X-Forwarded-Proto and X-Forwarded-Host are set when absent: the hop nearest to the client knows them, later ones
/// keep them.
/// - Expect is dropped, since the proxy itself meets it; Max-Forwards of OPTIONS and TRACE is one less (RFC 9110
/// §7.6.2).
/// - An absolute-form target becomes origin-form and its authority replaces Host (RFC 9112 §3.2.2); other targets stay
/// as they are.
RequestHead for_upstream(const RequestHead& received, const Peer& peer, std::string_view pseudonym);

/// The head that goes to the client on a first delivery and into the record: hop-by-hop and framing fields and
/// `Idempotency-Outcome` removed, a Date added when there is none (R79). Nothing else of the proxy's own (R81).
ResponseHead for_client(const ResponseHead& received, std::string_view http_date);

/// What of a message's trailers may travel on.
Fields forwarded_trailers(const Fields& received);

/// The fields of a replay: as stored and in that order, but for the policy's exclusions, the marker (exactly one, R81),
/// Date with `replay.date: now`, and `x-should-retry` / `Stripe-Should-Retry: true` turned to `false` (R146).
Fields for_replay(const Fields& stored, const ReplayRule& rule, std::string_view http_date);

/// IMF-fixdate of RFC 9110 §5.6.7.
std::string http_date(std::int64_t unix_seconds);

}  // namespace oncegate::core
