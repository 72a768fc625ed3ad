#pragma once
// W3C Trace Context, as far as passing it on needs: a valid traceparent is kept, otherwise one is made (contract §5).

#include <string>
#include <string_view>

namespace oncegate::proxy {

/// "00-" 32 hex "-" 16 hex "-" 2 hex, neither id all zero.
bool is_traceparent(std::string_view value);

/// The trace id of a valid traceparent, or a new random one.
std::string trace_id_of(std::string_view traceparent);

/// A traceparent of `trace_id` with a random parent id, sampled.
std::string make_traceparent(std::string_view trace_id);

/// `bytes` random bytes in lower-case hex; not for secrets.
std::string random_hex(std::size_t bytes);

}  // namespace oncegate::proxy
