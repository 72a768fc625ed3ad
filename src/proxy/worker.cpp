#include "proxy/worker.hpp"

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

net::UpstreamOptions pool_options(const config::Upstream& upstream, Place place, std::atomic<int>& open_connections) {
    net::UpstreamOptions options;
    for (const auto& server : upstream.servers) options.servers.push_back({server.host, server.port, server.authority});
    options.connect = upstream.timeouts.connect;
    options.idle = upstream.timeouts.idle;
    options.open = &open_connections;
    options.max_connections = share_of(upstream.max_connections, place.index, place.workers);
    return options;
}

}  // namespace

std::size_t share_of(std::size_t total, std::size_t index, std::size_t workers) {
    return std::max<std::size_t>(1, total / workers + (index < total % workers ? 1 : 0));
}

Worker::Worker(boost::asio::any_io_executor its_executor, Shared& all, std::unique_ptr<store::Store> its_store,
               Place place)
    : executor(std::move(its_executor)),
      shared(all),
      store(std::move(its_store)),
      tasks(executor,
            [this](std::exception_ptr escaped) {
                // At the end of a drain tasks are cancelled on purpose; their requests are in the access log.
                const auto what = "a task ended early: " + what_escaped(escaped);
                shared.draining ? shared.log.debug(what) : shared.log.error(what);
            }),
      leases(executor, *store, tasks),
      settler(*store, tasks, shared.metrics, shared.log, shared.draining) {
    for (const auto& upstream : shared.config.upstreams) {
        upstreams.push_back(std::make_unique<net::UpstreamPool>(
            executor, pool_options(upstream, place, shared.metrics.upstream_connections())));
    }
}

}  // namespace oncegate::proxy
