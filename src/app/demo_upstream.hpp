#pragma once
// `oncegate demo-upstream`: serves DemoPayments over HTTP/1.1 on one thread, with the proxy's own reading and writing
// of messages.

#include <ostream>
#include <string>

namespace oncegate::app {

/// Serves on `bind` (ADDRESS:PORT) until SIGINT or SIGTERM and says so on `out`. Returns the exit code of contract §1:
/// 0 after a signal, 1 for an address it cannot read, 2 for one it cannot bind.
int run_demo_upstream(const std::string& bind, std::ostream& out);

}  // namespace oncegate::app
