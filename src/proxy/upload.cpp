#include "proxy/upload.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>

#include "core/forwarding.hpp"

namespace oncegate::proxy {

namespace asio = boost::asio;

void Upload::start(std::string head, core::Framing framing, std::chrono::milliseconds response_limit) {
    // Not a task of the worker: a drain that cancels those must not end it before it has begun, and whoever started it
    // joins it.
    asio::co_spawn(request_.worker.executor, run(std::move(head), framing, response_limit),
                   [this](std::exception_ptr escaped) {
                       if (escaped) {
                           result_ = Uploaded::client_broke;
                           upstream_.stream().deadline(std::chrono::milliseconds(0));
                       }
                       ended_.set(true);
                   });
}

asio::awaitable<void> Upload::run(std::string head, core::Framing framing, std::chrono::milliseconds response_limit) {
    result_ = co_await send(std::move(head), framing);
    switch (result_) {
        case Uploaded::whole:
        case Uploaded::upstream_closed:
            if (!answered_) upstream_.stream().deadline(response_limit);
            break;
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
    auto trailers = core::forwarded_trailers(request_.client.body().trailers(), request_.head().fields);
    request_.drop_overruled(trailers);
    if (trailers.empty()) co_return co_await writer.write_last(piece);
    if (!piece.empty()) {
        const auto written = co_await writer.write(piece);
        if (written.error) co_return written;
    }
    co_return co_await writer.finish(trailers);
}

/// A stream has one deadline for both directions: once the answer is being read, it must leave both their time.
void Upload::allow_writing() {
    const auto& timeouts = request_.server().timeouts;
    upstream_.stream().deadline(answered_ ? std::max(timeouts.write_idle, timeouts.body_idle) : timeouts.write_idle);
}

/// How long the next piece may take is the client's deadline.
void Upload::allow_pause() {
    if (answered_) return upstream_.stream().deadline(request_.server().timeouts.body_idle);
    upstream_.stream().no_deadline();
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
        allow_writing();
        if (request_.client.body().finished()) {
            const auto written = co_await finish(writer, *piece);
            co_return written.error ? Uploaded::upstream_closed : Uploaded::whole;
        }
        const auto written = co_await writer.write(*piece);
        if (stopping_) co_return Uploaded::stopped;
        if (written.error) co_return Uploaded::upstream_closed;
        allow_pause();
    }
}

asio::awaitable<Uploaded> Upload::stop_and_join() {
    stopping_ = true;
    while (!done()) {
        // Said again until it is heard: it may be between two operations just now, where a cancellation finds nothing.
        request_.client.close_after();
        request_.client.stop_reading();
        upstream_.stream().cancel();
        co_await ended_.get_within(std::chrono::milliseconds(50));
    }
    co_return result_;
}

}  // namespace oncegate::proxy
