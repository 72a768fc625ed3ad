#include "app/config_commands.hpp"

#include <iostream>

#include "app/command_line.hpp"
#include "app/version.hpp"
#include "config/explain.hpp"
#include "config/load.hpp"
#include "proxy/generation.hpp"
#include "store/backend.hpp"

namespace oncegate::app {

std::optional<config::Config> load_or_complain(const std::string& file) {
    auto loaded = config::load_file(file, config::process_environment());
    for (const auto& error : loaded.errors) std::cerr << error.text() << '\n';
    return std::move(loaded.config);
}

int run_check(const std::string& file) {
    auto config = load_or_complain(file);
    if (!config) return exit_bad_input;
    proxy::Metrics nobody_asks(version());
    proxy::ProgramLog log(config->log);
    const auto usable = proxy::Generation::make(std::move(*config), nobody_asks, log, nullptr);
    if (usable.has_error()) {
        std::cerr << file << ": " << usable.error() << '\n';
        return exit_bad_input;
    }
    std::cout << file << ": fine\n";
    return exit_fine;
}

int run_explain(const std::string& file, const std::string& method, const std::string& url,
                const std::vector<std::string>& headers) {
    const auto config = load_or_complain(file);
    if (!config) return exit_bad_input;
    std::string why;
    const auto request = config::explained_request(method, url, headers, why);
    if (!request) {
        std::cerr << "oncegate: " << why << '\n';
        return exit_bad_input;
    }
    std::cout << config::explain(*config, *request);
    return exit_fine;
}

namespace {

/// Nothing when the URL means no store, which is then said.
std::unique_ptr<store::Database> open_or_complain(const config::Store& options) {
    try {
        return store::open_database(store::DatabaseOptions{options.url, options.schema, options.timeout});
    } catch (const std::exception& failure) {
        std::cerr << "oncegate: store: " << failure.what() << '\n';
        return nullptr;
    }
}

}  // namespace

int run_migrate(const std::string& file, Migration migration) {
    const auto config = load_or_complain(file);
    if (!config) return exit_bad_input;
    const auto database = open_or_complain(config->store);
    if (!database) return exit_could_not_run;
    if (migration == Migration::print) {
        std::cout << "-- The whole schema, as for an empty database; the store was not asked.\n"
                  << database->migration_sql();
        return exit_fine;
    }
    const auto failure = database->migrate();
    if (!failure.empty()) {
        std::cerr << "oncegate: " << failure << '\n';
        return exit_could_not_run;
    }
    std::cout << "the store's schema is up to date\n";
    return exit_fine;
}

}  // namespace oncegate::app
