#include "app/server.hpp"

#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <cstdlib>
#include <set>
#include <thread>

#include "app/version.hpp"
#include "config/load.hpp"
#include "proxy/server_news.hpp"
#include "proxy/trace.hpp"
#include "store/batcher.hpp"

namespace oncegate::app {

namespace asio = boost::asio;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds store_watch{1'000};
constexpr milliseconds file_watch{1'000};
constexpr milliseconds log_flush{100};
constexpr std::size_t reap_step = 500;

std::size_t thread_count(const config::Config& config) {
    if (config.server.threads > 0) return config.server.threads;
    return std::max(1U, std::thread::hardware_concurrency());
}

net::BindAddress address_of(const std::string& bind) {
    const auto address = net::parse_bind(bind);
    if (!address) throw CouldNotRun("cannot read the address " + bind);
    return *address;
}

/// For names in the log that only this process gives.
std::string random_secret() {
    std::array<unsigned char, 32> bytes{};
    if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) throw CouldNotRun("no randomness");
    return {bytes.begin(), bytes.end()};
}

/// The loops of a thread end by cancellation only.
asio::awaitable<bool> paused(asio::steady_timer& timer, milliseconds pause) {
    timer.expires_after(pause);
    const auto [stopped] = co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
    co_return !stopped;
}

}  // namespace

Server::Server(std::string file, config::Config config)
    : file_(std::move(file)),
      files_(config),
      migrates_(config.store.migrate),
      metrics_(version()),
      access_log_(config.log),
      log_(config.log),
      generation_(first_generation(std::move(config))),
      log_names_(generation_->config().log.hash_key.empty() ? random_secret() : generation_->config().log.hash_key),
      shared_{in_flight_, metrics_,   access_log_,
              log_,       log_names_, std::string("oncegate-").append(proxy::random_hex(4))},
      signals_(main_context_),
      admin_(metrics_, *this),
      admin_tasks_(main_context_.get_executor(), [](std::exception_ptr) {}) {
    for (const int number : {SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2}) signals_.add(number);
    open_store();
    make_workers();
    bind_all();
    bind_admin();
}

std::shared_ptr<const proxy::Generation> Server::first_generation(config::Config config) {
    auto made = proxy::Generation::make(std::move(config), metrics_, log_, nullptr);
    if (made.has_error()) throw UnusableFile(made.error());
    return std::move(*made);
}

Server::~Server() = default;

void Server::open_store() {
    const auto& store = generation_->config().store;
    const store::DatabaseOptions options{store.url, store.schema, store.timeout};
    database_ = store::open_database(options);
    const auto trouble = migrates_ ? database_->migrate() : database_->check();
    schema_ready_ = trouble.empty();
    note_store(trouble);
    if (!trouble.empty() && store.required) throw CouldNotRun("store: " + trouble);
}

void Server::make_workers() {
    const auto& config = generation_->config();
    const auto threads = thread_count(config);
    for (std::size_t i = 0; i < threads; ++i) {
        const auto each = config.store.connections == 0 ? database_->connections_per_thread()
                                                        : proxy::share_of(config.store.connections, i, threads);
        auto& thread = threads_.emplace_back(shared_);
        std::vector<std::unique_ptr<store::Backend>> backends;
        for (std::size_t n = 0; n < each; ++n) backends.push_back(database_->connect(thread.executor()));
        store::BatcherLimits limits;
        limits.operation_timeout = config.store.timeout;
        auto store = store::make_batched_store(thread.executor(), std::move(backends), limits, metrics_);
        thread.set_worker(std::make_unique<proxy::Worker>(thread.executor(), shared_, generation_, std::move(store),
                                                          proxy::Place{i, threads}));
    }
}

void Server::bind_all() {
    for (const auto& listener : generation_->config().server.listeners) {
        auto address = address_of(listener.bind);
        try {
            if (const auto taken = net::probe_bind(address)) throw boost::system::system_error(taken);
            for (auto& thread : threads_) address.port = thread.listen(address);
        } catch (const boost::system::system_error& error) {
            throw CouldNotRun("cannot listen on " + listener.bind + ": " + error.code().message());
        }
        log_.info("listening on " + listener.bind);
    }
}

void Server::bind_admin() {
    const auto& bind = generation_->config().admin.bind;
    const auto address = address_of(bind);
    try {
        if (const auto taken = net::probe_bind(address)) throw boost::system::system_error(taken);
        admin_listener_ = std::make_unique<net::Listener>(main_context_.get_executor(), address);
    } catch (const boost::system::system_error& error) {
        throw CouldNotRun("cannot listen on " + bind + " (admin): " + error.code().message());
    }
}

void Server::run() {
    threads_.front().add_service(look_after_store());
    threads_.front().add_service(reap_expired(threads_.front().worker()));
    for (auto& thread : threads_) thread.start();
    admin_tasks_.spawn(admin_listener_->run(
        [this](std::unique_ptr<net::Stream> stream) { admin_tasks_.spawn(admin_.serve(std::move(stream))); }));
    admin_tasks_.spawn(handle_signals());
    admin_tasks_.spawn(watch_files());
    check_health();
    admin_tasks_.spawn(flush_log());
    main_context_.run();
    access_log_.flush();
}

void Server::note_store(std::string trouble) {
    const std::lock_guard lock(store_trouble_mutex_);
    if (trouble == store_trouble_) return;
    if (trouble.empty()) {
        log_.info("the store is there");
    } else {
        log_.warning("store: " + trouble);
    }
    store_trouble_ = std::move(trouble);
}

asio::awaitable<std::string> Server::prepare_schema() {
    auto* database = database_.get();
    const bool migrate = migrates_;
    auto call = [database, migrate] { return migrate ? database->migrate() : database->check(); };
    auto trouble = co_await blocking_.run(std::move(call));
    schema_ready_ = trouble.empty();
    co_return trouble;
}

asio::awaitable<void> Server::look_after_store() {
    auto& worker = threads_.front().worker();
    asio::steady_timer timer(worker.executor);
    do {
        std::string trouble;
        if (!schema_ready_) trouble = co_await prepare_schema();
        if (trouble.empty()) trouble = co_await worker.store->probe();
        note_store(std::move(trouble));
    } while (co_await paused(timer, store_watch));
}

asio::awaitable<void> Server::reap_expired(proxy::Worker& worker) {
    asio::steady_timer timer(worker.executor);
    while (co_await paused(timer, store_watch)) {
        bool more = true;
        while (more && worker.store->reachable()) {
            const auto step = co_await worker.store->reap(reap_step);
            more = step.has_value() && step->more;
            if (step.has_value() && step->records > 0) metrics_.reaped(step->records);
        }
    }
}

std::vector<std::string> Server::reasons_not_ready() const {
    std::vector<std::string> reasons;
    if (shared_.draining) reasons.emplace_back("draining");
    const std::lock_guard lock(store_trouble_mutex_);
    if (!store_trouble_.empty()) reasons.push_back("store: " + store_trouble_);
    return reasons;
}

asio::awaitable<void> Server::handle_signals() {
    for (;;) {
        const auto [error, signal] = co_await signals_.async_wait(asio::as_tuple(asio::use_awaitable));
        if (error) co_return;
        if (signal == SIGUSR2) continue;  // other proxies' word for an upgrade of the program: not spoken here
        if (signal == SIGUSR1 || signal == SIGHUP) {
            reopen_log();
            if (signal == SIGHUP) reload();
            continue;
        }
        if (shared_.draining) {  // asked twice: at once
            access_log_.flush();
            std::_Exit(EXIT_FAILURE);
        }
        admin_tasks_.spawn(drain());
    }
}

void Server::reopen_log() {
    if (!access_log_.reopen()) log_.error("log.file could not be opened anew; the old one goes on");
}

std::shared_ptr<const config::Config> Server::config() const { return {generation_, &generation_->config()}; }

void Server::reload() {
    auto loaded = config::load_file(file_, config::process_environment());
    if (loaded.config) return put_in_force(std::move(*loaded.config), "the configuration was reloaded");
    for (const auto& error : loaded.errors) log_.error(error.text());
    log_.error("the configuration was not reloaded; the running one goes on");
    metrics_.reloaded(proxy::Metrics::Reload::refused);
}

void Server::put_in_force(config::Config next, std::string_view what) {
    const auto before = generation_;
    std::string trouble = needs_restart(before->config(), next);
    if (!trouble.empty()) trouble.append(" changed, which takes effect at a start only");
    FileWatch files(next);  // before the files are read: a change in between is then seen
    if (trouble.empty()) {
        auto made = proxy::Generation::make(std::move(next), metrics_, log_, generation_.get());
        if (made.has_value()) {
            generation_ = std::move(*made);
        } else {
            trouble = made.error();
        }
    }
    if (!trouble.empty()) {
        log_.error("the configuration was not reloaded; the running one goes on: " + trouble);
        return metrics_.reloaded(proxy::Metrics::Reload::refused);
    }
    for (auto& thread : threads_) thread.adopt(generation_);
    files_ = std::move(files);
    check_health();
    forget_servers_of(before->config());
    log_.info(what);
    metrics_.reloaded(proxy::Metrics::Reload::taken);
}

void Server::check_health() {
    auto before = std::exchange(checks_, {});
    for (auto& options : generation_->health_checks()) {
        const auto same = std::find_if(before.begin(), before.end(), [&](const Check& check) {
            return check.task && check.health == options.health && check.tls == options.tls;
        });
        if (same != before.end()) {
            checks_.push_back(std::move(*same));
            continue;
        }
        auto task = std::make_unique<async::TaskSet>(main_context_.get_executor(), [](std::exception_ptr) {});
        auto& check = checks_.emplace_back(Check{options.health, options.tls, std::move(task)});
        check.task->spawn(net::check_health(std::move(options)));
    }
    for (auto& check : before) {
        if (check.task) admin_tasks_.spawn(end_checks(std::move(check.task)));
    }
}

void Server::forget_servers_of(const config::Config& before) {
    const auto names = [](const config::Config& config) {
        std::set<std::pair<std::string, std::string>> all;
        for (const auto& upstream : config.upstreams) {
            for (const auto& server : upstream.servers) all.emplace(upstream.name, proxy::server_name(server));
        }
        return all;
    };
    const auto now = names(generation_->config());
    for (const auto& [upstream, server] : names(before)) {
        if (!now.contains({upstream, server})) metrics_.forget_server(upstream, server);
    }
}

asio::awaitable<void> Server::end_checks(std::unique_ptr<async::TaskSet> ending) {
    ending->cancel_all();
    co_await ending->wait_empty();
}

asio::awaitable<void> Server::flush_log() {
    asio::steady_timer timer(main_context_);
    while (co_await paused(timer, log_flush)) access_log_.flush();
}

asio::awaitable<void> Server::watch_files() {
    asio::steady_timer timer(main_context_);
    while (co_await paused(timer, file_watch)) {
        // A certificate and its key are replaced one after the other: what does not fit is tried again at the next
        // change.
        if (files_.changed())
            put_in_force(generation_->config(), "certificates and keys were taken anew: their files changed");
    }
}

asio::awaitable<void> Server::drain() {
    log_.info("draining");
    shared_.draining = true;
    for (auto& thread : threads_) thread.drain(generation_->config().server.timeouts.drain);
    async::BlockingThread waiting("oncegate-drain");
    auto* threads = &threads_;
    auto join_all = [threads] {
        for (auto& thread : *threads) thread.join();
        return 0;
    };
    co_await waiting.run(std::move(join_all));
    log_.info("drained");
    main_context_.stop();
}

}  // namespace oncegate::app
