#include "proxy/worker.hpp"

#include <chrono>

#include "core/forwarding.hpp"

namespace oncegate::proxy {

namespace {

std::string what_escaped(const std::exception_ptr& escaped) {
    try {
        std::rethrow_exception(escaped);
    } catch (const std::exception& fault) {
        return fault.what();
    } catch (...) {
        return "something that is no exception";
    }
}

net::UpstreamOptions pool_options(const config::Upstream& upstream, std::size_t threads,
                                  std::atomic<int>& open_connections) {
    net::UpstreamOptions options;
    for (const auto& server : upstream.servers) options.servers.push_back({server.host, server.port, server.authority});
    options.connect = upstream.timeouts.connect;
    options.idle = upstream.timeouts.idle;
    options.open = &open_connections;
    options.max_connections = std::max<std::size_t>(1, upstream.max_connections / threads);
    return options;
}

}  // namespace

Worker::Worker(boost::asio::any_io_executor its_executor, Shared& all, std::unique_ptr<store::Store> its_store,
               std::size_t threads)
    : executor(std::move(its_executor)),
      shared(all),
      store(std::move(its_store)),
      tasks(executor,
            [this](std::exception_ptr escaped) { shared.log.error("a task ended early: " + what_escaped(escaped)); }),
      leases(executor, *store, tasks),
      settler(*store, tasks, shared.metrics, shared.log) {
    for (const auto& upstream : shared.config.upstreams) {
        upstreams.push_back(std::make_unique<net::UpstreamPool>(
            executor, pool_options(upstream, threads, shared.metrics.upstream_connections())));
    }
}

std::string Worker::date() const {
    using std::chrono::system_clock;
    return core::http_date(system_clock::to_time_t(system_clock::now()));
}

}  // namespace oncegate::proxy
