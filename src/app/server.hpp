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
#include "app/reload.hpp"
#include "app/server_thread.hpp"
#include "async/offload.hpp"
#include "config/config.hpp"
#include "store/backend.hpp"

namespace oncegate::app {

/// Exit code 1: a file that the configuration names cannot be used (a certificate, a key).
class UnusableFile : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// Exit code 2: a port is taken, or the store that is required cannot be reached.
class CouldNotRun : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

class Server final : public admin::Status {
 public:
    /// Opens the store and binds every listener; throws CouldNotRun or UnusableFile. `file` is where `config` came
    /// from, for reloads.
    Server(std::string file, config::Config config);
    ~Server() override;

    /// Serves until SIGTERM, SIGINT or SIGQUIT, then drains; the same again ends it at once. SIGHUP reloads and opens
    /// the access log anew, SIGUSR1 does only the latter. On the calling thread, which also runs the admin listener.
    void run();

    std::vector<std::string> reasons_not_ready() const override;
    std::shared_ptr<const config::Config> config() const override;

 private:
    std::shared_ptr<const proxy::Generation> first_generation(config::Config config);
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

    /// Loads the file anew; what is wrong with it is logged, and the running configuration goes on.
    void reload();
    /// Puts `next` in force on every thread, or says why not; `what` was reloaded then.
    void put_in_force(config::Config next, std::string_view what);
    void forget_servers_of(const config::Config& before);
    void reopen_log();
    /// Takes certificates and keys anew when their files change.
    boost::asio::awaitable<void> watch_files();
    /// Begins the active health checks of the configuration in force. Those of upstreams that did not change go on,
    /// others end.
    void check_health();
    boost::asio::awaitable<void> end_checks(std::unique_ptr<async::TaskSet> ending);
    /// Hands the access log's lines on, a few times a second.
    boost::asio::awaitable<void> flush_log();

    boost::asio::awaitable<void> drain();

    std::string file_;
    FileWatch files_;
    bool migrates_;  ///< `store.migrate`, which a reload does not change
    proxy::InFlight in_flight_;
    proxy::Metrics metrics_;
    proxy::AccessLog access_log_;
    proxy::ProgramLog log_;
    std::shared_ptr<const proxy::Generation> generation_;  ///< in force; read and replaced on the calling thread only
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
    struct Check {
        std::shared_ptr<net::UpstreamHealth> health;
        std::shared_ptr<const net::TlsClient> tls;
        std::unique_ptr<async::TaskSet> task;
    };
    std::vector<Check> checks_;

    mutable std::mutex store_trouble_mutex_;
    std::string store_trouble_ = "the store has not been asked yet";
    bool schema_ready_ = false;
};

}  // namespace oncegate::app
