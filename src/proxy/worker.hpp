#pragma once
// What one io_context offers its exchanges: its store, configuration and background tasks, and the few things that all
// threads share. Everything here outlives every exchange of the worker.

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <string>
#include <vector>

#include "async/task_set.hpp"
#include "core/keyed_hash.hpp"
#include "proxy/access_log.hpp"
#include "proxy/generation.hpp"
#include "proxy/in_flight.hpp"
#include "proxy/lease_keeper.hpp"
#include "proxy/metrics.hpp"
#include "proxy/program_log.hpp"
#include "proxy/settler.hpp"
#include "proxy/suspects.hpp"
#include "store/store.hpp"

namespace oncegate::proxy {

/// Shared by all threads; safe from any. What a reload does not touch.
struct Shared {
    InFlight& in_flight;
    Metrics& metrics;
    AccessLog& access_log;
    ProgramLog& log;
    const core::KeyedHash& log_names;  ///< names keys and fingerprints in the access log (R40)
    std::string pseudonym;             ///< our name in Via (R122)
    Suspects suspects{};
    std::atomic<std::size_t> requests{0};     ///< being handled now
    std::atomic<std::size_t> connections{0};  ///< of clients, admitted and open now
    std::atomic<std::size_t> refusals{0};     ///< connections that are being turned away
    std::atomic<bool> draining{false};        ///< answers end their connections from now on
};

/// Not thread-safe: used on its own thread only.
struct Worker {
    /// `place`: which share of the limits of an upstream is this worker's.
    Worker(boost::asio::any_io_executor its_executor, Shared& all, std::shared_ptr<const Generation> first,
           std::unique_ptr<store::Store> its_store, Place its_place);
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Requests that begin from now on are under this configuration.
    void adopt(std::shared_ptr<const Generation> next);

    boost::asio::any_io_executor executor;
    Shared& shared;
    Place place;
    std::unique_ptr<store::Store> store;
    std::shared_ptr<LocalGeneration> generation;  ///< the present one; requests keep theirs
    async::TaskSet tasks;                         ///< what must outlive a client: sessions and settlements
    LeaseKeeper leases;
    Settler settler;
};

}  // namespace oncegate::proxy
