#pragma once
// The parts that explain() is made of. Each is whole lines, ended by a newline.

#include <string>

#include "config/config.hpp"

namespace oncegate::config {

/// "  name      value" with the value in a column of its own.
std::string row(const std::string& name, const std::string& value, std::size_t width);

/// "https://payments:9000", "unix:/run/app.sock".
std::string server_text(const UpstreamServer& server);

std::string listeners_text(const Server& server);
std::string forwarding_text(const Route& route);
std::string upstream_text(const Upstream& upstream);

}  // namespace oncegate::config
