#include "proxy/authorization.hpp"

#include <algorithm>
#include <array>

#include "core/forwarding.hpp"
#include "core/known_fields.hpp"
#include "proxy/side_request.hpp"
#include "proxy/trace.hpp"

namespace oncegate::proxy {

namespace asio = boost::asio;
using core::ProblemKind;

namespace {

constexpr std::size_t body_bytes_max = 64U << 10;

bool has_prefix(std::string_view name, std::string_view prefix) {
    return core::iequals(name.substr(0, prefix.size()), prefix);
}

/// What says who asked, and how; the proxy's own word, whatever is left out.
bool is_of_the_proxy(std::string_view name) {
    const auto id = core::known_field(name).id;
    return id == core::FieldId::via || id == core::FieldId::forwarded || id == core::FieldId::x_forwarded_for ||
           id == core::FieldId::x_forwarded_host || id == core::FieldId::x_forwarded_proto;
}

/// Names under which some service looks for what was asked, or by whom. A client's own would be its word for the
/// proxy's, also in the spelling that servers make one variable with.
bool says_what_was_asked(std::string_view name) {
    constexpr std::array<std::string_view, 14> taken{
        "X-Original-URL",   "X-Original-URI",     "X-Original-Method", "X-Original-Host",   "X-Original-Proto",
        "X-Rewrite-URL",    "X-Real-IP",          "X-Forwarded-Uri",   "X-Forwarded-Port",  "X-Forwarded-Server",
        "X-Forwarded-Path", "X-Forwarded-Prefix", "X-Forwarded-Ssl",   "X-Forwarded-Method"};
    return std::any_of(taken.begin(), taken.end(), [&](std::string_view one) { return core::spells(name, one); });
}

bool is_asked_with(const config::Authorize& rule, std::string_view name) {
    if (is_of_the_proxy(name)) return true;
    if (!rule.all_headers) {
        return std::any_of(rule.headers.begin(), rule.headers.end(),
                           [&](const std::string& listed) { return core::iequals(listed, name); });
    }
    return !has_prefix(name, "Content-") && !has_prefix(name, "If-") && !core::iequals(name, "Range") &&
           !says_what_was_asked(name);
}

/// The names under which nginx's, Traefik's, Caddy's and Envoy's services look for what was asked. A client's own are
/// overwritten.
void say_what_was_asked(const Request& request, std::string_view method, std::string_view target,
                        core::Fields& fields) {
    for (const auto* name : {"X-Forwarded-Method", "X-Original-Method"}) fields.set(name, method);
    for (const auto* name : {"X-Forwarded-Uri", "X-Original-URI"}) fields.set(name, target);
    const auto scheme = fields.find("X-Forwarded-Proto").value_or("http");
    const auto host = fields.find("X-Forwarded-Host").value_or("");
    fields.set("X-Original-URL", std::string(scheme).append("://").append(host).append(target));
    fields.set("X-Real-IP", request.client.address());
}

/// About the request itself, or about a GET of `other` by the same caller.
core::RequestHead question(const Request& request, const config::Authorize& rule,
                           const std::optional<std::string>& other = std::nullopt) {
    core::ForwardingRule forwarding;
    forwarding.host = std::string_view();  // the service's own
    auto head = core::for_upstream(request.head(), request.client.peer(), request.worker.shared.pseudonym, forwarding);
    head.fields.remove_if([&](const core::FieldView& field) { return !is_asked_with(rule, field.name); });
    const std::string target = other ? *other : head.target;
    say_what_was_asked(request, other ? "GET" : request.head().method, target, head.fields);
    if (!is_traceparent(head.fields.find("traceparent").value_or(""))) {
        head.fields.set("traceparent", make_traceparent(request.report.trace_id));
    }
    head.method = "GET";
    head.target = rule.target;
    return head;
}

struct Trouble {
    Metrics::Failure counted;
    ProblemKind kind;
    std::string_view told;
};

Trouble trouble_of(SideFault fault) {
    constexpr std::string_view not_asked =
        "The authorisation service could not be asked. Nothing was done: the same request can be sent again.";
    constexpr std::string_view no_answer =
        "The authorisation service did not answer in time. Nothing was done: the same request can be sent again.";
    using Failure = Metrics::Failure;
    switch (fault) {
        case SideFault::unreachable: return {Failure::connect, ProblemKind::upstream_unreachable, not_asked};
        case SideFault::broken: return {Failure::broken, ProblemKind::upstream_unreachable, not_asked};
        case SideFault::too_large: return {Failure::malformed, ProblemKind::upstream_unreachable, not_asked};
        case SideFault::timed_out: return {Failure::timeout, ProblemKind::upstream_timeout, no_answer};
    }
    std::abort();
}

asio::awaitable<void> refuse(Request& request, std::size_t upstream, SideFault fault) {
    const auto trouble = trouble_of(fault);
    Metrics::upstream_failed(*request.generation.shared().upstream(upstream).counts, trouble.counted);
    request.worker.shared.log.limited(
        std::string("upstream ").append(request.generation.config().upstreams[upstream].name),
        std::string("authorisation of route ").append(request.route.name).append(": ").append(text_of(fault)));
    core::Problem problem;
    problem.kind = trouble.kind;
    problem.detail = trouble.told;
    co_await request.refuse(std::move(problem), outcome_of(trouble.kind));
}

SideLimits limits_of(const config::Authorize& rule) {
    SideLimits limits;
    limits.write_idle = rule.timeout;
    limits.answer = rule.timeout;
    limits.body_bytes = body_bytes_max;
    return limits;
}

}  // namespace

asio::awaitable<bool> permits(const Request& request, const config::Route& route, std::string target) {
    if (!route.authorize) co_return true;
    const auto& rule = *route.authorize;
    const SideLimits limits = limits_of(rule);
    const std::optional<std::string> other(std::move(target));
    auto asked = question(request, rule, other);
    const auto answer = co_await side_request(request.generation.pool(rule.upstream), std::move(asked), limits);
    co_return answer.has_value() && answer->head.status >= 200 && answer->head.status < 300;
}

asio::awaitable<bool> authorize(Request& request) {
    if (!request.route.authorize) co_return true;
    const auto& rule = *request.route.authorize;
    const SideLimits limits = limits_of(rule);
    auto asked = question(request, rule);
    std::chrono::nanoseconds time{0};
    boost::system::result<SideAnswer, SideFault> answer = SideFault::unreachable;
    {
        const Stopwatch watch(time);
        answer = co_await side_request(request.generation.pool(rule.upstream), std::move(asked), limits);
    }
    if (answer.has_error()) {
        co_await refuse(request, rule.upstream, answer.error());
        co_return false;
    }
    Metrics::upstream_answered(*request.generation.shared().upstream(rule.upstream).counts, time);
    auto head = core::for_client(answer->head, {});
    if (head.status >= 200 && head.status < 300) {
        request.authorization = std::move(head.fields);
        co_return true;
    }
    request.report.outcome = Outcome::unauthorized;
    co_await request.client.send(std::move(head), answer->body);
    co_return false;
}

}  // namespace oncegate::proxy
