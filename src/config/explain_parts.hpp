#pragma once
// The parts that explain() is made of. Each is whole lines, ended by a newline.

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "config/config.hpp"

namespace oncegate::config {

/// "  name      value" with the value in a column of its own.
std::string row(const std::string& name, const std::string& value, std::size_t width);

/// "https://payments:9000", "unix:/run/app.sock".
std::string server_text(const UpstreamServer& server);

std::string listeners_text(const Server& server);
std::string forwarding_text(const Route& route);
std::string upstream_text(const Upstream& upstream);
/// Empty for a route that asks nobody and verifies no token.
std::string access_text(const Config& config, const Route& route);

/// What tokens and the authorisation service will say is not known here; some text in its place shows that the part of
/// the scope is there.
struct ScopeStandIns {
    explicit ScopeStandIns(const std::vector<core::ScopePart>& parts);
    boost::json::object claims;
    core::Fields answer;
};

}  // namespace oncegate::config
