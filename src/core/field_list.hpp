#pragma once
// Comma-separated field values (RFC 9110 §5.6.1), for lists whose elements hold no quoted strings: Connection,
// Transfer-Encoding.

#include <string_view>

#include "core/ascii.hpp"

namespace oncegate::core {

/// Calls `visit(std::string_view)` with each element, white space trimmed, empty elements included: whether those are
/// tolerated is the caller's to say. An empty value has one empty element.
template <class Visit>
void for_each_element(std::string_view value, Visit visit) {
    for (;;) {
        const auto comma = value.find(',');
        visit(trim_ows(value.substr(0, comma)));
        if (comma == std::string_view::npos) return;
        value.remove_prefix(comma + 1);
    }
}

}  // namespace oncegate::core
