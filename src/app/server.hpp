#pragma once
// The running program: threads, store, admin listener, background work and signals, wired together. Nothing of the
// product is decided here.

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <list>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "admin/admin_server.hpp"
#include "app/server_thread.hpp"
#include "async/offload.hpp"
#include "config/config.hpp"
#include "store/backend.hpp"

namespace oncegate::app {

/// Exit code 2: a port is taken, or the store that is required cannot be reached.
class CouldNotRun : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

class Server final : public admin::Status {
 public:
    /// Opens the store and binds every listener; throws CouldNotRun. `config` must outlive the server.
    explicit Server(const config::Config& config);
    ~Server() override;

    /// Serves until SIGTERM or SIGINT, then drains. On the calling thread, which also runs the admin listener.
    void run();

    std::vector<std::string> reasons_not_ready() const override;

 private:
    void open_store();
    void make_workers();
    void bind_all();
    void bind_admin();

    /// Watches the store, brings its schema up to date when that could not be done at the start, and removes what has
    /// expired.
    boost::asio::awaitable<void> look_after_store();
    boost::asio::awaitable<void> reap_expired(proxy::Worker& worker);
    boost::asio::awaitable<std::string> prepare_schema();
    void note_store(std::string trouble);

    boost::asio::awaitable<void> handle_signals();
    boost::asio::awaitable<void> drain();

    const config::Config& config_;
    core::RouteTable routes_;
    proxy::InFlight in_flight_;
    proxy::Metrics metrics_;
    proxy::AccessLog access_log_;
    proxy::ProgramLog log_;
    core::KeyedHash log_names_;
    proxy::Shared shared_;
    std::unique_ptr<store::Database> database_;

    boost::asio::io_context main_context_{1};
    std::list<ServerThread> threads_;
    async::BlockingThread blocking_{"oncegate-store"};
    boost::asio::signal_set signals_;
    admin::AdminServer admin_;
    std::unique_ptr<net::Listener> admin_listener_;
    async::TaskSet admin_tasks_;

    mutable std::mutex store_trouble_mutex_;
    std::string store_trouble_ = "the store has not been asked yet";
    bool schema_ready_ = false;
};

}  // namespace oncegate::app
