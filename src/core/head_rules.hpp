#pragma once
// The grammar of a raw message head (RFC 9112 §2-§5), checked on the bytes before any parser has repaired them: bare CR
// or LF, NUL, obs-fold, white space before a colon, an invalid method, target, version or Host are faults here (R118,
// R119), never repairs. Leaves framing to core/framing.

#include <string_view>

#include "core/framing.hpp"
#include "core/http_message.hpp"

namespace oncegate::core {

/// `raw` is a whole head including the empty line that ends it. Longest request target accepted: 16 KiB (R131: 414
/// beyond). Checks the request line, every field line, exactly one valid Host on HTTP/1.1 (RFC 9112 §3.2) and the
/// target's form against the method (origin-form, absolute-form; `*` for OPTIONS only; authority-form for CONNECT
/// only).
HeadResult<RequestHead> parse_request_head(std::string_view raw);

/// The same for a response; `raw` ends with the empty line. A reason phrase may be empty or missing with its space.
HeadResult<ResponseHead> parse_response_head(std::string_view raw);

/// The authority that routes the request: of an absolute-form target, else Host (RFC 9112 §3.2.2); empty when neither
/// is there.
std::string_view effective_host(const RequestHead& head);

/// Path (with leading '/') and query (with leading '?', or empty) of the target, byte for byte.
struct TargetParts {
    std::string_view path;
    std::string_view query;
};
TargetParts split_target(std::string_view target);

}  // namespace oncegate::core
