#include "proxy/authorization.hpp"

namespace oncegate::proxy {

boost::asio::awaitable<bool> authorize(Request&) { co_return true; }

}  // namespace oncegate::proxy
