#include "app/serve.hpp"

#include <sys/resource.h>

#include <csignal>
#include <iostream>

#include "app/command_line.hpp"
#include "app/config_commands.hpp"
#include "app/server.hpp"

namespace oncegate::app {

namespace {

/// Every connection is a descriptor: take as many as the system grants.
void raise_descriptor_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

int run_serve(const std::string& config_file) {
    auto config = load_or_complain(config_file);
    if (!config) return exit_bad_input;
    raise_descriptor_limit();
    std::signal(SIGPIPE, SIG_IGN);  // a client that is gone is an error code of the write
    try {
        Server server(config_file, std::move(*config));
        server.run();
        return exit_fine;
    } catch (const UnusableFile& file) {
        std::cerr << config_file << ": " << file.what() << '\n';
        return exit_bad_input;
    } catch (const std::exception& failure) {
        std::cerr << "oncegate: " << failure.what() << '\n';
        return exit_could_not_run;
    }
}

}  // namespace oncegate::app
