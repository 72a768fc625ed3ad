#include "proxy/upload.hpp"

#include <boost/asio/co_spawn.hpp>

#include "core/forwarding.hpp"

namespace oncegate::proxy {

namespace asio = boost::asio;

void Upload::start(std::string head, core::Framing framing, std::chrono::milliseconds response_limit) {
    // Not a task of the worker: a drain that cancels those must not end it before it has begun, and whoever started it
    // joins it.
    asio::co_spawn(request_.worker.executor, run(std::move(head), framing, response_limit),
                   [this](std::exception_ptr escaped) {
                       if (escaped) result_ = Uploaded::client_broke;
                       ended_.set(true);
                   });
}

asio::awaitable<void> Upload::run(std::string head, core::Framing framing, std::chrono::milliseconds response_limit) {
    result_ = co_await send(std::move(head), framing);
    switch (result_) {
        case Uploaded::whole:
        case Uploaded::upstream_closed: upstream_.stream().deadline(response_limit); break;
        case Uploaded::stopped: break;
        case Uploaded::client_broke:
        case Uploaded::client_late:
        case Uploaded::too_large:
            // No response is worth waiting for. A deadline, since a cancellation would miss a read that is about to
            // begin.
            upstream_.stream().deadline(std::chrono::milliseconds(0));
            break;
    }
}

/// The last piece, the end of the body and trailers; in one write where there are none.
asio::awaitable<net::IoResult> Upload::finish(net::BodyWriter& writer, std::string_view piece) {
    const auto trailers = core::forwarded_trailers(request_.client.body().trailers(), request_.head().fields);
    if (trailers.empty()) co_return co_await writer.write_last(piece);
    if (!piece.empty()) {
        const auto written = co_await writer.write(piece);
        if (written.error) co_return written;
    }
    co_return co_await writer.finish(trailers);
}

asio::awaitable<Uploaded> Upload::send(std::string head, core::Framing framing) {
    const auto& server = request_.server();
    net::BodyWriter writer(upstream_.stream(), framing, std::move(head));
    std::uint64_t total = 0;
    // A small body that came with its head is in the connection's buffer already and travels with the head in one
    // write.
    for (;;) {
        const auto piece = co_await request_.client.body().next();
        if (stopping_) co_return Uploaded::stopped;
        if (piece.has_error()) {
            const bool late = piece.error().kind == net::BodyFault::Kind::timed_out;
            co_return late ? Uploaded::client_late : Uploaded::client_broke;
        }
        total += piece->size();
        request_.client.count_in(piece->size());
        if (total > server.limits.request_body) co_return Uploaded::too_large;
        upstream_.stream().deadline(server.timeouts.write_idle);
        if (request_.client.body().finished()) {
            const auto written = co_await finish(writer, *piece);
            co_return written.error ? Uploaded::upstream_closed : Uploaded::whole;
        }
        const auto written = co_await writer.write(*piece);
        if (stopping_) co_return Uploaded::stopped;
        if (written.error) co_return Uploaded::upstream_closed;
        upstream_.stream().no_deadline();  // how long the next piece may take is the client's deadline
    }
}

asio::awaitable<Uploaded> Upload::stop_and_join() {
    if (!done()) {
        stopping_ = true;  // it may be between two operations just now, where a cancellation finds nothing
        request_.client.close_after();
        request_.client.stop_reading();
        upstream_.stream().cancel();
    }
    co_await ended_.wait();
    co_return result_;
}

}  // namespace oncegate::proxy
