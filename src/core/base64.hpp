#pragma once
// Base64 with the standard alphabet (RFC 4648 §4), as Byte Sequences carry it.

#include <boost/system/result.hpp>
#include <string>
#include <string_view>

namespace oncegate::core {

/// The decoded bytes, or the offset of what is wrong. Padding may be missing as a whole and pad bits may be set:
/// parsers of Structured Fields should accept both (RFC 9651 §4.2.7). Partial padding, white space and other alphabets
/// are refused.
boost::system::result<std::string, std::size_t> decode_base64(std::string_view text);

}  // namespace oncegate::core
