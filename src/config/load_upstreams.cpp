// `upstreams`: named groups of servers.

#include "config/addresses.hpp"
#include "config/load_parts.hpp"
#include "config/readers.hpp"

namespace oncegate::config {

namespace {

using std::chrono::hours;

constexpr Duration any_timeout{milliseconds(1), hours(24)};

void load_server_url(const Node& node, Upstream& upstream, Problems& problems) {
    const auto url = name(node, problems);
    if (!url) return;
    if (url->starts_with("unix:")) {
        if (url->starts_with("unix:/")) return problems.add_unsupported(node, *url);
        return problems.add(node, "'" + *url + "' is not unix:/PATH");
    }
    const bool secure = url->starts_with("https://");
    if (!secure && !url->starts_with("http://")) {
        return problems.add(node, "'" + *url + "' must begin with http://, https:// or unix:");
    }
    std::string why;
    auto server = parse_server(*url, why);
    if (!server) return problems.add(node, why);
    if (secure) return problems.add_unsupported(node, *url);
    upstream.servers.push_back(std::move(*server));
}

void load_servers(const Node& node, Upstream& upstream, Problems& problems) {
    for (const Node* item : items_of(node, problems)) load_server_url(*item, upstream, problems);
    if (node.kind == Node::Kind::list && node.items.empty()) {
        problems.add(node, "must name at least one server, such as http://127.0.0.1:9000");
    }
}

enum class Balance : std::uint8_t { round_robin, least_requests };
const Choice<Balance> balances{{{"round_robin", Balance::round_robin}, {"least_requests", Balance::least_requests}}};

void check_health(const Node& node, Problems& problems) {
    const auto before = problems.count();
    Section section(node, problems);
    if (const Node* path = section.need("path")) {
        const auto written = name(*path, problems);
        if (written && !written->starts_with('/')) problems.add(*path, "must begin with '/'");
    }
    milliseconds interval{};
    std::uint64_t times{};
    section.read("interval", interval, any_timeout);
    section.read("unhealthy_after", times, Integer{1, 1000});
    section.read("healthy_after", times, Integer{1, 1000});
    section.finish();
    if (problems.count() == before) problems.add_unsupported(node);
}

/// Every key of `tls` may be left blank; the block has an effect only when something is written in it.
void check_tls(const Node& node, Problems& problems) {
    const auto before = problems.count();
    Section section(node, problems);
    bool written = false;
    for (const auto* key : {"ca", "server_name", "certificate", "private_key"}) {
        const Node* value = section.take_or_blank(key);
        if (value == nullptr) continue;
        name(*value, problems);
        written = true;
    }
    bool verify = true;
    section.read("verify", verify, flag);
    section.finish();
    if (problems.count() == before && (written || !verify)) problems.add_unsupported(node);
}

void load_upstream(const Node& node, Upstream& upstream, Problems& problems) {
    Section section(node, problems);
    if (const Node* servers = section.need("servers")) load_servers(*servers, upstream, problems);
    if (const Node* wanted = section.take("balance")) {
        if (balances(*wanted, problems) == Balance::least_requests) problems.add_unsupported(*wanted, "least_requests");
    }
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
    if (const Node* health = section.take_or_blank("health")) check_health(*health, problems);
    if (const Node* tls = section.take_or_blank("tls")) check_tls(*tls, problems);
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
