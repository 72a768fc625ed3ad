#include "proxy/generation.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "config/readers.hpp"
#include "proxy/server_news.hpp"

namespace oncegate::proxy {

namespace {

std::vector<core::RouteMatch> matches(const config::Config& config) {
    std::vector<core::RouteMatch> list;
    for (const auto& route : config.routes) list.push_back(route.match);
    return list;
}

net::TlsServerOptions tls_options(const config::ListenerTls& tls) {
    net::TlsServerOptions options;
    for (const auto& [certificate, key] : tls.certificates) options.certificates.push_back({certificate, key});
    options.client_ca = tls.client_ca;
    switch (tls.client_auth) {
        case config::ListenerTls::ClientAuth::none: break;
        case config::ListenerTls::ClientAuth::optional:
            options.client_auth = net::TlsServerOptions::ClientAuth::optional;
            break;
        case config::ListenerTls::ClientAuth::required:
            options.client_auth = net::TlsServerOptions::ClientAuth::required;
            break;
    }
    return options;
}

/// Empty for a file that cannot be read.
std::string content_of(const std::string& path) {
    if (!config::why_unreadable(path).empty()) return {};
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// What the files hold now, one after the other. An unreadable one counts as empty: loading it says what is wrong.
core::Digest digest_of(const std::vector<std::string>& paths) {
    core::Sha256 digest;
    for (const auto& path : paths) digest.update_prefixed(content_of(path));
    return digest.finish();
}

core::Digest digest_of_files(const config::ListenerTls& tls) {
    std::vector<std::string> paths{tls.client_ca};
    for (const auto& [certificate, key] : tls.certificates) paths.insert(paths.end(), {certificate, key});
    return digest_of(paths);
}

bool has_https(const config::Upstream& upstream) {
    return std::any_of(upstream.servers.begin(), upstream.servers.end(), [](const config::UpstreamServer& server) {
        return server.scheme == config::UpstreamServer::Scheme::https;
    });
}

/// Position of the same upstream with the same settings in an earlier configuration.
std::optional<std::size_t> same_upstream(const config::Config& earlier, const config::Upstream& upstream) {
    const auto& list = earlier.upstreams;
    const auto found = std::find(list.begin(), list.end(), upstream);
    if (found == list.end()) return std::nullopt;
    return static_cast<std::size_t>(found - list.begin());
}

net::UpstreamServer server_options(const config::UpstreamServer& server) {
    const bool secure = server.scheme == config::UpstreamServer::Scheme::https;
    net::UpstreamServer options;
    options.host = server.host;
    options.port = server.port;
    options.authority = server.authority;
    options.scheme = secure ? net::UpstreamServer::Scheme::https : net::UpstreamServer::Scheme::http;
    options.unix_path = server.unix_path;
    return options;
}

net::UpstreamOptions pool_options(const config::Upstream& upstream, const Generation::Upstream& shared, Place place,
                                  std::atomic<int>& open_connections) {
    net::UpstreamOptions options;
    for (const auto& server : upstream.servers) options.servers.push_back(server_options(server));
    options.tls = shared.tls;
    options.tls_server_name = upstream.tls.server_name;
    options.health = shared.health;
    options.balance =
        upstream.balance == config::Balance::least_requests ? net::Balance::least_requests : net::Balance::round_robin;
    options.connect = upstream.timeouts.connect;
    options.idle = upstream.timeouts.idle;
    options.open = &open_connections;
    options.max_connections = share_of(upstream.max_connections, place.index, place.workers);
    return options;
}

}  // namespace

Generation::Generation(config::Config config) : config_(std::move(config)), routes_(matches(config_)) {}

/// Clients resume their sessions only with the object that made them: it is kept while nothing about it changes.
std::string Generation::read_listener_files(const config::Listener& listener, const Generation* before) {
    const std::size_t position = listener_tls_.size();
    listener_tls_.emplace_back();
    listener_files_.push_back(listener.tls ? digest_of_files(*listener.tls) : core::Digest());
    if (!listener.tls) return {};
    const bool known = before != nullptr && position < before->listener_tls_.size() &&
                       before->config_.server.listeners[position].tls == listener.tls &&
                       before->listener_files_[position] == listener_files_[position];
    if (known) {
        listener_tls_.back() = before->listener_tls_[position];
        return {};
    }
    auto tls = net::TlsServer::load(tls_options(*listener.tls));
    if (tls.has_error()) return std::string("listener ").append(listener.bind).append(": ").append(tls.error());
    listener_tls_.back() = std::move(*tls);
    return {};
}

/// Kept connections and sessions live with the object, too.
std::string Generation::read_upstream_files(const config::Upstream& upstream, const Generation* before) {
    auto& made = upstreams_.emplace_back();
    if (!has_https(upstream)) return {};
    const auto& [ca, server_name, certificate, private_key, verify] = upstream.tls;
    made.files = digest_of({ca, certificate, private_key});
    const auto earlier = before == nullptr ? std::nullopt : same_upstream(before->config_, upstream);
    if (earlier && before->upstreams_[*earlier].files == made.files) {
        made.tls = before->upstreams_[*earlier].tls;
        return {};
    }
    auto tls = net::TlsClient::load(net::TlsClientOptions{ca, certificate, private_key, verify});
    if (tls.has_error()) return std::string("upstream ").append(upstream.name).append(": ").append(tls.error());
    made.tls = std::move(*tls);
    return {};
}

/// The keys of all files count: an old one and a new one may stand side by side while tokens of both are about.
std::string Generation::read_token_keys(const config::Route& route) {
    auto& rules = token_rules_.emplace_back();
    if (!route.jwt) return {};
    const std::string place = std::string("route ").append(route.name).append(": jwt: ");
    for (const auto& path : route.jwt->keys) {
        const auto unreadable = config::why_unreadable(path);
        if (!unreadable.empty()) return std::string(place).append(path).append(": cannot be read: ").append(unreadable);
        auto keys = core::parse_token_keys(content_of(path));
        if (keys.has_error()) return std::string(place).append(path).append(": ").append(keys.error());
        std::move(keys->begin(), keys->end(), std::back_inserter(rules.keys));
    }
    rules.algorithms = route.jwt->algorithms;
    rules.issuers = route.jwt->issuer;
    rules.audiences = route.jwt->audience;
    if (core::can_verify(rules)) return {};
    return std::string(place).append("no key in its files is for one of its algorithms");
}

std::string Generation::read_files(const Generation* before) {
    for (const auto& listener : config_.server.listeners) {
        auto trouble = read_listener_files(listener, before);
        if (!trouble.empty()) return trouble;
    }
    for (const auto& upstream : config_.upstreams) {
        auto trouble = read_upstream_files(upstream, before);
        if (!trouble.empty()) return trouble;
    }
    for (const auto& route : config_.routes) {
        auto trouble = read_token_keys(route);
        if (!trouble.empty()) return trouble;
    }
    return {};
}

void Generation::prepare(Metrics& metrics, ProgramLog& log, const Generation* before) {
    for (const auto& route : config_.routes) route_counts_.push_back(&metrics.route(route.name));
    for (std::size_t i = 0; i < upstreams_.size(); ++i) {
        const auto& upstream = config_.upstreams[i];
        upstreams_[i].counts = &metrics.upstream(upstream.name);
        const auto earlier = before == nullptr ? std::nullopt : same_upstream(before->config_, upstream);
        if (earlier) {
            upstreams_[i].health = before->upstreams_[*earlier].health;
            continue;
        }
        const net::Ejection ejection{upstream.ejection.failures, upstream.ejection.time};
        upstreams_[i].health = std::make_shared<net::UpstreamHealth>(
            upstream.servers.size(), ejection, std::make_unique<ServerNews>(upstream, metrics, log));
    }
}

boost::system::result<std::shared_ptr<const Generation>, std::string> Generation::make(config::Config config,
                                                                                       Metrics& metrics,
                                                                                       ProgramLog& log,
                                                                                       const Generation* before) {
    std::shared_ptr<Generation> generation(new Generation(std::move(config)));
    auto trouble = generation->read_files(before);
    if (!trouble.empty()) return trouble;
    generation->prepare(metrics, log, before);
    return std::shared_ptr<const Generation>(std::move(generation));
}

std::vector<net::HealthCheckOptions> Generation::health_checks() const {
    std::vector<net::HealthCheckOptions> checks;
    for (std::size_t i = 0; i < upstreams_.size(); ++i) {
        const auto& upstream = config_.upstreams[i];
        if (!upstream.health) continue;
        net::HealthCheckOptions check;
        for (const auto& server : upstream.servers) check.servers.push_back(server_options(server));
        check.health = upstreams_[i].health;
        check.tls = upstreams_[i].tls;
        check.tls_server_name = upstream.tls.server_name;
        check.path = upstream.health->path;
        check.interval = upstream.health->interval;
        check.limit = upstream.timeouts.connect + upstream.timeouts.response;
        check.unhealthy_after = upstream.health->unhealthy_after;
        check.healthy_after = upstream.health->healthy_after;
        checks.push_back(std::move(check));
    }
    return checks;
}

std::size_t share_of(std::size_t total, std::size_t index, std::size_t workers) {
    return std::max<std::size_t>(1, total / workers + (index < total % workers ? 1 : 0));
}

LocalGeneration::LocalGeneration(std::shared_ptr<const Generation> generation,
                                 const boost::asio::any_io_executor& executor, Place place,
                                 std::atomic<int>& open_connections, const LocalGeneration* before)
    : generation_(std::move(generation)) {
    const auto& upstreams = config().upstreams;
    for (std::size_t i = 0; i < upstreams.size(); ++i) {
        const auto earlier = before == nullptr ? std::nullopt : same_upstream(before->config(), upstreams[i]);
        // The files that https rests on may have changed although the settings did not.
        const bool kept = earlier && before->shared().upstream(*earlier).tls == shared().upstream(i).tls;
        pools_.push_back(
            kept ? before->pools_[*earlier]
                 : std::make_shared<net::UpstreamPool>(
                       executor, pool_options(upstreams[i], shared().upstream(i), place, open_connections)));
    }
}

void LocalGeneration::retire(const LocalGeneration* next) {
    for (const auto& pool : pools_) {
        const bool taken_over =
            next != nullptr && std::find(next->pools_.begin(), next->pools_.end(), pool) != next->pools_.end();
        if (!taken_over) pool->shut_down();
    }
}

}  // namespace oncegate::proxy
