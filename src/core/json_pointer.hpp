#pragma once
// JSON pointers (RFC 6901): "/order/items/0/id". "~1" stands for a slash in a name, "~0" for a tilde.

#include <optional>
#include <string_view>

#include "core/json_reader.hpp"

namespace oncegate::core {

/// The value that `pointer` leads to. Nothing when it leads nowhere: there is no such member or element, or the
/// pointer is none.
std::optional<JsonDocument::Index> json_find(const JsonDocument& document, std::string_view pointer);

}  // namespace oncegate::core
