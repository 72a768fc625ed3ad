// Values that are right one by one and wrong together. Each is reported where the value that can mend it was written.

#include <algorithm>

#include "config/policy_layer.hpp"
#include "config/units.hpp"

namespace oncegate::config {

namespace {

using core::InFlightRule;
using core::KeyLocation;
using core::Policy;

void check_key(const ResolvedPolicy& resolved, Problems& problems) {
    const auto& key = resolved.policy.key;
    if (key.min_length > key.max_length) {
        const auto* path = resolved.is_written("key.min_length") ? "key.min_length" : "key.max_length";
        problems.add(resolved.place_of(path), "key.min_length " + std::to_string(key.min_length) +
                                                  " is above key.max_length " + std::to_string(key.max_length));
    }
    const bool elsewhere = std::any_of(key.from.begin(), key.from.end(), [](const auto& parts) {
        return std::any_of(parts.begin(), parts.end(),
                           [](const KeyLocation& part) { return part.kind != KeyLocation::Kind::header; });
    });
    if (elsewhere && key.syntax == core::KeySyntax::string) {
        const auto* path = resolved.is_written("key.syntax") ? "key.syntax" : "key.from";
        problems.add(resolved.place_of(path),
                     "syntax string is for header fields; a key from elsewhere needs key.syntax: bare or any");
    }
}

void check_in_flight(const ResolvedPolicy& resolved, Problems& problems) {
    const auto& rule = resolved.policy.in_flight;
    if (rule.action == InFlightRule::Action::reject && resolved.is_written("in_flight.wait")) {
        problems.add(resolved.place_of("in_flight.wait"), "has no effect without in_flight.action: wait");
    }
    if (rule.action == InFlightRule::Action::reject && resolved.is_written("in_flight.waiters")) {
        problems.add(resolved.place_of("in_flight.waiters"), "has no effect without in_flight.action: wait");
    }
    if (rule.action == InFlightRule::Action::wait && rule.wait.count() == 0 && !resolved.is_written("in_flight.wait")) {
        problems.add(resolved.place_of("in_flight.action"), "wait needs in_flight.wait, the longest time to wait");
    }
}

void check_statuses(const ResolvedPolicy& resolved, Problems& problems) {
    const auto& record = resolved.policy.record;
    if (!record.free_statuses.overlaps(record.unknown_statuses)) return;
    core::StatusSet both;
    for (int status = 200; status < 600; ++status) {
        if (record.free_statuses.contains(status) && record.unknown_statuses.contains(status)) both.add(status, status);
    }
    const auto* path =
        resolved.is_written("record.unknown_statuses") ? "record.unknown_statuses" : "record.free_statuses";
    problems.add(
        resolved.place_of(path),
        both.describe() + " would be in record.free_statuses and in record.unknown_statuses; a status has one meaning");
}

void check_times(const ResolvedPolicy& resolved, Problems& problems) {
    const Policy& policy = resolved.policy;
    if (policy.ttl < policy.lease) {
        const auto* path = resolved.is_written("ttl") ? "ttl" : "lease";
        problems.add(resolved.place_of(path),
                     "ttl " + duration_text(policy.ttl) + " is below lease " + duration_text(policy.lease));
    }
    if (policy.after_ttl == core::AfterTtl::reject && policy.tombstone.count() == 0) {
        problems.add(resolved.place_of("after_ttl"),
                     "reject needs tombstone, the time for which an expired key is remembered");
    }
}

/// Whether `inner` leads into what `outer` leads to.
bool is_inside(const std::string& inner, const std::string& outer) {
    return inner.size() > outer.size() && inner.starts_with(outer) && inner[outer.size()] == '/';
}

/// What is left out must be a piece of something that is compared.
void check_ignore(const ResolvedPolicy& resolved, Problems& problems) {
    const auto& rule = resolved.policy.fingerprint;
    if (rule.off || rule.ignore.empty()) return;
    const auto report = [&](const std::string& why) { problems.add(resolved.place_of("fingerprint.ignore"), why); };
    if (rule.body != core::BodyComparison::json) return report("works on JSON only; it needs fingerprint.body: json");
    using Kind = core::FingerprintPart::Kind;
    for (const auto& pointer : rule.ignore) {
        bool has_effect = false;
        for (const auto& part : rule.include) {
            const bool whole = part.kind == Kind::json && (part.name == pointer || is_inside(part.name, pointer));
            if (whole) return report(pointer + " leaves out all of json:" + part.name + ", which include names");
            has_effect =
                has_effect || part.kind == Kind::body || (part.kind == Kind::json && is_inside(pointer, part.name));
        }
        if (!has_effect) return report(pointer + " has no effect: nothing that include names holds it");
    }
}

/// Another comparison than the default, of a body that takes no part.
void check_body_comparison(const ResolvedPolicy& resolved, Problems& problems) {
    const auto& rule = resolved.policy.fingerprint;
    if (rule.off || rule.body == core::BodyComparison::bytes || !resolved.is_written("fingerprint.body")) return;
    if (!rule.ignore.empty()) return;  // check_ignore() says it of what is ignored
    const bool takes_part =
        std::any_of(rule.include.begin(), rule.include.end(), [](const core::FingerprintPart& part) {
            return part.kind == core::FingerprintPart::Kind::body || part.kind == core::FingerprintPart::Kind::json;
        });
    if (!takes_part)
        problems.add(resolved.place_of("fingerprint.body"), "has no effect: body is not in fingerprint.include");
}

/// `{key}` stands for one text: a compound key has several.
void check_ask(const ResolvedPolicy& resolved, Problems& problems) {
    const Policy& policy = resolved.policy;
    if (policy.unknown_outcome != core::UnknownOutcome::ask || !resolved.is_written("ask")) return;
    const bool compound =
        std::any_of(policy.key.from.begin(), policy.key.from.end(), [](const auto& parts) { return parts.size() > 1; });
    if (compound)
        problems.add(resolved.place_of("ask"), "{key} cannot stand for a key of several parts (key.from: all)");
}

}  // namespace

void check_combinations(const ResolvedPolicy& resolved, Problems& problems) {
    const Policy& policy = resolved.policy;
    if (policy.scope.empty() && policy.mode != core::Mode::off && !resolved.is_written("scope")) {
        problems.add(*resolved.block,
                     "scope must be written: it says whose key it is, such as [route, header:Authorization]; "
                     "[route] when all clients share one scope");
    }
    check_key(resolved, problems);
    check_in_flight(resolved, problems);
    check_statuses(resolved, problems);
    check_times(resolved, problems);
    check_ask(resolved, problems);
    check_body_comparison(resolved, problems);
    if (policy.suspect_window.count() > 0 && policy.fingerprint.off) {
        problems.add(resolved.place_of("suspect_window"), "compares fingerprints, and fingerprint is off");
    }
    if (resolved.is_written("ask") && policy.unknown_outcome != core::UnknownOutcome::ask) {
        problems.add(resolved.place_of("ask"), "has no effect without unknown_outcome: ask");
    }
    if (policy.unknown_outcome == core::UnknownOutcome::ask && !resolved.is_written("ask")) {
        problems.add(resolved.place_of("unknown_outcome"), "ask needs the block ask: { get: /path/{key} }");
    }
    check_ignore(resolved, problems);
}

}  // namespace oncegate::config
