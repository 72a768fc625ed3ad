#include "app/demo_upstream.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <chrono>
#include <csignal>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "app/demo_payments.hpp"
#include "async/task_set.hpp"
#include "core/ascii.hpp"
#include "core/framing.hpp"
#include "core/problem.hpp"
#include "net/body_reader.hpp"
#include "net/head_reader.hpp"
#include "net/listener.hpp"
#include "net/message_writer.hpp"

namespace oncegate::app {

namespace asio = boost::asio;
using std::chrono::milliseconds;

namespace {

constexpr std::size_t head_limit = 64 * 1024;
constexpr std::size_t body_limit = 64 * 1024 * 1024;
constexpr milliseconds idle_limit{75'000};
constexpr milliseconds message_limit{30'000};

std::int64_t unix_now() {
    using namespace std::chrono;
    return duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
}

/// A whole request, or how the connection ends without one: with `refusal` as last answer, or silently (status 0).
struct Received {
    core::RequestHead head;
    std::string body;
    int refusal = 0;
    bool complete = false;
};

asio::awaitable<bool> answer_expectation(net::Connection& connection, const core::RequestHead& head) {
    const auto expect = head.fields.find("Expect");
    if (!expect || !core::iequals(*expect, "100-continue")) co_return true;
    static constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    const asio::const_buffer piece(go_on.data(), go_on.size());
    const auto sent = co_await connection.stream().write(std::span(&piece, 1));
    co_return !sent.error;
}

asio::awaitable<Received> receive(net::Connection& connection) {
    Received out;
    connection.stream().deadline(idle_limit);
    auto head = co_await net::read_request_head(connection, head_limit, message_limit);
    if (!head) {
        if (head.error().kind == net::NoHead::Kind::malformed) out.refusal = head.error().fault.status;
        co_return out;
    }
    out.head = std::move(*head);
    const auto framing = core::request_framing(out.head);
    if (!framing) {
        out.refusal = framing.error().status;
        co_return out;
    }
    const bool going_on = co_await answer_expectation(connection, out.head);
    if (!going_on) co_return out;

    net::BodyReader body(connection, *framing, message_limit);
    for (;;) {
        const auto piece = co_await body.next();
        if (!piece) co_return out;
        if (piece->empty()) break;
        if (out.body.size() + piece->size() > body_limit) {
            out.refusal = 413;
            co_return out;
        }
        out.body += *piece;
    }
    out.complete = true;
    co_return out;
}

asio::awaitable<bool> send(net::Connection& connection, const core::RequestHead& request, const DemoReply& reply,
                           net::Persistence persistence) {
    const core::Framing framing{core::Framing::Kind::length, reply.body.size()};
    auto head = net::response_head_bytes(reply.head, framing, request.version, persistence);
    const std::string_view body = request.method == "HEAD" ? std::string_view() : std::string_view(reply.body);
    connection.stream().deadline(message_limit);
    net::BodyWriter writer(connection.stream(), framing, std::move(head));
    const auto sent = co_await writer.write(body);
    co_return !sent.error;
}

DemoReply refusal(int status) {
    DemoReply out;
    out.head.status = status;
    out.head.reason = core::reason_phrase(status);
    return out;
}

/// One connection, request after request.
asio::awaitable<void> serve(DemoPayments& payments, std::unique_ptr<net::Stream> stream) {
    net::Connection connection(std::move(stream));
    for (bool open = true; open;) {
        const Received request = co_await receive(connection);
        DemoReply reply;
        if (request.complete) {
            reply = payments.answer(request.head, request.body, unix_now());
        } else if (request.refusal != 0) {
            reply = refusal(request.refusal);
        } else {
            break;
        }
        if (reply.delay.count() > 0) {
            connection.stream().no_deadline();
            asio::steady_timer timer(connection.stream().executor(), reply.delay);
            co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
        }
        const bool reusable = request.complete && core::keeps_alive(request.head.version, request.head.fields);
        const auto persistence = reusable ? net::Persistence::keep_alive : net::Persistence::close;
        const bool sent = co_await send(connection, request.head, reply, persistence);
        open = sent && reusable;
    }
    connection.stream().close();
}

asio::awaitable<void> serve_until_signalled(net::Listener& listener, async::TaskSet& tasks, DemoPayments& payments) {
    asio::signal_set signals(co_await asio::this_coro::executor, SIGINT, SIGTERM);
    tasks.spawn(
        listener.run([&](std::unique_ptr<net::Stream> stream) { tasks.spawn(serve(payments, std::move(stream))); }));
    co_await signals.async_wait(asio::as_tuple(asio::use_awaitable));
    listener.close();
    tasks.cancel_all();
    co_await tasks.wait_empty();
}

void report_escape(std::ostream& out, const std::exception_ptr& escaped) {
    try {
        std::rethrow_exception(escaped);
    } catch (const boost::system::system_error& error) {
        // What a cancelled task ends with; anything else is worth a line.
        if (error.code() != asio::error::operation_aborted) out << "connection ended: " << error.what() << '\n';
    } catch (const std::exception& error) {
        out << "connection ended: " << error.what() << '\n';
    }
}

}  // namespace

int run_demo_upstream(const std::string& bind, std::ostream& out) {
    const auto address = net::parse_bind(bind);
    if (!address) {
        out << "cannot read the address '" << bind << "': ADDRESS:PORT is expected\n";
        return 1;
    }
    if (const auto taken = net::probe_bind(*address)) {
        out << "cannot listen on " << bind << ": " << taken.message() << '\n';
        return 2;
    }
    asio::io_context context(1);
    net::Listener listener(context.get_executor(), *address);
    out << "demo upstream on " << bind.substr(0, bind.rfind(':')) << ':' << listener.port() << '\n' << std::flush;

    DemoPayments payments;
    async::TaskSet tasks(context.get_executor(),
                         [&](const std::exception_ptr& escaped) { report_escape(out, escaped); });
    asio::co_spawn(context, serve_until_signalled(listener, tasks, payments), [&](const std::exception_ptr& escaped) {
        if (escaped) report_escape(out, escaped);
    });
    context.run();
    return 0;
}

}  // namespace oncegate::app
