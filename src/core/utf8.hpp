#pragma once
// Whether bytes are UTF-8 (RFC 3629), strictly: no overlong form, no surrogate, nothing beyond U+10FFFF.

#include <string_view>

namespace oncegate::core {

bool is_utf8(std::string_view text);

}  // namespace oncegate::core
