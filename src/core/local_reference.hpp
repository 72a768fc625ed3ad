#pragma once
// Where a Location leads, when it leads to the server that sent it (RFC 3986 §5, RFC 9110 §10.2.2): what can be fetched
// there with the caller's credentials. Those never go anywhere else.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oncegate::core {

/// The request target (path and query, no fragment) that `location` means for a request to `base_target`. Nothing when
/// it is no reference to http or https, or names an authority that is not among `authorities` ("host" or "host:port",
/// as Host fields say them; a scheme's default port may be written or left out).
std::optional<std::string> local_target(std::string_view location, std::string_view base_target,
                                        const std::vector<std::string>& authorities);

}  // namespace oncegate::core
