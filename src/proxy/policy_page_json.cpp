// The policy page for programs. Its shape is a promise: members are added, never renamed (config/README.md).

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "config/units.hpp"
#include "core/problem.hpp"
#include "proxy/policy_page.hpp"
#include "proxy/policy_sentences.hpp"
#include "proxy/policy_words.hpp"

namespace oncegate::proxy {

namespace {

namespace json = boost::json;

template <class Items, class Convert>
json::array array_of(const Items& items, Convert convert) {
    json::array out;
    for (const auto& item : items) out.emplace_back(convert(item));
    return out;
}

json::value or_null(const std::string& text) { return text.empty() ? json::value() : json::value(text); }

json::object key_json(const core::KeyRule& rule) {
    const auto place = [](const core::KeyLocation& location) { return word(location); };
    const bool dated = rule.required == core::KeyRule::Required::from_date;
    return {{"from", array_of(rule.from, [&](const auto& places) { return array_of(places, place); })},
            {"required", rule.required == core::KeyRule::Required::yes},
            {"required_from", dated ? json::value(config::date_text(rule.required_from)) : json::value()},
            {"syntax", word(rule.syntax)},
            {"min_length", rule.min_length},
            {"max_length", rule.max_length},
            {"pattern", or_null(rule.pattern_text)},
            {"reject_personal_data", rule.reject_personal_data},
            {"ignore_uuid_case", rule.ignore_uuid_case}};
}

json::value fingerprint_json(const core::FingerprintRule& rule) {
    if (rule.off) return nullptr;
    return json::object{{"include", array_of(rule.include, [](const auto& part) { return word(part); })},
                        {"body", word(rule.body)},
                        {"ignore", array_of(rule.ignore, [](const std::string& pointer) { return pointer; })},
                        {"mismatch_status", rule.mismatch_status}};
}

json::object errors_json(const core::ErrorTemplates& templates) {
    json::object out;
    for (const auto& [kind, one] : templates) out[core::fragment(kind)] = one.content_type;
    return out;
}

json::object route_json(const config::Route& route, std::string_view page_url) {
    const core::Policy& policy = *route.policy;
    const auto& own_page = policy.documentation;
    return {{"route", route.name},
            {"mode", word(policy.mode)},
            {"host", or_null(route.match.host)},
            {"path", route.match.path ? route.match.path->text() : "/**"},
            {"methods", array_of(route.enforced_methods, [](const std::string& method) { return method; })},
            {"documentation", own_page.empty() ? page_url : std::string_view(own_page)},
            {"key", key_json(policy.key)},
            {"scope", array_of(policy.scope, [](const auto& part) { return word(part); })},
            {"fingerprint", fingerprint_json(policy.fingerprint)},
            {"in_flight",
             {{"action", word(policy.in_flight.action)},
              {"wait_ms", policy.in_flight.wait.count()},
              {"retry_after_ms", policy.in_flight.retry_after.count()}}},
            {"unknown_outcome", word(policy.unknown_outcome)},
            {"record",
             {{"free_statuses", policy.record.free_statuses.describe()},
              {"unknown_statuses", policy.record.unknown_statuses.describe()},
              {"upstream_decides", policy.record.upstream_decides},
              {"body_limit", policy.record.body_limit},
              {"respect_no_store", policy.record.respect_no_store}}},
            {"replay",
             {{"mode", word(policy.replay.mode)},
              {"marker", or_null(policy.replay.marker)},
              {"date", word(policy.replay.date)}}},
            {"ttl_ms", policy.ttl.count()},
            {"after_ttl", word(policy.after_ttl)},
            {"tombstone_ms", policy.tombstone.count()},
            {"store_down", word(policy.store_down)},
            {"errors", errors_json(policy.errors)}};
}

json::object problem_json(core::ProblemKind kind, std::string_view page_url) {
    return {{"type", std::string(page_url).append("#").append(core::fragment(kind))},
            {"code", core::fragment(kind)},
            {"status", core::default_status(kind)},
            {"title", core::title(kind)},
            {"explanation", core::explanation(kind)}};
}

}  // namespace

std::string policy_page_json(const config::Config& config, std::string_view page_url) {
    json::array routes;
    for (const auto& route : config.routes) {
        if (is_published(route)) routes.push_back(route_json(route, page_url));
    }
    const auto& limits = config.server.limits;
    return json::serialize(json::object{
        {"promise", promise()},
        {"draft", draft()},
        {"limits", {{"request_head", limits.request_head}, {"request_body", limits.request_body}}},
        {"routes", std::move(routes)},
        {"problems", array_of(core::all_problem_kinds(), [&](auto kind) { return problem_json(kind, page_url); })}});
}

}  // namespace oncegate::proxy
