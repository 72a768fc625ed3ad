#pragma once
// The command line of contract §1: parses it and calls the command. Exit codes: 0 fine, 1 bad input, 2 could not run.

namespace oncegate::app {

enum ExitCode : int { exit_fine = 0, exit_bad_input = 1, exit_could_not_run = 2 };

int run(int argc, char** argv);

}  // namespace oncegate::app
