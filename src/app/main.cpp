// The program: one command a run. What each does lies in its own file.

#include "app/command_line.hpp"

int main(int argc, char** argv) { return oncegate::app::run(argc, argv); }
