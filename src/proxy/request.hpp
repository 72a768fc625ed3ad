#pragma once
// One request on its way through the proxy, as every handler of it sees it. Lives in the session's frame.

#include <string>

#include "config/config.hpp"
#include "core/header_edits.hpp"
#include "core/upgrade.hpp"
#include "net/upstream_pool.hpp"
#include "proxy/client_side.hpp"
#include "proxy/outcome.hpp"
#include "proxy/worker.hpp"

namespace oncegate::proxy {

struct Request {
    Worker& worker;
    const LocalGeneration& generation;
    ClientSide& client;
    Report& report;
    std::size_t route_index;
    const config::Route& route;
    core::Fields own_fields = {};                              ///< the proxy's own on the answer, beside the marker
    std::optional<core::Fields> authorization = std::nullopt;  ///< what the authorisation service answered

    const core::RequestHead& head() const { return client.request(); }
    const config::Server& server() const { return generation.config().server; }
    const config::Upstream& upstream() const { return generation.config().upstreams[route.upstream]; }
    net::UpstreamPool& pool() const { return generation.pool(route.upstream); }
    Metrics::Route& counts() const { return generation.shared().route_counts(route_index); }

    /// Counts how long the upstream took to answer, as noted in the report.
    void note_upstream_answer() const {
        Metrics::upstream_answered(*generation.shared().upstream(route.upstream).counts, report.upstream);
    }

    /// A problem as this route's clients get it: by the policy's templates, or as a problem document.
    core::ProblemResponse render(const core::Problem& problem) const;

    /// Answers with a problem and notes what became of the request.
    boost::asio::awaitable<void> refuse(core::Problem problem, Outcome outcome);

    /// Tells the operator, not the client, what went wrong with the upstream, and counts it. `what` names the server.
    void note_upstream_failure(Metrics::Failure kind, std::string_view what) const;

    /// The head that goes to the upstream: hop-by-hop fields gone, forwarding fields and trace context added, what the
    /// authorisation service said put in, then the route's edits made. Host is missing where it is the server's own
    /// (addressed_to()).
    core::RequestHead upstream_head(core::Upgrade upgrade = core::Upgrade::drop) const;

    /// Takes the client's fields away under the names that the route's edits or the authorisation service speak for, in
    /// every spelling: of a head before those are put there, and of trailers.
    void drop_overruled(core::Fields& fields) const;

    /// The route's edits of what the upstream answered, and the proxy's own fields. Never on what is stored, which is
    /// replayed under the edits of its day; nor on the proxy's own problems.
    void edit(core::ResponseHead& head) const {
        core::apply(route.response_headers, head.fields);
        for (const auto field : own_fields) head.fields.set(field.name, field.value);
    }
};

/// `head` with a Host field where it has none: with `host: upstream`, and because an HTTP/1.0 client need not send one
/// while the upstream gets HTTP/1.1 (RFC 9112 §3.2).
core::RequestHead addressed_to(core::RequestHead head, const net::UpstreamServer& server);

/// A problem as clients of `route` get it; null: no route is known, it is a problem document.
core::ProblemResponse render(const core::Problem& problem, const config::Route* route, const ClientSide& client);

/// The built-in policy page as `client` reaches it.
std::string built_in_policy_page(const ClientSide& client);

/// The outcome label that goes with a refusal.
Outcome outcome_of(core::ProblemKind kind);

}  // namespace oncegate::proxy
