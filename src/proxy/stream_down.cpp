#include "proxy/stream_down.hpp"

#include <utility>

#include "core/forwarding.hpp"
#include "proxy/date.hpp"

namespace oncegate::proxy {

namespace asio = boost::asio;

namespace {

asio::awaitable<void> refuse(Request& request, const net::BodyFault& fault) {
    const bool late = fault.kind == net::BodyFault::Kind::timed_out;
    core::Problem problem;
    problem.kind = late ? core::ProblemKind::upstream_timeout : core::ProblemKind::upstream_failed;
    const auto outcome = outcome_of(problem.kind);
    request.note_upstream_failure(core::title(problem.kind));
    co_await request.refuse(std::move(problem), outcome);
}

}  // namespace

Down down_of(const Request& request, const core::ResponseHead& received, core::Framing framing) {
    const auto upgrade = request.route.upgrade ? core::Upgrade::keep : core::Upgrade::drop;
    const bool announces = request.head().method == "HEAD" || received.status == 304;
    Down down{core::for_client(received, http_date_now(), upgrade),
              announces ? declared_framing(received.fields) : framing};
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
            if (begun) request.client.abort();
            if (!begun) co_await refuse(request, piece.error());
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
