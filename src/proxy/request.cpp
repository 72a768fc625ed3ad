#include "proxy/request.hpp"

#include "core/forwarding.hpp"
#include "core/head_rules.hpp"
#include "proxy/trace.hpp"

namespace oncegate::proxy {

namespace {

/// A client that names the key's field in Connection does not take the key from the upstream (R121).
void keep_key_fields(core::Fields& out, const core::Fields& received, const core::KeyRule& rule) {
    for (const auto& alternative : rule.from) {
        for (const auto& location : alternative) {
            if (location.kind != core::KeyLocation::Kind::header || out.contains(location.name)) continue;
            for (const auto field : received) {
                if (core::iequals(field.name, location.name)) out.add(field.name, field.value);
            }
        }
    }
}

/// Fields of the authorisation service's answer take the place of the client's, which are not believed under such a
/// name: not even where the service says nothing.
void take_over(const std::vector<std::string>& names, const std::optional<core::Fields>& answer, core::Fields& out) {
    if (!answer) return;
    for (const auto& name : names) {
        for (const auto field : *answer) {
            if (core::iequals(field.name, name)) out.add(field.name, field.value);
        }
    }
}

}  // namespace

std::string built_in_policy_page(const ClientSide& client) {
    constexpr std::string_view path = "/.well-known/idempotency";
    const auto host = core::effective_host(client.request());
    if (host.empty()) return std::string(path);
    return std::string(client.scheme()).append("://").append(host).append(path);
}

namespace {

std::string policy_page_of(const config::Route* route, const ClientSide& client) {
    if (route != nullptr && route->policy && !route->policy->documentation.empty()) return route->policy->documentation;
    return built_in_policy_page(client);
}

}  // namespace

core::ProblemResponse render(const core::Problem& problem, const config::Route* route, const ClientSide& client) {
    const auto page = policy_page_of(route, client);
    const bool own_format = route != nullptr && route->policy && route->policy->mode != core::Mode::off;
    return own_format ? core::render(problem, page, route->policy->errors) : core::render(problem, page);
}

core::ProblemResponse Request::render(const core::Problem& problem) const {
    return proxy::render(problem, &route, client);
}

boost::asio::awaitable<void> Request::refuse(core::Problem problem, Outcome outcome) {
    report.outcome = outcome;
    co_await client.refuse(render(problem));
}

void Request::note_upstream_failure(Metrics::Failure kind, std::string_view what) const {
    Metrics::upstream_failed(*generation.shared().upstream(route.upstream).counts, kind);
    worker.shared.log.limited("upstream " + upstream().name, what);
}

core::RequestHead Request::upstream_head(core::Upgrade upgrade) const {
    core::ForwardingRule rule;
    rule.upgrade = upgrade;
    switch (route.host.kind) {
        case config::HostRule::Kind::preserve: break;
        case config::HostRule::Kind::upstream: rule.host = std::string_view(); break;
        case config::HostRule::Kind::name: rule.host = route.host.name; break;
    }
    auto out = core::for_upstream(head(), client.peer(), worker.shared.pseudonym, rule);
    if (route.policy) keep_key_fields(out.fields, head().fields, route.policy->key);
    if (!is_traceparent(out.fields.find("traceparent").value_or(""))) {
        out.fields.set("traceparent", make_traceparent(report.trace_id));
    }
    drop_overruled(out.fields);
    if (route.authorize) take_over(route.authorize->forward, authorization, out.fields);
    core::apply(route.request_headers, out.fields);
    return out;
}

void Request::drop_overruled(core::Fields& fields) const {
    const auto drop = [&](const std::string& name) {
        fields.remove_if([&](const core::FieldView& field) { return core::spells(field.name, name); });
    };
    if (route.authorize) {
        for (const auto& name : route.authorize->forward) drop(name);
    }
    for (const auto& name : route.request_headers.remove) drop(name);
    for (const auto& [name, value] : route.request_headers.set) drop(name);
}

core::RequestHead addressed_to(core::RequestHead head, const net::UpstreamServer& server) {
    if (!head.fields.contains("Host")) head.fields.add("Host", server.authority);
    return head;
}

Outcome outcome_of(core::ProblemKind kind) {
    using Kind = core::ProblemKind;
    switch (kind) {
        case Kind::key_missing: return Outcome::key_missing;
        case Kind::key_invalid: return Outcome::key_invalid;
        case Kind::principal_missing: return Outcome::principal_missing;
        case Kind::key_reused: return Outcome::key_reused;
        case Kind::in_flight: return Outcome::in_flight;
        case Kind::outcome_unknown: return Outcome::outcome_unknown;
        case Kind::not_replayable: return Outcome::not_replayable;
        case Kind::key_expired: return Outcome::key_expired;
        case Kind::store_unavailable: return Outcome::store_unavailable;
        case Kind::upstream_unreachable:
        case Kind::upstream_failed: return Outcome::bad_gateway;
        case Kind::upstream_timeout: return Outcome::timeout;
        case Kind::unauthorized: return Outcome::unauthorized;
        case Kind::body_too_large:
        case Kind::head_too_large:
        case Kind::overloaded:
        case Kind::no_route:
        case Kind::bad_request: return Outcome::rejected;
    }
    std::abort();
}

}  // namespace oncegate::proxy
