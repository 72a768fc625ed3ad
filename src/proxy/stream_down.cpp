#include "proxy/stream_down.hpp"

#include "core/forwarding.hpp"
#include "proxy/date.hpp"

namespace oncegate::proxy {

namespace asio = boost::asio;

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

asio::awaitable<bool> stream_down(Request& request, net::BodyReader& body, core::ResponseHead head,
                                  core::Framing framing, Pending pending) {
    request.client.begin(std::move(head), framing);
    if (pending == Pending::nothing && !body.finished()) co_await request.client.flush();
    for (;;) {
        const auto piece = co_await body.next();
        if (piece.has_error()) {
            request.client.abort();
            co_return false;
        }
        // The reader knows when a piece is the last: it travels with the end of the body in one write.
        if (body.finished()) {
            const auto trailers = core::forwarded_trailers(body.trailers());
            co_await request.client.write_last(*piece, trailers);
            co_return true;
        }
        co_await request.client.write(*piece);
        if (request.client.gone()) co_return false;
    }
}

}  // namespace oncegate::proxy
