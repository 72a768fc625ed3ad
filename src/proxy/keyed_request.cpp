#include "proxy/keyed_request.hpp"

#include "core/idempotency_key.hpp"

namespace oncegate::proxy {

namespace asio = boost::asio;
using core::ProblemKind;

namespace {

core::Problem problem_of(ProblemKind kind, std::string detail = {}, std::optional<int> status = std::nullopt) {
    core::Problem problem;
    problem.kind = kind;
    problem.detail = std::move(detail);
    problem.status = status;
    return problem;
}

/// The body as bytes, hashed on the way. False when the request is over (answered, or the client broke off).
asio::awaitable<bool> read_body(Request& request, net::BodySpill& body, core::Sha256& hash) {
    const auto limit = request.server().limits.request_body;
    const auto framing = request.client.request_framing();
    const bool announced_too_large = framing.kind == core::Framing::Kind::length && framing.bytes > limit;
    if (!announced_too_large) co_await request.client.invite_body();
    while (!announced_too_large) {
        const auto piece = co_await request.client.body().next();
        if (piece.has_error()) {
            request.client.close_after();
            request.report.outcome = Outcome::rejected;
            if (piece.error().kind == net::BodyFault::Kind::malformed) {
                co_await request.refuse(
                    problem_of(ProblemKind::bad_request, "The request body's framing is malformed."),
                    Outcome::rejected);
            } else if (piece.error().kind == net::BodyFault::Kind::timed_out) {
                co_await request.refuse(
                    problem_of(ProblemKind::bad_request, "The request body did not arrive in time.", 408),
                    Outcome::rejected);
            }
            co_return false;
        }
        if (piece->empty()) co_return true;
        request.client.count_in(piece->size());
        if (body.size() + piece->size() > limit) break;
        hash.update(*piece);
        if (body.append(*piece)) {
            request.worker.shared.log.error("a request body could not be written to a temporary file");
            request.client.close_after();
            co_await request.refuse(problem_of(ProblemKind::overloaded, "There is no room to keep the request body."),
                                    Outcome::rejected);
            co_return false;
        }
    }
    request.client.close_after();
    co_await request.refuse(problem_of(ProblemKind::body_too_large), Outcome::rejected);
    co_return false;
}

}  // namespace

core::Fingerprint Ticket::as_of(const core::RequestHead& head, const core::Fingerprint& standing) const {
    if (standing.recipe == fingerprint.recipe) return fingerprint;
    const auto rule = core::rule_of(standing.recipe);
    return rule ? core::fingerprint(*rule, head, core::Content{body_digest, {}}) : fingerprint;
}

asio::awaitable<std::optional<KeyFound>> find_key(Request& request, bool& missing) {
    const core::Policy& policy = *request.route.policy;
    auto key = core::read_key(policy.key, request.head());
    missing = key.has_error() && key.error().kind == core::KeyFault::Kind::missing;
    if (missing && policy.key.required == core::KeyRule::Required::no) co_return std::nullopt;
    if (key.has_error()) {
        const auto kind = missing ? ProblemKind::key_missing : ProblemKind::key_invalid;
        missing = false;
        co_await request.refuse(problem_of(kind, std::move(key.error().detail)), outcome_of(kind));
        co_return std::nullopt;
    }
    std::string shown;
    core::ScopeSource source{request.route.name, request.head(), request.report.client, {}};
    if (const auto* proof = request.client.certificate()) {
        shown = core::certificate_identity(proof->subject, proof->names, proof->fingerprint);
        source.client_cert = shown;
    }
    auto scope = core::read_scope(policy.scope, source);
    if (scope.has_error()) {
        co_await request.refuse(problem_of(ProblemKind::principal_missing,
                                           "The request lacks " + scope.error() + ", which says whose key it is."),
                                Outcome::principal_missing);
        co_return std::nullopt;
    }
    co_return KeyFound{std::move(*key), std::move(*scope)};
}

asio::awaitable<std::optional<Ticket>> make_ticket(Request& request, KeyFound found) {
    Ticket ticket{{}, {}, {}, net::BodySpill(request.server().limits.memory_body)};
    ticket.id = core::identify(found.scope, found.key);
    request.report.key_hash = request.worker.shared.log_names.name(ticket.id, 32);
    if (request.generation.config().log.keys == config::Log::Keys::plain) request.report.key = found.key;

    core::Sha256 hash;
    if (!co_await read_body(request, ticket.body, hash)) co_return std::nullopt;
    ticket.body_digest = hash.finish();
    ticket.fingerprint =
        core::fingerprint(request.route.policy->fingerprint, request.head(), core::Content{ticket.body_digest, {}});
    request.report.fingerprint = request.worker.shared.log_names.name(ticket.fingerprint.digest, 16);
    co_return std::optional<Ticket>(std::move(ticket));
}

}  // namespace oncegate::proxy
