#include "proxy/policy_page.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "core/head_rules.hpp"
#include "core/problem.hpp"
#include "core/scope.hpp"
#include "proxy/request.hpp"

namespace oncegate::proxy {

namespace {

namespace json = boost::json;

constexpr std::string_view page_path = "/.well-known/idempotency";

constexpr std::string_view promise =
    "A request with an idempotency key is forwarded automatically at most once within the key's lifetime; every later "
    "request with the same key gets the recorded response. This is not exactly-once: when a forwarded request breaks "
    "off, "
    "its outcome is unknown, and the answer says so.";

std::string_view syntax_text(core::KeySyntax syntax) {
    switch (syntax) {
        case core::KeySyntax::string:
            return "a Structured Field String in double quotes (RFC 9651), such as \"8e03978e-40d5\"";
        case core::KeySyntax::bare: return "the bare value, such as 8e03978e-40d5";
        case core::KeySyntax::any: return "bare, or a Structured Field String in double quotes; both name the same key";
    }
    std::abort();
}

std::string duration_text(core::milliseconds duration) {
    const auto seconds = duration.count() / 1000;
    if (seconds > 0 && seconds % 3600 == 0) return std::to_string(seconds / 3600) + " h";
    if (seconds > 0 && seconds % 60 == 0) return std::to_string(seconds / 60) + " min";
    return std::to_string(seconds) + " s";
}

std::string key_fields(const core::KeyRule& rule) {
    std::string out;
    for (const auto& alternative : rule.from) {
        if (!out.empty()) out.append(" or ");
        for (std::size_t i = 0; i < alternative.size(); ++i)
            out.append(i > 0 ? " and " : "").append(alternative[i].name);
    }
    return out;
}

std::string joined(const std::vector<std::string>& words) {
    std::string out;
    for (const auto& word : words) out.append(out.empty() ? "" : ", ").append(word);
    return out;
}

/// The parts that make a request the same one, in words.
std::vector<std::string> same_request(const core::FingerprintRule& rule) {
    std::vector<std::string> parts;
    if (rule.off) return parts;
    for (const auto& part : rule.include) {
        switch (part.kind) {
            case core::FingerprintPart::Kind::method: parts.emplace_back("method"); break;
            case core::FingerprintPart::Kind::path: parts.emplace_back("path"); break;
            case core::FingerprintPart::Kind::query: parts.emplace_back("query"); break;
            case core::FingerprintPart::Kind::header: parts.push_back(part.name); break;
            case core::FingerprintPart::Kind::body: parts.emplace_back("body, byte by byte"); break;
            case core::FingerprintPart::Kind::json: parts.push_back("member " + part.name); break;
        }
    }
    return parts;
}

std::string_view unknown_text(core::UnknownOutcome rule) {
    switch (rule) {
        case core::UnknownOutcome::hold: return "is answered 409 until the key expires";
        case core::UnknownOutcome::ask: return "is asked of the service";
        case core::UnknownOutcome::retry: return "is forwarded again with the next retry";
        case core::UnknownOutcome::fail: return "is recorded as the failure it looks like";
    }
    std::abort();
}

std::string_view store_down_text(core::StoreDown rule) {
    return rule == core::StoreDown::reject ? "requests are answered 503" : "requests are forwarded unprotected";
}

std::string or_none(std::string text) { return text.empty() ? "none" : text; }

bool published(const config::Route& route) { return route.policy && route.policy->mode != core::Mode::off; }

json::object route_json(const config::Route& route) {
    const core::Policy& policy = *route.policy;
    json::array methods;
    for (const auto& method : route.enforced_methods) methods.emplace_back(method);
    json::array same;
    for (const auto& part : same_request(policy.fingerprint)) same.emplace_back(part);
    json::array scope;
    for (const auto& part : policy.scope) scope.emplace_back(core::name_of(part) + (part.optional ? "?" : ""));
    return {{"route", route.name},
            {"host", route.match.host},
            {"path", route.match.path ? route.match.path->text() : "/**"},
            {"methods", std::move(methods)},
            {"key",
             {{"from", key_fields(policy.key)},
              {"required", policy.key.required == core::KeyRule::Required::yes},
              {"syntax", syntax_text(policy.key.syntax)},
              {"min_length", policy.key.min_length},
              {"max_length", policy.key.max_length},
              {"pattern", policy.key.pattern_text}}},
            {"scope", std::move(scope)},
            {"fingerprint", std::move(same)},
            {"unknown_outcome", unknown_text(policy.unknown_outcome)},
            {"when_the_store_is_away", store_down_text(policy.store_down)},
            {"mismatch_status", policy.fingerprint.mismatch_status},
            {"lifetime_seconds", policy.ttl.count() / 1000},
            {"statuses_that_free_the_key", policy.record.free_statuses.describe()},
            {"statuses_with_unknown_outcome", policy.record.unknown_statuses.describe()},
            {"replay_marker", policy.replay.marker}};
}

json::object problem_json(core::ProblemKind kind, std::string_view page_url) {
    return {{"type", std::string(page_url).append("#").append(core::fragment(kind))},
            {"status", core::default_status(kind)},
            {"title", core::title(kind)},
            {"explanation", core::explanation(kind)}};
}

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&': out.append("&amp;"); break;
            case '<': out.append("&lt;"); break;
            case '>': out.append("&gt;"); break;
            case '"': out.append("&quot;"); break;
            default: out.push_back(c);
        }
    }
    return out;
}

void append_row(std::string& out, std::string_view name, std::string_view value) {
    out.append("<tr><th scope=\"row\">").append(name).append("</th><td>").append(escaped(value)).append("</td></tr>\n");
}

void append_route(std::string& out, const config::Route& route) {
    const core::Policy& policy = *route.policy;
    const bool required = policy.key.required == core::KeyRule::Required::yes;
    std::string scope;
    for (const auto& part : policy.scope) {
        scope.append(scope.empty() ? "" : ", ")
            .append(core::name_of(part))
            .append(part.optional ? " (may be absent)" : "");
    }
    out.append("<h3>").append(escaped(route.name)).append("</h3>\n<table>\n");
    append_row(out, "Requests",
               joined(route.enforced_methods) + " " + (route.match.path ? route.match.path->text() : "/**"));
    append_row(out, "Key", key_fields(policy.key) + (required ? ", required" : ", optional"));
    append_row(out, "Syntax", syntax_text(policy.key.syntax));
    append_row(out, "Length", std::to_string(policy.key.min_length) + " to " + std::to_string(policy.key.max_length));
    if (!policy.key.pattern_text.empty()) append_row(out, "Pattern", policy.key.pattern_text);
    append_row(out, "Whose key", scope);
    append_row(out, "Same request",
               policy.fingerprint.off ? "the key alone decides" : joined(same_request(policy.fingerprint)));
    if (!policy.fingerprint.off) {
        append_row(out, "Another request with the key", "status " + std::to_string(policy.fingerprint.mismatch_status));
    }
    append_row(out, "Lifetime", duration_text(policy.ttl) + " from the first acceptance; replays do not extend it");
    append_row(out, "Statuses that free the key", or_none(policy.record.free_statuses.describe()));
    append_row(out, "Statuses with an unknown outcome", or_none(policy.record.unknown_statuses.describe()));
    append_row(out, "An unknown outcome", unknown_text(policy.unknown_outcome));
    append_row(out, "When the store is away", store_down_text(policy.store_down));
    if (!policy.replay.marker.empty()) append_row(out, "Replays carry", policy.replay.marker + ": true");
    out.append("</table>\n");
}

}  // namespace

bool asks_for_policy_page(const core::RequestHead& head) {
    return (head.method == "GET" || head.method == "HEAD") && core::split_target(head.target).path == page_path;
}

std::string policy_page_json(const config::Config& config, std::string_view page_url) {
    json::array routes;
    for (const auto& route : config.routes) {
        if (published(route)) routes.push_back(route_json(route));
    }
    json::array problems;
    for (const auto kind : core::all_problem_kinds()) problems.push_back(problem_json(kind, page_url));
    return json::serialize(json::object{{"promise", promise},
                                        {"draft", "draft-ietf-httpapi-idempotency-key-header-07"},
                                        {"routes", std::move(routes)},
                                        {"problems", std::move(problems)}});
}

std::string policy_page_html(const config::Config& config) {
    std::string out =
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>Idempotency policy</title>\n"
        "<style>body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 "
        "1rem;color-scheme:light dark}"
        "table{border-collapse:collapse}th,td{text-align:left;vertical-align:top;padding:.2rem .8rem .2rem 0}"
        "h3:target{outline:2px solid;outline-offset:4px}</style></head>\n<body>\n<h1>Idempotency policy</h1>\n<p>";
    out.append(escaped(promise)).append("</p>\n<h2>Routes</h2>\n");
    for (const auto& route : config.routes) {
        if (published(route)) append_route(out, route);
    }
    out.append("<h2>Errors</h2>\n");
    for (const auto kind : core::all_problem_kinds()) {
        out.append("<h3 id=\"").append(core::fragment(kind)).append("\">").append(escaped(core::title(kind)));
        out.append("</h3>\n<p>Status ").append(std::to_string(core::default_status(kind)));
        out.append(kind == core::ProblemKind::key_reused ? ", or as the route above says. " : ". ");
        out.append(escaped(core::explanation(kind))).append("</p>\n");
    }
    out.append("</body></html>\n");
    return out;
}

boost::asio::awaitable<void> send_policy_page(ClientSide& client, const config::Config& config) {
    const auto accept = client.request().fields.combined("Accept").value_or("");
    const bool as_json = core::to_lower(accept).find("application/json") != std::string::npos;
    core::ResponseHead head;
    head.status = 200;
    head.reason = "OK";
    head.fields.add("Content-Type", as_json ? "application/json" : "text/html; charset=utf-8");
    head.fields.add("Cache-Control", "max-age=60");
    head.fields.add("Vary", "Accept");
    head.fields.add("X-Content-Type-Options", "nosniff");
    const auto body = as_json ? policy_page_json(config, built_in_policy_page(client)) : policy_page_html(config);
    co_await client.send(std::move(head), body);
}

}  // namespace oncegate::proxy
