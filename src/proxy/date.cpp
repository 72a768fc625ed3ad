#include "proxy/date.hpp"

#include <chrono>

#include "core/forwarding.hpp"

namespace oncegate::proxy {

std::string http_date_now() {
    using std::chrono::system_clock;
    return core::http_date(system_clock::to_time_t(system_clock::now()));
}

}  // namespace oncegate::proxy
