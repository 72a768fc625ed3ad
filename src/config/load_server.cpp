// `server`, `admin`, `log`, `tracing`.

#include <fstream>
#include <iterator>

#include "config/addresses.hpp"
#include "config/load_parts.hpp"
#include "config/readers.hpp"

namespace oncegate::config {

namespace {

using std::chrono::hours;

constexpr Duration any_timeout{milliseconds(1), hours(24)};
constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t tib = kib * kib * kib * kib;

std::optional<std::string> bind(const Node& node, Problems& problems) {
    auto written = text(node, problems);
    if (!written || reach_of_bind(*written)) return written;
    if (is_named_bind(*written)) {
        problems.add(node, "'" + *written + "' names a host; a bind needs an IP address, such as 127.0.0.1:8080");
        return std::nullopt;
    }
    if (written->starts_with("unix:")) {
        problems.add(node, "'" + *written + "': listeners on sockets are not supported yet; write ADDRESS:PORT");
        return std::nullopt;
    }
    if (has_wrong_port(*written)) {
        problems.add(node, "'" + *written + "': the port must be from 0 to 65535");
        return std::nullopt;
    }
    problems.add(node, "'" + *written + "' is not ADDRESS:PORT, such as 0.0.0.0:8080 or \"[::1]:8080\"");
    return std::nullopt;
}

void load_listener(const Node& node, Server& server, Problems& problems) {
    Section section(node, problems);
    Listener listener;
    if (const Node* address = section.need("bind")) {
        if (auto written = bind(*address, problems)) listener.bind = std::move(*written);
    }
    if (const Node* tls = section.take("tls")) load_listener_tls(*tls, listener, problems);
    section.read("proxy_protocol", listener.proxy_protocol, flag);
    section.finish();
    server.listeners.push_back(std::move(listener));
}

void load_trusted_proxies(const Node& node, std::vector<core::Network>& networks, Problems& problems) {
    for (const Node* item : items_of(node, problems)) {
        const auto written = text(*item, problems);
        if (!written) continue;
        const auto network = core::Network::parse(*written);
        if (!network) {
            problems.add(*item, "'" + *written + "' is not an address or a network such as 10.0.0.0/8");
        } else if (network->masked() != *network) {
            problems.add(*item, "'" + *written + "' is an address within a network; write " + network->masked().text() +
                                    " for the network, or the address alone");
        } else {
            networks.push_back(*network);
        }
    }
}

void load_limits(const Node& node, Limits& limits, Problems& problems) {
    Section section(node, problems);
    section.read("request_head", limits.request_head, Size{kib, 16 * kib * kib});
    section.read("request_body", limits.request_body, Size{0, tib});
    section.read("memory_body", limits.memory_body, Size{kib, kib * kib * kib});
    section.read("connections", limits.connections, Integer{1, 1'000'000});
    section.read("in_flight", limits.in_flight, Integer{1, 1'000'000});
    section.finish();
}

void load_timeouts(const Node& node, Timeouts& timeouts, Problems& problems) {
    Section section(node, problems);
    section.read("head", timeouts.head, any_timeout);
    section.read("body_idle", timeouts.body_idle, any_timeout);
    section.read("keep_alive", timeouts.keep_alive, any_timeout);
    section.read("write_idle", timeouts.write_idle, any_timeout);
    section.read("drain", timeouts.drain, Duration{milliseconds(0), hours(24)});
    section.finish();
}

}  // namespace

void load_server(const Node& node, Server& server, Problems& problems) {
    Section section(node, problems);
    if (const Node* listeners = section.need("listeners")) {
        for (const Node* item : items_of(*listeners, problems)) load_listener(*item, server, problems);
        if (listeners->kind == Node::Kind::list && listeners->items.empty()) {
            problems.add(*listeners, "must name at least one listener, such as - bind: 127.0.0.1:8080");
        }
    }
    section.read("threads", server.threads, Integer{0, 1024});
    if (const Node* proxies = section.take("trusted_proxies"))
        load_trusted_proxies(*proxies, server.trusted_proxies, problems);
    if (const Node* limits = section.take("limits")) load_limits(*limits, server.limits, problems);
    if (const Node* timeouts = section.take("timeouts")) load_timeouts(*timeouts, server.timeouts, problems);
    section.finish();
}

std::optional<std::string> read_secret(const Node& node, Problems& problems) {
    const auto path = name(node, problems);
    if (!path) return std::nullopt;
    if (const auto reason = why_unreadable(*path); !reason.empty()) {
        problems.add(node, "the file '" + *path + "' cannot be read: " + reason);
        return std::nullopt;
    }
    std::ifstream file(*path, std::ios::binary);
    std::string secret{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    while (!secret.empty() && (secret.back() == '\n' || secret.back() == '\r')) secret.pop_back();
    if (!secret.empty()) return secret;
    problems.add(node, "the file '" + *path + "' is empty");
    return std::nullopt;
}

void load_admin(const Node& node, Admin& admin, Problems& problems) {
    Section section(node, problems);
    const Node* address = section.take("bind");
    if (address != nullptr) admin.bind = bind(*address, problems).value_or(admin.bind);
    const Node* token_file = section.take_or_blank("token_file");
    if (token_file != nullptr) admin.token = read_secret(*token_file, problems).value_or("");
    if (token_file == nullptr && reach_of_bind(admin.bind) == Reach::wider) {
        problems.add(*address, admin.bind + " can be reached from other machines; that needs admin.token_file");
    }
    section.finish();
}

void load_log(const Node& node, Log& log, Problems& problems) {
    static const Choice<Log::Level> levels{{{"debug", Log::Level::debug},
                                            {"info", Log::Level::info},
                                            {"warning", Log::Level::warning},
                                            {"error", Log::Level::error}}};
    static const Choice<Log::Format> formats{{{"json", Log::Format::json}, {"text", Log::Format::text}}};
    static const Choice<Log::Keys> keys{{{"hash", Log::Keys::hash}, {"plain", Log::Keys::plain}}};
    Section section(node, problems);
    section.read("level", log.level, levels);
    section.read("format", log.format, formats);
    section.read("keys", log.keys, keys);
    section.read_or_blank("hash_key_file", log.hash_key, read_secret);
    section.read_or_blank("file", log.file, name);
    section.finish();
}

void load_tracing(const Node& node, Problems& problems) {
    const auto before = problems.count();
    Section section(node, problems);
    if (const Node* collector = section.need("otlp")) http_url(*collector, problems);
    double sample = 1;
    section.read("sample", sample, share);
    section.finish();
    if (problems.count() == before) problems.add_unsupported(node);
}

}  // namespace oncegate::config
