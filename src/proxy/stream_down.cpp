#include "proxy/stream_down.hpp"

#include <utility>

#include "core/forwarding.hpp"
#include "proxy/date.hpp"
#include "proxy/upstream_answer.hpp"

namespace oncegate::proxy {

namespace asio = boost::asio;

namespace {

core::ProblemKind kind_of(const net::BodyFault& fault) {
    const bool late = fault.kind == net::BodyFault::Kind::timed_out;
    return late ? core::ProblemKind::upstream_timeout : core::ProblemKind::upstream_failed;
}

asio::awaitable<void> refuse(Request& request, core::ProblemKind kind) {
    core::Problem problem;
    problem.kind = kind;
    co_await request.refuse(std::move(problem), outcome_of(kind));
}

}  // namespace

Down down_of(const Request& request, const core::ResponseHead& received, core::Framing framing,
             std::string_view server) {
    const auto upgrade = request.route.upgrade ? core::Upgrade::keep : core::Upgrade::drop;
    // A 204 announces nothing, whoever asked (RFC 9110 §8.6).
    const bool announces = received.status == 304 || (request.head().method == "HEAD" && received.status != 204);
    Down down{core::for_client(received, http_date_now(), upgrade),
              announces ? declared_framing(received.fields) : framing, server};
    request.edit(down.head);
    return down;
}

Pending pending_on(const net::Connection& connection) {
    return connection.buffered().empty() ? Pending::nothing : Pending::something;
}

asio::awaitable<bool> stream_down(Request& request, net::BodyReader& body, Down down, const core::Fields& received,
                                  Pending pending) {
    bool begun = pending == Pending::nothing && !body.finished();
    if (begun) {
        request.client.begin(std::move(down.head), down.framing);
        co_await request.client.flush();
    }
    for (;;) {
        const auto piece = co_await body.next();
        if (piece.has_error()) {
            const auto kind = kind_of(piece.error());
            note_cut_off(request, down.server, piece.error().kind);
            request.report.outcome = outcome_of(kind);  // whatever status has gone out
            if (begun) request.client.abort();
            if (!begun) co_await refuse(request, kind);
            co_return false;
        }
        if (!std::exchange(begun, true)) request.client.begin(std::move(down.head), down.framing);
        // The reader knows when a piece is the last: it travels with the end of the body in one write.
        if (body.finished()) {
            core::Fields trailers;
            if (!body.trailers().empty()) trailers = core::forwarded_trailers(body.trailers(), received);
            co_await request.client.write_last(*piece, trailers);
            co_return true;
        }
        co_await request.client.write(*piece);
        if (request.client.gone()) co_return false;
    }
}

}  // namespace oncegate::proxy
