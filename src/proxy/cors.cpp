#include "proxy/cors.hpp"

namespace oncegate::proxy {

namespace {

core::Credentials credentials_of(const config::Cors& cors) {
    return cors.allow_credentials ? core::Credentials::included : core::Credentials::omitted;
}

/// What scripts may read beside the fields that every script may (Fetch standard, "CORS-safelisted response-header
/// name").
std::string exposed(const config::Route& route) {
    std::string names;
    if (route.policy) {
        core::add_field_name(names, route.policy->replay.marker);
        core::add_field_name(names, "Idempotency-Recorded");
        core::add_field_name(names, "Idempotency-Refreshed");
        core::add_field_name(names, "Idempotency-Suspected");
    }
    for (const auto name : {"Retry-After", "Link", "Location", "WWW-Authenticate"}) core::add_field_name(names, name);
    for (const auto& name : route.cors->expose_headers) core::add_field_name(names, name);
    return names;
}

std::string allowed_methods(const config::Route& route, std::string_view wanted) {
    std::string names(route.match.methods.empty() ? wanted : std::string_view());
    for (const auto& method : route.match.methods) names.append(names.empty() ? "" : ", ").append(method);
    return names;
}

std::string allowed_headers(const config::Route& route) {
    std::string names;
    if (route.policy) {
        for (const auto& alternative : route.policy->key.from) {
            for (const auto& place : alternative) {
                if (place.kind == core::KeyLocation::Kind::header) core::add_field_name(names, place.name);
            }
        }
        for (const auto& part : route.policy->scope) {
            if (part.kind == core::ScopePart::Kind::header) core::add_field_name(names, part.name);
        }
    }
    if (route.jwt) core::add_field_name(names, route.jwt->header);
    core::add_field_name(names, "Content-Type");
    for (const auto& name : route.cors->allow_headers) core::add_field_name(names, name);
    return names;
}

}  // namespace

std::optional<core::CorsAnswer> cors_answer(const config::Route& route, const core::RequestHead& head) {
    if (!route.cors) return std::nullopt;
    core::CorsAnswer answer;
    answer.credentials = credentials_of(*route.cors);
    const auto origin = core::origin_of(head);
    if (!origin) return answer;
    answer.allow_origin =
        core::allowed_origin(route.cors->allow_origins, answer.credentials, *origin).value_or(std::string());
    if (!answer.allow_origin.empty()) answer.expose = exposed(route);
    return answer;
}

boost::asio::awaitable<void> answer_preflight(ClientSide& client, const config::Route& route) {
    core::PreflightAnswer answer;
    answer.about = *cors_answer(route, client.request());
    answer.methods = allowed_methods(route, core::preflight_method(client.request()).value_or(std::string_view()));
    answer.headers = allowed_headers(route);
    answer.max_age_s = std::chrono::floor<std::chrono::seconds>(route.cors->max_age).count();
    core::ResponseHead head;
    head.status = 204;
    head.reason = "No Content";
    head.fields = answer.fields();
    co_await client.send(std::move(head), std::string_view());
}

}  // namespace oncegate::proxy
