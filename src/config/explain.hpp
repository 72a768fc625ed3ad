#pragma once
// What `oncegate explain` prints: the route a request takes, the policy in force with the origin of every value, and
// what the request brings for key, scope and fingerprint. Pure; printing and exit codes are the command's.

#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "core/http_message.hpp"

namespace oncegate::config {

/// A request as the command line gives it: `url` is absolute (http or https) or a path with an optional query,
/// `headers` are `Name: value` lines. An absolute URL's authority becomes the Host field unless a header gives one.
/// Nothing when the proxy would refuse such a request; `why` then says so in one sentence.
std::optional<core::RequestHead> explained_request(const std::string& method, const std::string& url,
                                                   const std::vector<std::string>& headers, std::string& why);

/// Several lines, each ended by a newline.
std::string explain(const Config& config, const core::RequestHead& head);

}  // namespace oncegate::config
