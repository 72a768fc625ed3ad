#include "proxy/upstream_answer.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>

#include "core/field_list.hpp"
#include "core/forwarding.hpp"

namespace oncegate::proxy {

namespace asio = boost::asio;
using net::NoHead;

namespace {

constexpr std::size_t head_bytes_max = 256U << 10;

}  // namespace

asio::awaitable<net::HeadOr<core::ResponseHead>> read_final_head(ClientSide& client, net::Connection& upstream) {
    // However many they are: a 102 now and then is how an upstream says that it is still at work. The deadline bounds
    // them (RFC 9110 §15.2).
    for (;;) {
        auto head = co_await net::read_response_head(upstream, head_bytes_max);
        if (head.has_error() || head->status >= 200 || head->status == 101) co_return head;
        if (upstream.stream().overdue()) {
            NoHead late;
            late.kind = NoHead::Kind::timed_out;
            late.started = true;
            co_return late;
        }
        const auto interim = core::for_client(*head, {});
        co_await client.interim(interim);
        // They may all be there already: others get their turn, timers included.
        co_await asio::post(upstream.stream().executor(), asio::use_awaitable);
    }
}

bool connection_stays(const core::ResponseHead& head, const core::Framing& framing) {
    if (framing.kind == core::Framing::Kind::until_close || !core::keeps_alive(head.version, head.fields)) return false;
    if (head.status != 204) return true;
    return !head.fields.contains("Transfer-Encoding") && head.fields.find("Content-Length").value_or("0") == "0";
}

std::optional<std::chrono::seconds> kept_for(const core::Fields& fields) {
    const auto value = fields.find("Keep-Alive");
    if (!value) return std::nullopt;
    std::optional<std::chrono::seconds> kept;
    core::for_each_element(*value, [&](std::string_view element) {
        constexpr std::string_view name = "timeout=";
        if (!core::iequals(element.substr(0, name.size()), name)) return;
        element.remove_prefix(name.size());
        std::int32_t seconds = 0;
        const auto [end, error] = std::from_chars(element.data(), element.data() + element.size(), seconds);
        const bool sound = error == std::errc() && end == element.data() + element.size() && seconds >= 0;
        if (sound) kept = std::chrono::seconds(seconds);
    });
    return kept;
}

void note_no_answer(const Request& request, net::PooledConnection& upstream, const net::NoHead& why) {
    if (request.worker.shared.draining) return;  // it may be our own end that cut it off
    const bool broke = why.kind == NoHead::Kind::closed || why.kind == NoHead::Kind::broken;
    if (!broke || !upstream.reused()) upstream.failed();
    std::string what(upstream.server().authority);
    switch (why.kind) {
        case NoHead::Kind::closed:
        case NoHead::Kind::broken:
            what.append(upstream.reused() ? ": the kept connection broke before an answer"
                                          : ": the connection broke before an answer");
            return request.note_upstream_failure(Metrics::Failure::broken, what);
        case NoHead::Kind::timed_out:
            return request.note_upstream_failure(Metrics::Failure::timeout, what.append(": no answer in time"));
        case NoHead::Kind::malformed:
            what.append(": malformed answer: ").append(why.fault.detail.empty() ? "unasked 101" : why.fault.detail);
            return request.note_upstream_failure(Metrics::Failure::malformed, what);
    }
    std::abort();
}

void note_cut_off(const Request& request, std::string_view server, net::BodyFault::Kind why) {
    if (request.worker.shared.draining) return;
    std::string what(server);
    switch (why) {
        case net::BodyFault::Kind::cut_off:
            return request.note_upstream_failure(Metrics::Failure::broken, what.append(": the answer broke off"));
        case net::BodyFault::Kind::timed_out:
            return request.note_upstream_failure(Metrics::Failure::timeout,
                                                 what.append(": the answer did not go on in time"));
        case net::BodyFault::Kind::malformed:
            return request.note_upstream_failure(Metrics::Failure::malformed,
                                                 what.append(": the answer's chunks are malformed"));
    }
    std::abort();
}

}  // namespace oncegate::proxy
