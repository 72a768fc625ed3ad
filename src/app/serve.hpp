#pragma once
// `oncegate serve`: loads the configuration, opens the store, and runs the server until it is told to stop.

#include <string>

namespace oncegate::app {

/// Returns the exit code: 0 after a drain, 1 for a bad configuration, 2 when it could not run.
int run_serve(const std::string& config_file);

}  // namespace oncegate::app
