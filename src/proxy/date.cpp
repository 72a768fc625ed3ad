#include "proxy/date.hpp"

#include <ctime>
#include <string>

#include "core/forwarding.hpp"

namespace oncegate::proxy {

std::string_view http_date_now() {
    thread_local std::time_t kept_second = -1;
    thread_local std::string kept_text;
    timespec now{};
    clock_gettime(CLOCK_REALTIME_COARSE, &now);  // a whole second is all that is asked for
    if (now.tv_sec != kept_second) {
        kept_text = core::http_date(now.tv_sec);
        kept_second = now.tv_sec;
    }
    return kept_text;
}

}  // namespace oncegate::proxy
