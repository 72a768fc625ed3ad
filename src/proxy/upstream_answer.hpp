#pragma once
// What is the same for every forward, recorded or not: a connection, the final response head behind the interim ones,
// and what the connection is good for afterwards.

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <optional>

#include "core/framing.hpp"
#include "net/body_reader.hpp"
#include "net/head_reader.hpp"
#include "net/upstream_pool.hpp"
#include "proxy/request.hpp"

namespace oncegate::proxy {

/// The final response head; interim ones go to the client on the way (R77, R124). A 101 counts as final and is for the
/// caller to judge. The stream's deadline is for all of it.
boost::asio::awaitable<net::HeadOr<core::ResponseHead>> read_final_head(ClientSide& client, net::Connection& upstream);

/// Whether the upstream's connection may carry another request after this response. Not when the response announces
/// content that by its status it cannot have (RFC 9110 §8.6): what follows could be taken for the next answer (R130).
bool connection_stays(const core::ResponseHead& head, const core::Framing& framing);

/// For how long the upstream says that it keeps the connection: `Keep-Alive: timeout=5`.
std::optional<std::chrono::seconds> kept_for(const core::Fields& fields);

/// Tells the operator and the pool that no response head came. A connection that served before and broke proves
/// nothing: it may just have reached the end of its idle time at the server.
void note_no_answer(const Request& request, net::PooledConnection& upstream, const net::NoHead& why);

/// The answer's body broke off, came too late or is malformed.
void note_cut_off(const Request& request, std::string_view server, net::BodyFault::Kind why);

}  // namespace oncegate::proxy
