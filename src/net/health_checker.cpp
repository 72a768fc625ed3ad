#include "net/health_checker.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <random>
#include <utility>

#include "async/task_set.hpp"
#include "async/within.hpp"
#include "net/body_reader.hpp"
#include "net/connector.hpp"
#include "net/head_reader.hpp"
#include "net/message_writer.hpp"

namespace oncegate::net {

namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t head_bytes_max = 64U << 10;
constexpr std::size_t body_bytes_max = 64U << 10;  // what is read of a body: the rest tells nothing more
constexpr int interims_max = 16;

/// What one check came to: empty when the server is well, else why it is not.
using Complaint = std::string;

std::string request_bytes(const UpstreamServer& server, const std::string& path) {
    core::RequestHead head;
    head.method = "GET";
    head.target = path;
    head.fields = {{"Host", server.authority}, {"User-Agent", "oncegate"}, {"Accept", "*/*"}, {"Connection", "close"}};
    return request_head_bytes(head, core::Framing());
}

Complaint why(const NoHead& none) {
    switch (none.kind) {
        case NoHead::Kind::closed: return "the connection was closed without a response";
        case NoHead::Kind::broken: return "the response broke off";
        case NoHead::Kind::timed_out: return "no answer in time";
        case NoHead::Kind::malformed: return "the response is malformed";
    }
    std::abort();
}

asio::awaitable<Complaint> read_body(Connection& connection, core::Framing framing, milliseconds limit) {
    BodyReader body(connection, framing, limit);
    std::size_t bytes = 0;
    while (!body.finished() && bytes < body_bytes_max) {
        const auto piece = co_await body.next();
        if (piece.has_error()) co_return "the response's body broke off or its framing is malformed";
        bytes += piece->size();
    }
    co_return Complaint();
}

asio::awaitable<Complaint> read_answer(Connection& connection, milliseconds limit) {
    for (int interims = 0; interims < interims_max; ++interims) {
        const auto head = co_await read_response_head(connection, head_bytes_max);
        if (head.has_error()) co_return why(head.error());
        if (head->status < 200) continue;
        if (head->status >= 400) co_return std::string("status ").append(std::to_string(head->status));
        const auto framing = core::response_framing("GET", *head);
        if (framing.has_error()) co_return "the response's framing is malformed";
        co_return co_await read_body(connection, *framing, limit);
    }
    co_return "only interim responses";
}

asio::awaitable<Complaint> ask(Connector& connector, const UpstreamServer& server, const std::string& path,
                               milliseconds limit) {
    auto stream = co_await connector.connect(server, limit);
    if (stream.has_error()) co_return stream.error().text();
    Connection connection(std::move(*stream));
    connection.stream().deadline(limit);
    BodyWriter request(connection.stream(), core::Framing(), request_bytes(server, path));
    const auto sent = co_await request.finish();
    Complaint complaint = "the request could not be sent";
    if (!sent.error) complaint = co_await read_answer(connection, limit);
    connection.stream().close();
    co_return complaint;
}

/// Counts in a row, and says what they come to.
class Streak {
 public:
    Streak(const HealthCheckOptions& options, std::size_t server) : options_(options), server_(server) {}

    void note(const Complaint& complaint) {
        const bool well = complaint.empty();
        in_a_row_ = well == well_ ? in_a_row_ + 1 : 1;
        well_ = well;
        if (well && in_a_row_ >= options_.healthy_after) {
            options_.health->judge(server_, UpstreamHealth::Verdict::up, "health checks succeed");
        } else if (!well && in_a_row_ >= options_.unhealthy_after) {
            options_.health->judge(server_, UpstreamHealth::Verdict::down, complaint);
        }
    }

 private:
    const HealthCheckOptions& options_;
    std::size_t server_;
    bool well_ = true;
    unsigned in_a_row_ = 0;
};

/// Not all servers of all upstreams at the same moment.
milliseconds first_pause(milliseconds interval) {
    std::random_device seed;
    return milliseconds(std::uniform_int_distribution<milliseconds::rep>(0, interval.count() / 8)(seed));
}

asio::awaitable<void> check_server(const HealthCheckOptions& options, Connector& connector, std::size_t index) {
    const UpstreamServer& server = options.servers[index];
    const milliseconds limit = std::min(options.limit, options.interval);
    asio::steady_timer timer(co_await asio::this_coro::executor, first_pause(options.interval));
    Streak streak(options, index);
    for (;;) {
        co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
        timer.expires_after(options.interval);
        const auto complaint = co_await async::within(limit, ask(connector, server, options.path, limit));
        const auto cancellation = co_await asio::this_coro::cancellation_state;
        if (cancellation.cancelled() != asio::cancellation_type::none) co_return;  // it says nothing about the server
        streak.note(complaint.value_or("no answer in time"));
    }
}

}  // namespace

asio::awaitable<void> check_health(HealthCheckOptions options) {
    const auto executor = co_await asio::this_coro::executor;
    ConnectorOptions to;
    to.tls = options.tls;
    to.tls_server_name = options.tls_server_name;
    to.look_up = options.look_up;
    Connector connector(executor, std::move(to));

    std::exception_ptr escaped;
    async::TaskSet checks(executor, [&](const std::exception_ptr& fault) { escaped = fault; });
    for (std::size_t server = 0; server < options.servers.size(); ++server)
        checks.spawn(check_server(options, connector, server));
    // The checks use what lives in this frame: they end first.
    std::exception_ptr cancelled;
    try {
        co_await checks.wait_empty();
    } catch (...) {
        cancelled = std::current_exception();
    }
    co_await asio::this_coro::throw_if_cancelled(false);
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    checks.cancel_all();
    co_await checks.wait_empty();
    if (cancelled) std::rethrow_exception(cancelled);
    if (escaped) std::rethrow_exception(escaped);
}

}  // namespace oncegate::net
