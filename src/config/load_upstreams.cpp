// `upstreams`: named groups of servers.

#include "config/addresses.hpp"
#include "config/foreign_names.hpp"
#include "config/load_parts.hpp"
#include "config/readers.hpp"

namespace oncegate::config {

namespace {

using std::chrono::hours;

constexpr Duration any_timeout{milliseconds(1), hours(24)};
constexpr Duration any_pause{milliseconds(10), hours(24)};

void load_server_url(const Node& node, Upstream& upstream, Problems& problems) {
    if (node.kind == Node::Kind::mapping) {
        return problems.add(node, "a server is its URL alone; weight, backup and the like are not supported yet");
    }
    const auto url = name(node, problems);
    if (!url) return;
    if (!url->starts_with("https://") && !url->starts_with("http://") && !url->starts_with("unix:")) {
        return problems.add(node, "'" + *url + "' must begin with http://, https:// or unix:");
    }
    std::string why;
    auto server = parse_server(*url, why);
    if (!server) return problems.add(node, why);
    upstream.servers.push_back(std::move(*server));
}

void load_servers(const Node& node, Upstream& upstream, Problems& problems) {
    for (const Node* item : items_of(node, problems)) load_server_url(*item, upstream, problems);
    if (node.kind == Node::Kind::list && node.items.empty()) {
        problems.add(node, "must name at least one server, such as http://127.0.0.1:9000");
    }
}

const Choice<Balance> known_balances{
    {{"round_robin", Balance::round_robin}, {"least_requests", Balance::least_requests}}};

std::optional<Balance> balances(const Node& node, Problems& problems) {
    const auto foreign = foreign_name(node.text, "balance");
    if (foreign.empty()) return known_balances(node, problems);
    const bool renamed = foreign.starts_with(';');
    problems.add(node, "'" + node.text + "'" + (renamed ? " is not known" : "") + std::string(foreign));
    return std::nullopt;
}

void load_health(const Node& node, Upstream& upstream, Problems& problems) {
    Health& health = upstream.health.emplace();
    Section section(node, problems);
    if (const Node* path = section.need("path")) {
        health.path = name(*path, problems).value_or("/");
        if (!health.path.starts_with('/')) {
            problems.add(*path, "must begin with '/'");
        } else if (!is_request_target(health.path)) {
            problems.add(*path, "'" + health.path + "' holds what a request target cannot, such as a space or '#'");
        }
    }
    section.read("interval", health.interval, any_pause);
    section.read("unhealthy_after", health.unhealthy_after, Integer{1, 1000});
    section.read("healthy_after", health.healthy_after, Integer{1, 1000});
    section.finish();
}

void load_ejection(const Node& node, Ejection& ejection, Problems& problems) {
    Section section(node, problems);
    section.read("failures", ejection.failures, Integer{0, 1000});
    const Node* time = section.take("time");
    if (time != nullptr) ejection.time = any_pause(*time, problems).value_or(ejection.time);
    if (time != nullptr && ejection.failures == 0) {
        problems.add(*time, "has no effect with failures: 0, which leaves no server out");
    }
    section.finish();
}

void load_upstream(const Node& node, Upstream& upstream, Problems& problems) {
    Section section(node, problems);
    const auto before = problems.count();
    if (const Node* servers = section.need("servers")) load_servers(*servers, upstream, problems);
    const auto servers_sound = problems.count() == before ? ServersSound::yes : ServersSound::no;
    section.read("balance", upstream.balance, balances);
    if (const Node* timeouts = section.take("timeouts")) {
        Section inner(*timeouts, problems);
        inner.read("connect", upstream.timeouts.connect, any_timeout);
        inner.read("response", upstream.timeouts.response, any_timeout);
        inner.read("idle", upstream.timeouts.idle, any_timeout);
        inner.finish();
    }
    if (const Node* pool = section.take("pool")) {
        Section inner(*pool, problems);
        inner.read("max_connections", upstream.max_connections, Integer{1, 100'000});
        inner.finish();
    }
    if (const Node* health = section.take_or_blank("health")) load_health(*health, upstream, problems);
    if (const Node* ejection = section.take("ejection")) load_ejection(*ejection, upstream.ejection, problems);
    if (const Node* tls = section.take_or_blank("tls")) load_upstream_tls(*tls, upstream, servers_sound, problems);
    section.finish();
}

}  // namespace

void load_upstreams(const Node& node, std::vector<Upstream>& upstreams, Problems& problems) {
    if (node.kind != Node::Kind::mapping) {
        return problems.add(node, "a mapping from upstream names to upstreams is expected here");
    }
    if (node.entries.empty()) problems.add(node, "must name at least one upstream");
    for (const auto& entry : node.entries) {
        Upstream upstream;
        upstream.name = entry.key;
        if (entry.key.empty()) problems.add(entry.place, "an upstream needs a name");
        load_upstream(entry.value, upstream, problems);
        upstreams.push_back(std::move(upstream));
    }
}

}  // namespace oncegate::config
