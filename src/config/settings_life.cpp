// The rows that say what happens to a key over time: mode, in flight, lease, unknown outcome, ttl, a store that is
// down.

#include "config/policy_settings.hpp"
#include "config/readers.hpp"
#include "config/section.hpp"
#include "config/units.hpp"
#include "config/yaml_text.hpp"

namespace oncegate::config {

namespace {

using core::AfterTtl;
using core::InFlightRule;
using core::Mode;
using core::Policy;
using core::StoreDown;
using core::UnknownOutcome;
using std::chrono::hours;
using std::chrono::seconds;

constexpr milliseconds none{0};
constexpr std::uint64_t most_waiters = 1'000'000;
constexpr milliseconds ten_years = hours(24) * 3650;

const Choice<Mode> modes{{{"enforce", Mode::enforce}, {"shadow", Mode::shadow}, {"off", Mode::off}}};
const Choice<InFlightRule::Action> actions{
    {{"reject", InFlightRule::Action::reject}, {"wait", InFlightRule::Action::wait}}};
const Choice<UnknownOutcome> outcomes{{{"hold", UnknownOutcome::hold},
                                       {"ask", UnknownOutcome::ask},
                                       {"retry", UnknownOutcome::retry},
                                       {"fail", UnknownOutcome::fail}}};
const Choice<AfterTtl> after_ttls{{{"execute", AfterTtl::execute}, {"reject", AfterTtl::reject}}};
const Choice<StoreDown> store_downs{{{"reject", StoreDown::reject}, {"pass", StoreDown::pass}}};

std::string show_mode(const Policy& policy) {
    switch (policy.mode) {
        case Mode::enforce: return "enforce";
        case Mode::shadow: return "shadow";
        case Mode::off: return "off";
    }
    return {};
}

std::string show_outcome(const Policy& policy) {
    switch (policy.unknown_outcome) {
        case UnknownOutcome::hold: return "hold";
        case UnknownOutcome::ask: return "ask";
        case UnknownOutcome::retry: return "retry";
        case UnknownOutcome::fail: return "fail";
    }
    return {};
}

std::string show_wait(const Policy& policy) {
    return policy.in_flight.action == InFlightRule::Action::wait ? duration_text(policy.in_flight.wait) : std::string();
}

std::string show_waiters(const Policy& policy) {
    const bool waits = policy.in_flight.action == InFlightRule::Action::wait;
    return waits ? std::to_string(policy.in_flight.waiters) : std::string();
}

/// A status, a class or a range, or a list of them.
std::optional<core::StatusSet> statuses(const Node& node, Problems& problems) {
    const auto before = problems.count();
    core::StatusSet set;
    const auto add = [&](const Node& one) {
        const auto written = text(one, problems);
        std::string why;
        if (written && !add_statuses(set, *written, why)) problems.add(one, why);
    };
    if (node.kind == Node::Kind::list) {
        for (const Node* item : items_of(node, problems)) add(*item);
        if (node.items.empty()) problems.add(node, "must name at least one status");
    } else {
        add(node);
    }
    if (problems.count() != before) return std::nullopt;
    return set;
}

void read_ask(const Node& node, Problems& problems, Policy& policy) {
    const auto before = problems.count();
    Section section(node, problems);
    core::AskRule rule;
    if (const Node* get = section.need("get")) {
        rule.get = text(*get, problems).value_or("");
        const bool sound = rule.get.starts_with('/') && rule.get.find("{key}") != std::string::npos &&
                           rule.get.find_first_of(" #\t\r\n") == std::string::npos;
        if (!rule.get.empty() && !sound) {
            problems.add(*get, "must be a path that holds {key}, such as /payments/by-key/{key}");
        }
    }
    section.read("done", rule.done, statuses);
    section.read("not_done", rule.not_done, statuses);
    section.finish();
    if (problems.count() == before && rule.done.overlaps(rule.not_done)) {
        problems.add(node, "a status cannot mean both done and not_done");
    }
    if (problems.count() == before) policy.ask = std::move(rule);
}

/// Not worth a line while nobody is asked.
std::string show_ask(const Policy& policy) {
    if (policy.ask.get.empty() || policy.unknown_outcome != UnknownOutcome::ask) return {};
    return "{get: " + yaml_text(policy.ask.get) + ", done: " + yaml_text(policy.ask.done) +
           ", not_done: " + yaml_text(policy.ask.not_done) + "}";
}

}  // namespace

std::vector<Setting> mode_settings() {
    return {{"mode", [](const Node& n, Problems& e, Policy& p) { read_into(p.mode, n, e, modes); }, show_mode}};
}

std::vector<Setting> life_settings() {
    return {
        {"in_flight.action",
         [](const Node& n, Problems& e, Policy& p) { read_into(p.in_flight.action, n, e, actions); },
         [](const Policy& p) {
             return std::string(p.in_flight.action == InFlightRule::Action::wait ? "wait" : "reject");
         }},
        {"in_flight.wait",
         [](const Node& n, Problems& e, Policy& p) {
             read_into(p.in_flight.wait, n, e, Duration{milliseconds(1), hours(1)});
         },
         show_wait},
        {"in_flight.waiters",
         [](const Node& n, Problems& e, Policy& p) {
             read_into(p.in_flight.waiters, n, e, Integer{1, most_waiters});
         },
         show_waiters},
        {"in_flight.retry_after",
         [](const Node& n, Problems& e, Policy& p) {
             read_into(p.in_flight.retry_after, n, e, Duration{none, hours(24)});
         },
         [](const Policy& p) { return duration_text(p.in_flight.retry_after); }},
        {"lease",
         [](const Node& n, Problems& e, Policy& p) {
             read_into(p.lease, n, e, Duration{seconds(1), hours(24)});
         },
         [](const Policy& p) { return duration_text(p.lease); }},
        {"unknown_outcome", [](const Node& n, Problems& e, Policy& p) { read_into(p.unknown_outcome, n, e, outcomes); },
         show_outcome},
        {"ask", read_ask, show_ask},
        {"ttl",
         [](const Node& n, Problems& e, Policy& p) {
             read_into(p.ttl, n, e, Duration{seconds(1), ten_years});
         },
         [](const Policy& p) { return duration_text(p.ttl); }},
        {"after_ttl", [](const Node& n, Problems& e, Policy& p) { read_into(p.after_ttl, n, e, after_ttls); },
         [](const Policy& p) { return std::string(p.after_ttl == AfterTtl::reject ? "reject" : "execute"); }},
        {"tombstone",
         [](const Node& n, Problems& e, Policy& p) {
             read_into(p.tombstone, n, e, Duration{none, ten_years});
         },
         [](const Policy& p) { return duration_text(p.tombstone); }},
        {"store_down", [](const Node& n, Problems& e, Policy& p) { read_into(p.store_down, n, e, store_downs); },
         [](const Policy& p) { return std::string(p.store_down == StoreDown::pass ? "pass" : "reject"); }},
        {"suspect_window",
         [](const Node& n, Problems& e, Policy& p) {
             read_into(p.suspect_window, n, e, Duration{none, hours(24)});
         },
         [](const Policy& p) { return duration_text(p.suspect_window); }},
        {"expose_token", [](const Node& n, Problems& e, Policy& p) { read_into(p.expose_token, n, e, flag); },
         [](const Policy& p) { return yaml_text(truth(p.expose_token)); }},
    };
}

}  // namespace oncegate::config
