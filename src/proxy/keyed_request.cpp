#include "proxy/keyed_request.hpp"

#include <chrono>

#include "config/units.hpp"
#include "core/idempotency_key.hpp"
#include "proxy/bearer.hpp"

namespace oncegate::proxy {

namespace asio = boost::asio;
using core::ProblemKind;

namespace {

Refusal refusal_of(ProblemKind kind, std::string detail) {
    Refusal refusal;
    refusal.problem.kind = kind;
    refusal.problem.detail = std::move(detail);
    refusal.outcome = outcome_of(kind);
    return refusal;
}

std::chrono::sys_seconds now() { return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()); }

/// A request without a key: may it go on?
KeyReading without_key(const Request& request, std::string what_is_missing) {
    switch (core::when_missing(request.route.policy->key, now())) {
        case core::Keyless::refused: return refusal_of(ProblemKind::key_missing, std::move(what_is_missing));
        case core::Keyless::forwarded: break;
        case core::Keyless::announced:
            request.worker.shared.log.limited(std::string("route ").append(request.route.name),
                                              std::string("a request without an idempotency key was forwarded; from ")
                                                  .append(config::date_text(request.route.policy->key.required_from))
                                                  .append(" on it will be refused (key.required)"));
            break;
    }
    Metrics::keyless(request.counts());
    return NoKeyNeeded{};
}

boost::system::result<std::vector<core::ScopeValue>, std::string> scope_of(const Request& request,
                                                                           const TokenReading& token) {
    std::string shown;
    core::ScopeSource source{request.route.name, request.head(), request.report.client};
    if (const auto* proof = request.client.certificate()) {
        shown = core::certificate_identity(proof->subject, proof->names, proof->fingerprint);
        source.client_cert = shown;
    }
    if (token.claims) source.claims = &*token.claims;
    if (request.authorization) source.authorization = &*request.authorization;
    return core::read_scope(request.route.policy->scope, source);
}

}  // namespace

asio::awaitable<KeyReading> find_key(Request& request, KeptContent& content) {
    const core::Policy& policy = *request.route.policy;
    auto token = read_token(request);
    if (token.refusal) co_return std::move(*token.refusal);  // before the body costs anything
    net::MappedBytes pages;
    std::string_view bytes;
    if (core::reads_content(policy.key)) {
        const bool whole = co_await content.read();
        if (!whole) co_return Over{};
        bytes = content.bytes(pages);
    }
    auto key = core::read_key(policy.key, request.head(), bytes);
    if (key.has_error()) {
        auto fault = key.error();
        if (fault.kind == core::KeyFault::Kind::missing) co_return without_key(request, std::move(fault.detail));
        co_return refusal_of(ProblemKind::key_invalid, std::move(fault.detail));
    }
    auto scope = scope_of(request, token);
    if (scope.has_error()) {
        if (scope.error().starts_with("auth:")) {
            request.worker.shared.log.limited(std::string("route ").append(request.route.name),
                                              std::string("the answer of the authorisation service lacks ")
                                                  .append(scope.error().substr(sizeof "auth:" - 1)));
        }
        co_return refusal_of(
            ProblemKind::principal_missing,
            std::string("The request lacks ").append(scope.error()).append(", which says whose key it is."));
    }
    KeyFound found{std::move(*key), std::move(*scope), {}};
    found.id = core::identify(found.scope, found.key);
    request.report.key_hash = request.worker.shared.log_names.name(found.id, 32);
    if (request.generation.config().log.keys == config::Log::Keys::plain) request.report.key = found.key;
    co_return std::move(found);
}

Ticket make_ticket(const Request& request, KeyFound found, const KeptContent& content) {
    Ticket ticket;
    ticket.id = found.id;
    ticket.key = std::move(found.key);
    ticket.scope = std::move(found.scope);
    ticket.fingerprint = content.fingerprint(request.route.policy->fingerprint);
    request.report.fingerprint = request.worker.shared.log_names.name(ticket.fingerprint.digest, 16);
    return ticket;
}

}  // namespace oncegate::proxy
