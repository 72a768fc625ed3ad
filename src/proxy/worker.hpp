#pragma once
// What one io_context offers its exchanges: its store, upstream pools and background tasks, and the few things that all
// threads share. Everything here outlives every exchange of the worker.

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <string>
#include <vector>

#include "async/task_set.hpp"
#include "config/config.hpp"
#include "core/keyed_hash.hpp"
#include "core/route_table.hpp"
#include "net/upstream_pool.hpp"
#include "proxy/access_log.hpp"
#include "proxy/in_flight.hpp"
#include "proxy/lease_keeper.hpp"
#include "proxy/metrics.hpp"
#include "proxy/program_log.hpp"
#include "proxy/settler.hpp"
#include "store/store.hpp"

namespace oncegate::proxy {

/// Shared by all threads; safe from any.
struct Shared {
    const config::Config& config;
    const core::RouteTable& routes;
    InFlight& in_flight;
    Metrics& metrics;
    AccessLog& access_log;
    ProgramLog& log;
    const core::KeyedHash& log_names;         ///< names keys and fingerprints in the access log (R40)
    std::string pseudonym;                    ///< our name in Via (R122)
    std::atomic<std::size_t> requests{0};     ///< being handled now
    std::atomic<std::size_t> connections{0};  ///< of clients, open now
    std::atomic<bool> draining{false};        ///< answers end their connections from now on
};

/// Which of how many workers.
struct Place {
    std::size_t index = 0;
    std::size_t workers = 1;
};

/// What one of `workers` gets of a number that all share: at least one each, so that a small number grows.
std::size_t share_of(std::size_t total, std::size_t index, std::size_t workers);

/// Not thread-safe: used on its own thread only.
struct Worker {
    /// `place`: which share of the limits of an upstream is this worker's.
    Worker(boost::asio::any_io_executor its_executor, Shared& all, std::unique_ptr<store::Store> its_store,
           Place place);
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    boost::asio::any_io_executor executor;
    Shared& shared;
    std::unique_ptr<store::Store> store;
    std::vector<std::unique_ptr<net::UpstreamPool>> upstreams;  ///< in the order of the configuration
    async::TaskSet tasks;  ///< what must outlive a client: sessions and settlements
    LeaseKeeper leases;
    Settler settler;
};

}  // namespace oncegate::proxy
