#include "app/command_line.hpp"

#include <CLI/CLI.hpp>
#include <iostream>

#include "app/config_commands.hpp"
#include "app/demo_upstream.hpp"
#include "app/serve.hpp"
#include "app/version.hpp"

namespace oncegate::app {

namespace {

constexpr const char* footer =
    "Exit codes: 0 fine, 1 bad input (configuration, arguments), 2 could not run (port taken, store unreachable).";

void add_config_option(CLI::App& command, std::string& file) {
    command.add_option("-c,--config", file, "the configuration file")->required()->type_name("FILE");
}

/// CLI11 has codes of its own; the contract has three.
int exit_code_of(const CLI::App& program, const CLI::ParseError& error) {
    return program.exit(error) == 0 ? exit_fine : exit_bad_input;
}

int keys_not_supported() {
    std::cerr << "oncegate: keys is not supported yet\n";
    return exit_bad_input;
}

}  // namespace

int run(int argc, char** argv) {
    CLI::App program("Oncegate: an HTTP reverse proxy that makes retries safe.", "oncegate");
    program.set_version_flag("--version", std::string("oncegate ") + version());
    program.require_subcommand(1);
    program.footer(footer);

    std::string config_file;
    std::string method;
    std::string url;
    std::vector<std::string> headers;
    std::string bind = "127.0.0.1:9000";
    bool print_only = false;

    auto* serve = program.add_subcommand("serve", "run the proxy in the foreground");
    add_config_option(*serve, config_file);
    auto* check = program.add_subcommand("check", "validate a configuration file and print every error");
    add_config_option(*check, config_file);
    auto* explain =
        program.add_subcommand("explain", "print the route and the complete policy that a request would meet");
    add_config_option(*explain, config_file);
    explain->add_option("METHOD", method, "POST, say")->required();
    explain->add_option("URL", url, "http://host/path?query or /path")->required();
    explain->add_option("-H,--header", headers, "a header line, 'Name: value'; may be repeated")->type_name("LINE");
    auto* migrate = program.add_subcommand("migrate", "bring the store's schema up to date");
    add_config_option(*migrate, config_file);
    migrate->add_flag("--print", print_only, "show the SQL and change nothing");
    auto* keys = program.add_subcommand("keys", "look into and mend records (not supported yet)");
    keys->allow_extras();
    auto* demo = program.add_subcommand("demo-upstream", "a small payments API for trying things out");
    demo->add_option("--bind", bind, "address to listen on")->capture_default_str()->type_name("ADDR");

    try {
        program.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return exit_code_of(program, error);
    }
    if (*serve) return run_serve(config_file);
    if (*check) return run_check(config_file);
    if (*explain) return run_explain(config_file, method, url, headers);
    if (*migrate) return run_migrate(config_file, print_only ? Migration::print : Migration::apply);
    if (*keys) return keys_not_supported();
    return run_demo_upstream(bind, std::cout);
}

}  // namespace oncegate::app
