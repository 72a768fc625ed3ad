#include "proxy/kept_content.hpp"

namespace oncegate::proxy {

namespace asio = boost::asio;
using core::problem_of;
using core::ProblemKind;

namespace {

/// Nothing for a client that is gone.
std::optional<core::Problem> problem_of(const net::BodyFault& fault) {
    switch (fault.kind) {
        case net::BodyFault::Kind::malformed:
            return problem_of(ProblemKind::bad_request, "The request body's framing is malformed.");
        case net::BodyFault::Kind::timed_out:
            return problem_of(ProblemKind::bad_request, "The request body did not arrive in time.", 408);
        case net::BodyFault::Kind::cut_off: return std::nullopt;
    }
    std::abort();
}

}  // namespace

asio::awaitable<bool> KeptContent::read() {
    if (is_read_) co_return true;
    const auto limit = request_.server().limits.request_body;
    const auto framing = request_.client.request_framing();
    const bool announced_too_large = framing.kind == core::Framing::Kind::length && framing.bytes > limit;
    if (!announced_too_large) co_await request_.client.invite_body();
    core::Sha256 hash;
    while (!announced_too_large) {
        const auto piece = co_await request_.client.body().next();
        if (piece.has_error()) {
            request_.client.close_after();
            request_.report.outcome = Outcome::rejected;
            auto problem = problem_of(piece.error());
            if (problem) co_await request_.refuse(std::move(*problem), Outcome::rejected);
            co_return false;
        }
        if (piece->empty()) {
            digest_ = hash.finish();
            is_read_ = true;
            co_return true;
        }
        request_.client.count_in(piece->size());
        if (body_.size() + piece->size() > limit) break;
        hash.update(*piece);
        const bool kept = co_await keep(*piece);
        if (!kept) co_return false;
    }
    request_.client.close_after();
    co_await request_.refuse(problem_of(ProblemKind::body_too_large), Outcome::rejected);
    co_return false;
}

asio::awaitable<bool> KeptContent::keep(std::string_view piece) {
    if (!body_.append(piece)) co_return true;
    request_.worker.shared.log.error("a request body could not be written to a temporary file");
    request_.client.close_after();
    auto problem = problem_of(ProblemKind::overloaded, "There is no room to keep the request body.");
    problem.retry_after = std::chrono::seconds(1);
    co_await request_.refuse(std::move(problem), Outcome::rejected);
    co_return false;
}

std::string_view KeptContent::bytes(net::MappedBytes& pages) const {
    const auto whole = body_.whole(pages);
    if (whole.has_error()) throw UnreadableContent("a kept request body cannot be mapped: " + whole.error().message());
    return *whole;
}

core::Fingerprint KeptContent::fingerprint(const core::FingerprintRule& rule) const {
    net::MappedBytes pages;
    core::Content content{digest_, {}};
    if (core::reads_content(rule)) content.bytes = bytes(pages);
    return core::fingerprint(rule, request_.head(), content);
}

core::Framing KeptContent::framing() const {
    if (request_.client.request_framing().kind == core::Framing::Kind::none) return {};
    return {core::Framing::Kind::length, body_.size()};
}

}  // namespace oncegate::proxy
