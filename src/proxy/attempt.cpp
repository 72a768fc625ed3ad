#include "proxy/attempt.hpp"

#include "proxy/upstream_answer.hpp"

namespace oncegate::proxy {

namespace asio = boost::asio;
using core::Failure;

namespace {

/// When the upstream stopped reading it may have answered already (413, say): its answer is waited for, but not for
/// long.
constexpr std::chrono::milliseconds answer_after_broken_write{1'000};

/// Up to here a body fits into what the system buffers, and is sent in one go.
constexpr std::uint64_t sent_at_once_max = 64U << 10;

}  // namespace

asio::awaitable<bool> Attempt::connect() {
    connection_ = request_.pool().try_take();
    if (connection_) co_return true;
    auto made = co_await request_.pool().take();
    if (made.has_error()) {
        request_.note_upstream_failure(Metrics::Failure::connect, made.error().text);
        co_return false;
    }
    connection_.emplace(std::move(*made));
    co_return true;
}

/// A small body is sent when this returns, a large one from then on.
asio::awaitable<net::error_code> Attempt::send(const core::RequestHead& head, const core::Framing& framing,
                                               const net::BodySpill& body) {
    auto& stream = connection_->stream();
    const SendLimits limits{request_.server().timeouts.write_idle, request_.upstream().timeouts.response,
                            answer_after_broken_write};
    auto head_bytes = net::request_head_bytes(head, framing);
    if (!body.in_memory() || body.size() > sent_at_once_max) {
        sender_.emplace(stream, body, limits);
        sender_->start(std::move(head_bytes), framing);
        co_return net::error_code();
    }
    net::BodyWriter writer(stream, framing, std::move(head_bytes));
    stream.deadline(limits.write_idle);
    const auto written = co_await writer.write_last(body.memory());
    stream.deadline(written.error ? limits.after_failure : limits.response);
    co_return written.error;
}

asio::awaitable<Reached<core::ResponseHead>> Attempt::forward(core::RequestHead head, core::Framing framing,
                                                              const net::BodySpill& body) {
    head = addressed_to(std::move(head), connection_->server());

    const auto broken = co_await send(head, framing, body);
    if (broken && bytes_sent() == 0) {
        const net::NoHead why{net::NoHead::Kind::broken, false, {}};
        note_no_answer(request_, *connection_, why);
        co_return failure(Failure::Cause::broken);
    }
    auto response = co_await read_head(head.method);
    if (response.has_value()) {
        if (broken) reusable_ = false;
        co_return std::move(*response);
    }
    note_no_answer(request_, *connection_, response.error());
    co_await end();
    const bool late = response.error().kind == net::NoHead::Kind::timed_out;
    co_return failure(late ? Failure::Cause::timeout : Failure::Cause::broken);
}

asio::awaitable<net::HeadOr<core::ResponseHead>> Attempt::read_head(std::string_view method) {
    auto& connection = connection_->connection();
    auto head = co_await read_final_head(request_.client, connection);
    if (head.has_error()) co_return head;
    const auto framing = core::response_framing(method, *head);
    if (head->status == 101) co_return net::NoHead{net::NoHead::Kind::malformed, true, {}};  // never asked for
    if (framing.has_error()) co_return net::NoHead{net::NoHead::Kind::malformed, true, framing.error()};
    connection_->answered();
    if (sender_) sender_->answered();
    response_framing_ = *framing;
    reusable_ = connection_stays(*head, *framing);
    kept_ = kept_for(head->fields);
    body_.emplace(connection, *framing, request_.server().timeouts.body_idle);
    co_return head;
}

asio::awaitable<Reached<std::string_view>> Attempt::next_piece() {
    const auto piece = co_await body_->next();
    if (piece.has_value()) co_return *piece;
    note_cut_off(request_, connection_->server().authority, piece.error().kind);
    const bool late = piece.error().kind == net::BodyFault::Kind::timed_out;
    co_return failure(late ? Failure::Cause::timeout : Failure::Cause::broken);
}

asio::awaitable<void> Attempt::finish() {
    co_await end();
    if (!reusable_ || !body_->finished()) co_return;
    std::move(*connection_).give_back(kept_);
    connection_.reset();
}

asio::awaitable<void> Attempt::end() {
    if (!sender_) co_return;
    const auto end = co_await sender_->stop_and_join();
    if (end != BodySender::End::whole) reusable_ = false;
}

asio::awaitable<void> joined(Attempt& attempt, asio::awaitable<void> work) {
    std::exception_ptr escaped;
    try {
        co_await std::move(work);
        co_await attempt.end();
    } catch (...) {
        escaped = std::current_exception();
    }
    if (!escaped) co_return;
    co_await asio::this_coro::throw_if_cancelled(false);
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    co_await attempt.end();
    std::rethrow_exception(escaped);
}

}  // namespace oncegate::proxy
