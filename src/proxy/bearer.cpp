#include "proxy/bearer.hpp"

namespace oncegate::proxy {

TokenReading read_token(const Request&) { return {}; }

}  // namespace oncegate::proxy
