#include "proxy/body_sender.hpp"

#include <boost/asio/co_spawn.hpp>

namespace oncegate::proxy {

namespace asio = boost::asio;

void BodySender::start(std::string head, core::Framing framing) {
    upstream_.deadline(limits_.write_idle);
    // Not a task of the worker: a drain that cancels those must not end it before it has begun, and whoever started it
    // joins it.
    asio::co_spawn(upstream_.executor(), run(std::move(head), framing),
                   [this](std::exception_ptr) { ended_.set(true); });
}

asio::awaitable<void> BodySender::run(std::string head, core::Framing framing) {
    net::BodyWriter writer(upstream_, framing, std::move(head));
    const auto error = co_await send(writer);
    if (stopping_) co_return;
    end_ = error ? End::not_whole : End::whole;
    if (!answered_) upstream_.deadline(error ? limits_.after_failure : limits_.response);
}

asio::awaitable<net::error_code> BodySender::send(net::BodyWriter& writer) {
    if (stopping_) co_return asio::error::operation_aborted;
    if (body_.in_memory()) {
        const auto written = co_await writer.write_last(body_.memory());
        co_return written.error;
    }
    std::string piece;
    for (std::uint64_t offset = 0; offset < body_.size(); offset += piece.size()) {
        if (const auto error = body_.read(offset, piece)) co_return error;
        if (!answered_) upstream_.deadline(limits_.write_idle);
        const auto written = co_await writer.write(piece);
        if (written.error) co_return written.error;
        if (stopping_) co_return asio::error::operation_aborted;
    }
    const auto finished = co_await writer.finish();
    co_return finished.error;
}

asio::awaitable<BodySender::End> BodySender::stop_and_join() {
    stopping_ = true;
    while (!ended_.is_set()) {
        upstream_.cancel();  // again until it is heard: there may be nothing to cancel just now
        co_await ended_.get_within(std::chrono::milliseconds(50));
    }
    co_return end_;
}

}  // namespace oncegate::proxy
