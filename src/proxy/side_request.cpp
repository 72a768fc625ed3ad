#include "proxy/side_request.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "core/framing.hpp"
#include "net/body_reader.hpp"
#include "net/head_reader.hpp"
#include "net/message_writer.hpp"
#include "proxy/upstream_answer.hpp"

namespace oncegate::proxy {

namespace asio = boost::asio;

namespace {

constexpr std::size_t head_bytes_max = 64U << 10;

using Side = boost::system::result<SideAnswer, SideFault>;

using Clock = std::chrono::steady_clock;

std::chrono::milliseconds left_until(Clock::time_point end) {
    return std::max(std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()),
                    std::chrono::milliseconds(0));
}

SideFault fault_of(const net::NoHead& why) {
    return why.kind == net::NoHead::Kind::timed_out ? SideFault::timed_out : SideFault::broken;
}

SideFault fault_of(const net::BodyFault& why) {
    return why.kind == net::BodyFault::Kind::timed_out ? SideFault::timed_out : SideFault::broken;
}

asio::awaitable<net::HeadOr<core::ResponseHead>> final_head(net::Connection& connection) {
    for (;;) {
        auto head = co_await net::read_response_head(connection, head_bytes_max);
        if (head.has_error() || head->status >= 200) co_return head;
        const bool switched = head->status == 101;  // never asked for
        if (switched || connection.stream().overdue()) {
            net::NoHead why;
            why.kind = switched ? net::NoHead::Kind::malformed : net::NoHead::Kind::timed_out;
            why.started = true;
            co_return why;
        }
        co_await asio::post(connection.stream().executor(), asio::use_awaitable);  // others get their turn
    }
}

asio::awaitable<Side> read_answer(net::PooledConnection upstream, core::ResponseHead head, std::size_t body_bytes,
                                  Clock::time_point end) {
    const auto framing = core::response_framing("GET", head);
    if (framing.has_error()) co_return SideFault::broken;
    SideAnswer answer{std::move(head), {}};
    net::BodyReader body(upstream.connection(), *framing, std::chrono::milliseconds(0));
    for (;;) {
        body.wait_at_most(left_until(end));
        const auto piece = co_await body.next();
        if (piece.has_error()) co_return fault_of(piece.error());
        if (piece->empty()) break;
        if (answer.body.size() + piece->size() > body_bytes) co_return SideFault::too_large;
        answer.body.append(*piece);
    }
    if (connection_stays(answer.head, *framing)) std::move(upstream).give_back(kept_for(answer.head.fields));
    co_return std::move(answer);
}

}  // namespace

std::string_view text_of(SideFault fault) {
    switch (fault) {
        case SideFault::unreachable: return "no connection";
        case SideFault::broken: return "the answer broke off or was malformed";
        case SideFault::timed_out: return "no answer in time";
        case SideFault::too_large: return "the answer was too large";
    }
    std::abort();
}

core::RequestHead question_of(const Request& request, std::string target) {
    auto head = request.upstream_head();
    head.method = "GET";
    head.target = std::move(target);
    head.fields.remove_if([](const core::FieldView& field) {
        const auto starts_with = [&](std::string_view prefix) {
            return core::iequals(field.name.substr(0, prefix.size()), prefix);
        };
        const bool of_the_method = starts_with("X-HTTP-Method") || core::iequals(field.name, "X-Method-Override");
        return starts_with("Content-") || starts_with("If-") || of_the_method || core::iequals(field.name, "Range") ||
               core::iequals(field.name, "Prefer");
    });
    if (request.route.policy && request.route.policy->record.accept_encoding == core::AcceptEncoding::identity) {
        head.fields.set("Accept-Encoding", "identity");
    }
    return head;
}

asio::awaitable<Side> side_request(net::UpstreamPool& pool, core::RequestHead head, SideLimits limits) {
    for (;;) {
        auto taken = pool.try_take();
        if (!taken) {
            auto made = co_await pool.take();
            if (made.has_error()) co_return SideFault::unreachable;
            taken.emplace(std::move(*made));
        }
        const auto addressed = addressed_to(head, taken->server());
        auto& stream = taken->stream();
        net::BodyWriter writer(stream, core::Framing(), net::request_head_bytes(addressed, core::Framing()));
        stream.deadline(limits.write_idle);
        const std::string_view nothing;
        const auto written = co_await writer.write(nothing);
        const auto end = Clock::now() + limits.answer;
        stream.deadline(limits.answer);
        auto received = co_await final_head(taken->connection());
        if (received.has_value()) {
            taken->answered();
            co_return co_await read_answer(std::move(*taken), std::move(*received), limits.body_bytes, end);
        }
        // A kept connection may just have reached the end of its idle time at the server. What is asked here changes
        // nothing, so it may be asked again (RFC 9112 §9.3.1); the next connection is another one.
        const bool closed = received.error().kind == net::NoHead::Kind::closed;
        if (taken->reused() && (written.error || closed)) continue;
        taken->failed();
        co_return fault_of(received.error());
    }
}

}  // namespace oncegate::proxy
