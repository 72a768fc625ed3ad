#include "proxy/upstream_answer.hpp"

#include <charconv>

#include "core/field_list.hpp"
#include "core/forwarding.hpp"

namespace oncegate::proxy {

namespace asio = boost::asio;

namespace {

constexpr std::size_t head_bytes_max = 256U << 10;

/// More interim responses than this are not a dialogue but a fault.
constexpr int interim_max = 32;

net::NoHead malformed() {
    net::NoHead none;
    none.kind = net::NoHead::Kind::malformed;
    none.started = true;
    return none;
}

}  // namespace

asio::awaitable<net::HeadOr<core::ResponseHead>> read_final_head(ClientSide& client, net::Connection& upstream) {
    for (int interims = 0; interims <= interim_max; ++interims) {
        auto head = co_await net::read_response_head(upstream, head_bytes_max);
        if (head.has_error() || head->status >= 200 || head->status == 101) co_return head;
        const auto interim = core::for_client(*head, {});
        co_await client.interim(interim);
    }
    co_return malformed();
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

void note_no_answer(net::PooledConnection& upstream, net::NoHead::Kind why) {
    const bool broke = why == net::NoHead::Kind::closed || why == net::NoHead::Kind::broken;
    if (!broke || !upstream.reused()) upstream.failed();
}

}  // namespace oncegate::proxy
