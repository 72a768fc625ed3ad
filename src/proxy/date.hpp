#pragma once
// The Date field of what this program says itself (RFC 9110 §6.6.1).

#include <string>

namespace oncegate::proxy {

/// IMF-fixdate of now, by the host's clock.
std::string http_date_now();

}  // namespace oncegate::proxy
