#pragma once
// A recorded response, given again: the same status, end-to-end fields and bytes, in framing made anew (contract §3
// "Replay").

#include <boost/asio/awaitable.hpp>

#include "core/record.hpp"
#include "proxy/request.hpp"

namespace oncegate::proxy {

/// `record` is completed. Large bodies are read from the store chunk by chunk while they are sent; when a chunk cannot
/// be had the answer is cut off, never ended.
boost::asio::awaitable<void> replay(Request& request, const core::Record& record);

}  // namespace oncegate::proxy
