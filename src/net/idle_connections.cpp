#include "net/idle_connections.hpp"

#include <algorithm>
#include <utility>

namespace oncegate::net {

IdleConnections::IdleConnections(const asio::any_io_executor& executor, std::size_t servers)
    : servers_(servers), timer_(executor), self_(std::make_shared<IdleConnections*>(this)) {}

IdleConnections::~IdleConnections() = default;

void IdleConnections::put(std::size_t server, std::unique_ptr<Connection> connection, clock::time_point now,
                          clock::time_point until) {
    servers_[server].push_back(Idle{std::move(connection), now, until});
    ++size_;
    if (until < due_) arm(until);
}

std::unique_ptr<Connection> IdleConnections::take(std::size_t server, clock::time_point now) {
    Idles& idles = servers_[server];
    while (!idles.empty()) {
        const auto until = idles.back().until;
        auto connection = std::move(idles.back().connection);
        idles.pop_back();
        --size_;
        if (now < until && connection->stream().is_quiet()) return connection;
        connection->stream().close();
    }
    return nullptr;
}

void IdleConnections::close_oldest() {
    Idles* oldest = nullptr;
    for (auto& idles : servers_) {
        // Each list is in the order of coming back.
        if (!idles.empty() && (oldest == nullptr || idles.front().since < oldest->front().since)) oldest = &idles;
    }
    if (oldest == nullptr) return;
    oldest->front().connection->stream().close();
    oldest->erase(oldest->begin());
    --size_;
}

void IdleConnections::close_all_of(std::size_t server) {
    close_entries(server, [](const Idle&) { return true; });
}

void IdleConnections::close_all() {
    for (std::size_t server = 0; server < servers_.size(); ++server) close_all_of(server);
    due_ = clock::time_point::max();
    timer_.cancel();
}

/// Moving the timer ends the earlier wait; in the common case one wait serves all that come back before it is due.
void IdleConnections::arm(clock::time_point due) {
    due_ = due;
    timer_.expires_at(due);
    timer_.async_wait([alive = std::weak_ptr<IdleConnections*>(self_)](error_code cancelled) {
        const auto self = alive.lock();
        if (self && !cancelled) (*self)->sweep();
    });
}

void IdleConnections::sweep() {
    const auto now = clock::now();
    if (now < due_) return;  // it has been armed anew since
    auto next = clock::time_point::max();
    for (std::size_t server = 0; server < servers_.size(); ++server) {
        close_entries(server, [&](const Idle& idle) { return idle.until <= now; });
        for (const auto& idle : servers_[server]) next = std::min(next, idle.until);
    }
    due_ = clock::time_point::max();
    if (next != clock::time_point::max()) arm(next);
}

}  // namespace oncegate::net
