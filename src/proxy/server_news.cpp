#include "proxy/server_news.hpp"

namespace oncegate::proxy {

namespace {

std::string_view verb_of(net::ServerChange change) {
    switch (change) {
        case net::ServerChange::went_down: return " is down";
        case net::ServerChange::came_up: return " is up";
        case net::ServerChange::ejected: return " is left out for a while";
        case net::ServerChange::returned: return " is taken again";
    }
    std::abort();
}

bool is_good(net::ServerChange change) {
    return change == net::ServerChange::came_up || change == net::ServerChange::returned;
}

}  // namespace

std::string server_name(const config::UpstreamServer& server) {
    return server.unix_path.empty() ? server.authority : std::string("unix:").append(server.unix_path);
}

ServerNews::ServerNews(const config::Upstream& upstream, Metrics& metrics, ProgramLog& log)
    : upstream_(upstream.name), metrics_(metrics), log_(log) {
    for (const auto& server : upstream.servers) {
        servers_.push_back(server_name(server));
        metrics_.server_use(upstream_, servers_.back(), Metrics::ServerUse::used);
    }
}

void ServerNews::server_changed(std::size_t server, net::ServerChange change, std::string_view reason) {
    std::string line("upstream ");
    line.append(upstream_).append(": ").append(servers_[server]).append(verb_of(change));
    if (!reason.empty()) line.append(": ").append(reason);
    is_good(change) ? log_.info(line) : log_.warning(line);
    metrics_.server_use(upstream_, servers_[server],
                        is_good(change) ? Metrics::ServerUse::used : Metrics::ServerUse::left_out);
}

}  // namespace oncegate::proxy
