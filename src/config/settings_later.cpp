// The rows whose effect is still to come. Their shape is checked in full, so that a typo is
// reported as one; then every value but the default is refused by name.

#include "config/policy_settings.hpp"
#include "config/readers.hpp"
#include "config/section.hpp"
#include "config/units.hpp"
#include "config/yaml_text.hpp"

namespace oncegate::config {

namespace {

using core::Policy;
using std::chrono::hours;

constexpr Duration any_moment{milliseconds(1), hours(24)};

/// Runs `check`; when the shape is right, the node is refused as not supported yet.
template <class Check>
void refuse_after(const Node& node, Problems& problems, Check check) {
    const auto before = problems.count();
    check();
    if (problems.count() == before) problems.add_unsupported(node);
}

std::optional<core::StatusSet> status(const Node& node, Problems& problems) {
    core::StatusSet set;
    const auto written = text(node, problems);
    std::string why;
    if (!written) return std::nullopt;
    if (add_statuses(set, *written, why)) return set;
    problems.add(node, why);
    return std::nullopt;
}

void read_template(Section& section) {
    std::string unused;
    section.read("content_type", unused, name);
    section.read("body", unused, text);
}

/// `5s..5m`.
void check_backoff(const Node& node, Problems& problems) {
    const auto written = text(node, problems);
    if (!written) return;
    const auto dots = written->find("..");
    std::string why;
    const auto least = dots == std::string::npos ? std::nullopt : parse_duration(written->substr(0, dots), why);
    const auto most = dots == std::string::npos ? std::nullopt : parse_duration(written->substr(dots + 2), why);
    if (!least || !most || *least > *most)
        problems.add(node, "'" + *written + "' is not a span of durations; write 5s..5m");
}

void read_completer(const Node& node, Problems& problems, Policy&) {
    refuse_after(node, problems, [&] {
        Section section(node, problems);
        milliseconds after{};
        std::uint64_t attempts{};
        section.read("after", after, any_moment);
        section.read("attempts", attempts, Integer{1, 1000});
        if (const Node* backoff = section.take("backoff")) check_backoff(*backoff, problems);
        section.finish();
    });
}

enum class Delivery : std::uint8_t { sync, async };
const Choice<Delivery> deliveries{{{"sync", Delivery::sync}, {"async", Delivery::async}}};

void read_delivery(const Node& node, Problems& problems, Policy&) {
    auto delivery = Delivery::sync;
    read_into(delivery, node, problems, deliveries);
    if (delivery == Delivery::async) problems.add_unsupported(node, "async");
}

void read_accepted(const Node& node, Problems& problems, Policy&) {
    refuse_after(node, problems, [&] {
        Section section(node, problems);
        core::StatusSet accepted;
        section.read("status", accepted, status);
        read_template(section);
        section.finish();
    });
}

void read_order(const Node& node, Problems& problems, Policy&) {
    refuse_after(node, problems, [&] {
        Section section(node, problems);
        for (const auto* key : {"entity", "sequence"}) {
            const Node* part = section.need(key);
            const auto written = part == nullptr ? std::nullopt : text(*part, problems);
            if (written && !(written->starts_with("json:/"))) problems.add(*part, "must be json:/POINTER");
        }
        section.finish();
    });
}

void read_status_endpoint(const Node& node, Problems& problems, Policy&) {
    bool wanted = false;
    read_into(wanted, node, problems, flag);
    if (wanted) problems.add_unsupported(node, "true");
}

}  // namespace

std::vector<Setting> later_settings() {
    return {
        {"completer", read_completer},
        {"delivery", read_delivery},
        {"accepted", read_accepted},
        {"order", read_order},
        {"status_endpoint", read_status_endpoint},
    };
}

}  // namespace oncegate::config
