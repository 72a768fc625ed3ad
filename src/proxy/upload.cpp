#include "proxy/upload.hpp"

namespace oncegate::proxy {

namespace asio = boost::asio;

void Upload::start(std::string head, core::Framing framing, std::chrono::milliseconds response_limit) {
    request_.worker.tasks.spawn(run(std::move(head), framing, response_limit));
}

asio::awaitable<void> Upload::send_head_only(std::string head, std::chrono::milliseconds response_limit) {
    net::BodyWriter writer(upstream_.stream(), core::Framing(), std::move(head));
    upstream_.stream().deadline(request_.worker.shared.config.server.timeouts.write_idle);
    const std::string_view no_body;
    const auto written = co_await writer.write_last(no_body);
    upstream_.stream().deadline(response_limit);
    ended_.set(written.error ? Uploaded::upstream_closed : Uploaded::whole);
}

asio::awaitable<void> Upload::run(std::string head, core::Framing framing, std::chrono::milliseconds response_limit) {
    const auto ended = co_await send(std::move(head), framing);
    switch (ended) {
        case Uploaded::whole:
        case Uploaded::upstream_closed: upstream_.stream().deadline(response_limit); break;
        case Uploaded::client_broke:
        case Uploaded::too_large: upstream_.stream().cancel(); break;
    }
    ended_.set(ended);
}

/// The last piece, the end of the body and trailers; in one write where there are none.
asio::awaitable<net::IoResult> Upload::finish(net::BodyWriter& writer, std::string_view piece) {
    const auto& trailers = request_.client.body().trailers();
    if (trailers.empty()) co_return co_await writer.write_last(piece);
    if (!piece.empty()) {
        const auto written = co_await writer.write(piece);
        if (written.error) co_return written;
    }
    co_return co_await writer.finish(trailers);
}

asio::awaitable<Uploaded> Upload::send(std::string head, core::Framing framing) {
    const auto& server = request_.worker.shared.config.server;
    net::BodyWriter writer(upstream_.stream(), framing, std::move(head));
    std::uint64_t total = 0;
    // A small body that came with its head is in the connection's buffer already and travels with the head in one
    // write.
    for (;;) {
        const auto piece = co_await request_.client.body().next();
        if (piece.has_error() || stopping_) co_return Uploaded::client_broke;
        total += piece->size();
        request_.client.count_in(piece->size());
        if (total > server.limits.request_body) co_return Uploaded::too_large;
        upstream_.stream().deadline(server.timeouts.write_idle);
        if (request_.client.body().finished()) {
            const auto written = co_await finish(writer, *piece);
            co_return written.error ? Uploaded::upstream_closed : Uploaded::whole;
        }
        const auto written = co_await writer.write(*piece);
        if (written.error || stopping_) co_return Uploaded::upstream_closed;
        upstream_.stream().no_deadline();  // how long the next piece may take is the client's deadline
    }
}

asio::awaitable<Uploaded> Upload::stop_and_join() {
    if (!ended_.is_set()) {
        stopping_ = true;  // it may be between two operations just now, where a cancellation finds nothing
        request_.client.close_after();
        request_.client.stop_reading();
        upstream_.stream().cancel();
    }
    co_return co_await ended_.get();
}

}  // namespace oncegate::proxy
