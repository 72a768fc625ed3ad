#include "core/classify.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/ascii.hpp"

namespace oncegate::core {

namespace {

/// "Nothing was done" is only the whole truth when no earlier attempt may have acted.
Verdict nothing_done(std::uint32_t attempt) { return attempt == 1 ? Verdict::release : Verdict::unknown; }

Verdict kept(Answered::Keeping keeping) {
    return keeping == Answered::Keeping::replayable ? Verdict::complete : Verdict::complete_unreplayable;
}

Verdict nobody_knows(const Policy& policy, Answered::Keeping keeping) {
    return policy.unknown_outcome == UnknownOutcome::fail ? kept(keeping) : Verdict::unknown;
}

Verdict of_failure(const Policy& policy, const Failure& failure, std::uint32_t attempt) {
    if (failure.bytes_sent == 0) return nothing_done(attempt);
    return policy.unknown_outcome == UnknownOutcome::fail ? Verdict::complete_failure : Verdict::unknown;
}

Verdict of_answer(const Policy& policy, const Answered& answer, std::uint32_t attempt) {
    if (policy.record.upstream_decides) {
        const auto word = trim_ows(answer.outcome_field);
        if (word == "record") return kept(answer.keeping);
        if (word == "free") return nothing_done(attempt);
        if (word == "unknown") return nobody_knows(policy, answer.keeping);
    }
    if (policy.record.free_statuses.contains(answer.status)) return nothing_done(attempt);
    if (policy.record.unknown_statuses.contains(answer.status)) return nobody_knows(policy, answer.keeping);
    return kept(answer.keeping);
}

bool has_dot_segment(std::string_view target) {
    target = target.substr(0, target.find('?'));
    while (!target.empty()) {
        const auto end = std::min(target.find('/'), target.size());
        const auto segment = target.substr(0, end);
        if (segment == "." || segment == "..") return true;
        target.remove_prefix(std::min(end + 1, target.size()));
    }
    return false;
}

}  // namespace

Verdict classify(const Policy& policy, const UpstreamOutcome& outcome, std::uint32_t attempt) {
    if (const auto* failure = std::get_if<Failure>(&outcome)) return of_failure(policy, *failure, attempt);
    return of_answer(policy, std::get<Answered>(outcome), attempt);
}

Reply read_reply(const AskRule& rule, std::optional<int> status) {
    if (!status) return Reply::unclear;
    if (rule.done.contains(*status)) return Reply::done;
    return rule.not_done.contains(*status) ? Reply::not_done : Reply::unclear;
}

std::optional<std::string> question_target(const AskRule& rule, std::string_view key) {
    constexpr std::string_view place = "{key}";
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string encoded;
    for (const char c : key) {
        const auto byte = static_cast<unsigned char>(c);
        const bool unreserved = is_alpha(c) || is_digit(c) || c == '-' || c == '.' || c == '_' || c == '~';
        if (unreserved) {
            encoded.push_back(c);
        } else {
            encoded.append({'%', digits[byte >> 4], digits[byte & 0xFU]});
        }
    }
    std::string target;
    std::string_view rest = rule.get;
    for (auto at = rest.find(place); at != std::string_view::npos; at = rest.find(place)) {
        target.append(rest.substr(0, at)).append(encoded);
        rest.remove_prefix(at + place.size());
    }
    target.append(rest);
    if (has_dot_segment(target)) return std::nullopt;
    return target;
}

std::string_view reason_text(const UpstreamOutcome& outcome) {
    const auto* failure = std::get_if<Failure>(&outcome);
    if (failure == nullptr) return "the upstream's status says that the outcome is unknown";
    switch (failure->cause) {
        case Failure::Cause::unreachable: return "the upstream could not be reached by a later attempt";
        case Failure::Cause::broken: return "the upstream broke off after the request was sent";
        case Failure::Cause::timeout: return "the upstream did not answer in time";
    }
    std::abort();
}

}  // namespace oncegate::core
