#pragma once
// The Forwarded field (RFC 7239): reading its elements, and writing one of our own.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/http_message.hpp"

namespace oncegate::core {

/// One hop's report. A parameter that is absent is empty.
struct ForwardedElement {
    std::string node;   ///< value of `for`, unquoted: "192.0.2.7", "[2001:db8::1]:4711", "unknown", "_hidden"
    std::string proto;  ///< value of `proto`, unquoted
};

/// The elements of all Forwarded lines in order; nothing when any of it is malformed, for then it cannot be said which
/// part was written by whom. Empty when there is no such line.
std::optional<std::vector<ForwardedElement>> parse_forwarded(const Fields& fields);

/// Appends `for=...;host=...;proto=...` to `text` (R134). An empty address is `unknown`, an empty host is left out.
/// `address`: IPv6 without brackets.
void append_forwarded(std::string& text, std::string_view address, std::string_view host, std::string_view scheme);

}  // namespace oncegate::core
