// The rows of `record.*` and `replay.*`: what is kept of a response, and how it is given back.

#include <algorithm>
#include <array>

#include "config/policy_settings.hpp"
#include "config/readers.hpp"
#include "config/units.hpp"
#include "config/yaml_text.hpp"
#include "core/ascii.hpp"

namespace oncegate::config {

namespace {

using core::AcceptEncoding;
using core::Policy;
using core::ReplayRule;
using core::StatusSet;

const Choice<AcceptEncoding> encodings{{{"as-is", AcceptEncoding::as_is}, {"identity", AcceptEncoding::identity}}};
const Choice<ReplayRule::Content> contents{
    {{"stored", ReplayRule::Content::stored}, {"refresh", ReplayRule::Content::refresh}}};
const Choice<ReplayRule::Date> dates{{{"original", ReplayRule::Date::original}, {"now", ReplayRule::Date::now}}};

std::optional<StatusSet> statuses(const Node& node, Problems& problems) {
    const auto before = problems.count();
    StatusSet set;
    for (const Node* item : items_of(node, problems)) {
        const auto written = text(*item, problems);
        std::string why;
        if (written && !add_statuses(set, *written, why)) problems.add(*item, why);
    }
    if (problems.count() != before) return std::nullopt;
    return set;
}

/// Fields that a replay must not lose to the marker, and those that the connection or the framing own.
bool means_something_else(std::string_view name) {
    constexpr std::array<std::string_view, 18> taken{"Idempotency-Recorded",
                                                     "Idempotency-Refreshed",
                                                     "Idempotency-Suspected",
                                                     "Idempotency-Outcome",
                                                     "Retry-After",
                                                     "Connection",
                                                     "Keep-Alive",
                                                     "TE",
                                                     "Trailer",
                                                     "Transfer-Encoding",
                                                     "Upgrade",
                                                     "Proxy-Connection",
                                                     "Content-Length",
                                                     "Content-Encoding",
                                                     "Date",
                                                     "Set-Cookie",
                                                     "Content-Type",
                                                     "Location"};
    return std::any_of(taken.begin(), taken.end(), [&](std::string_view one) { return core::iequals(one, name); });
}

std::optional<std::string> marker(const Node& node, Problems& problems) {
    if (node.kind == Node::Kind::blank || (node.kind == Node::Kind::scalar && node.text.empty())) return std::string();
    auto written = field_name(node, problems);
    if (written && means_something_else(*written)) {
        problems.add(node, "'" + *written + "' has a meaning of its own on a response; take another name");
        return std::nullopt;
    }
    return written;
}

constexpr std::uint64_t largest_body = 16ULL << 30;

}  // namespace

std::vector<Setting> record_settings() {
    return {
        {"record.free_statuses",
         [](const Node& n, Problems& e, Policy& p) { read_into(p.record.free_statuses, n, e, statuses); },
         [](const Policy& p) { return yaml_text(p.record.free_statuses); }},
        {"record.unknown_statuses",
         [](const Node& n, Problems& e, Policy& p) { read_into(p.record.unknown_statuses, n, e, statuses); },
         [](const Policy& p) { return yaml_text(p.record.unknown_statuses); }},
        {"record.upstream_decides",
         [](const Node& n, Problems& e, Policy& p) { read_into(p.record.upstream_decides, n, e, flag); },
         [](const Policy& p) { return yaml_text(truth(p.record.upstream_decides)); }},
        {"record.body_limit",
         [](const Node& n, Problems& e, Policy& p) {
             read_into(p.record.body_limit, n, e, Size{0, largest_body});
         },
         [](const Policy& p) { return size_text(p.record.body_limit); }},
        {"record.exclude_headers",
         [](const Node& n, Problems& e, Policy& p) { read_into(p.record.exclude_headers, n, e, field_names); },
         [](const Policy& p) { return yaml_texts(p.record.exclude_headers); }},
        {"record.respect_no_store",
         [](const Node& n, Problems& e, Policy& p) { read_into(p.record.respect_no_store, n, e, flag); },
         [](const Policy& p) { return yaml_text(truth(p.record.respect_no_store)); }},
        {"record.accept_encoding",
         [](const Node& n, Problems& e, Policy& p) { read_into(p.record.accept_encoding, n, e, encodings); },
         [](const Policy& p) {
             return std::string(p.record.accept_encoding == AcceptEncoding::as_is ? "as-is" : "identity");
         }},
    };
}

std::vector<Setting> replay_settings() {
    return {
        {"replay.mode", [](const Node& n, Problems& e, Policy& p) { read_into(p.replay.mode, n, e, contents); },
         [](const Policy& p) {
             return std::string(p.replay.mode == ReplayRule::Content::stored ? "stored" : "refresh");
         }},
        {"replay.marker", [](const Node& n, Problems& e, Policy& p) { read_into(p.replay.marker, n, e, marker); },
         [](const Policy& p) { return yaml_text(p.replay.marker); }, Setting::Blank::empty},
        {"replay.date", [](const Node& n, Problems& e, Policy& p) { read_into(p.replay.date, n, e, dates); },
         [](const Policy& p) { return std::string(p.replay.date == ReplayRule::Date::original ? "original" : "now"); }},
        {"replay.exclude_headers",
         [](const Node& n, Problems& e, Policy& p) { read_into(p.replay.exclude_headers, n, e, field_names); },
         [](const Policy& p) { return yaml_texts(p.replay.exclude_headers); }},
    };
}

}  // namespace oncegate::config
