#pragma once
// One request on its way through the proxy, as every handler of it sees it. Lives in the session's frame.

#include <string>

#include "config/config.hpp"
#include "net/upstream_pool.hpp"
#include "proxy/client_side.hpp"
#include "proxy/outcome.hpp"
#include "proxy/worker.hpp"

namespace oncegate::proxy {

struct Request {
    Worker& worker;
    ClientSide& client;
    Report& report;
    std::size_t route_index;
    const config::Route& route;

    const core::RequestHead& head() const { return client.request(); }

    /// URL that problem types of this request point to: the route's documentation, or the built-in page on the
    /// authority that the client used.
    std::string policy_page() const;

    /// Answers with a problem and notes what became of the request.
    boost::asio::awaitable<void> refuse(core::Problem problem, Outcome outcome);

    /// Tells the operator, not the client, what went wrong with the upstream.
    void note_upstream_failure(std::string_view what) const;

    /// The head that goes to the upstream: hop-by-hop fields gone, forwarding fields and trace context added.
    core::RequestHead upstream_head() const;
};

/// `head` with a Host field: an HTTP/1.0 client need not send one, and the upstream gets HTTP/1.1 (RFC 9112 §3.2).
core::RequestHead addressed_to(core::RequestHead head, const net::UpstreamServer& server);

/// The built-in policy page as the client of `head` reaches it.
std::string built_in_policy_page(const core::RequestHead& head);

/// The outcome label that goes with a refusal.
Outcome outcome_of(core::ProblemKind kind);

}  // namespace oncegate::proxy
