#pragma once
// The Date field of what this program says itself (RFC 9110 §6.6.1).

#include <string_view>

namespace oncegate::proxy {

/// IMF-fixdate of now, by the host's clock. Made once a second: valid until the next call on this thread.
std::string_view http_date_now();

}  // namespace oncegate::proxy
