#include "proxy/refresh.hpp"

#include "core/forwarding.hpp"
#include "core/head_rules.hpp"
#include "core/local_reference.hpp"
#include "proxy/authorization.hpp"
#include "proxy/date.hpp"
#include "proxy/side_request.hpp"

namespace oncegate::proxy {

namespace asio = boost::asio;

namespace {

/// Where the recorded answer says that its resource is; nothing when it is not at this upstream.
std::optional<std::string> place_of(const Request& request, const core::StoredResponse& stored) {
    constexpr int no_content = 204;
    constexpr int reset_content = 205;
    const bool create =
        stored.status >= 200 && stored.status < 300 && stored.status != no_content && stored.status != reset_content;
    const auto location = stored.fields.find("Location");
    if (!create || !location) return std::nullopt;
    std::vector<std::string> authorities{std::string(core::effective_host(request.head()))};
    for (const auto& server : request.upstream().servers) authorities.push_back(server.authority);
    return core::local_target(*location, core::split_target(request.head().target).path, authorities);
}

/// The route that the caller's own GET of `target` would take; null when that is none, or leads to another upstream.
const config::Route* route_to(const Request& request, const std::string& target) {
    core::RequestHead get = request.head();
    get.method = "GET";
    get.target = target;
    const auto found = request.generation.shared().routes().find(get);
    if (found.has_error()) return nullptr;
    const auto& route = request.generation.config().routes[*found];
    return route.upstream == request.route.upstream ? &route : nullptr;
}

}  // namespace

asio::awaitable<std::optional<CurrentState>> current_state(const Request& request, const core::StoredResponse& stored) {
    auto target = place_of(request, stored);
    if (!target) co_return std::nullopt;
    const auto* route = route_to(request, *target);
    if (route == nullptr) co_return std::nullopt;
    const bool allowed = co_await permits(request, *route, *target);
    if (!allowed) co_return std::nullopt;
    const auto& server = request.server();
    const SideLimits limits{server.timeouts.write_idle, request.upstream().timeouts.response,
                            static_cast<std::size_t>(server.limits.memory_body)};
    auto question = question_of(request, std::move(*target));
    const Stopwatch watch(request.report.upstream);
    auto answer = co_await side_request(request.pool(), std::move(question), limits);
    if (answer.has_error() || answer->head.status != 200) {
        std::string text = "a replay could not be refreshed: ";
        text.append(answer.has_error() ? std::string(text_of(answer.error()))
                                       : "status " + std::to_string(answer->head.status));
        request.worker.shared.log.limited("upstream " + request.upstream().name, text);
        co_return std::nullopt;
    }

    auto head = core::for_client(answer->head, http_date_now());
    head.status = stored.status;
    head.reason = stored.reason;
    head.fields.remove("Location");
    head.fields.add("Location", *stored.fields.find("Location"));
    co_return CurrentState{std::move(head), std::move(answer->body)};
}

}  // namespace oncegate::proxy
