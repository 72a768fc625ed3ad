#pragma once
// Bodies of HTML forms: application/x-www-form-urlencoded (WHATWG URL §5) and multipart/form-data (RFC 7578), compared
// by their fields, whatever the escaping or the boundary (R46), and looked into for a key.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/digest.hpp"

namespace oncegate::core {

/// A longer urlencoded body, one of more than 10,000 pairs, or a multipart one of more than 1,000 parts is no form
/// here.
inline constexpr std::size_t urlencoded_bytes_max = 1U << 20;

/// Over names and values in their order (and, of multipart, each part's file name and content type). Nothing when the
/// content type is no form's or the body is malformed: it is compared as bytes then. Linear time; contents are not
/// copied.
std::optional<Digest> form_digest(std::string_view content_type, std::string_view body);

/// Of one name no more values are told: a second one is a fault already.
inline constexpr std::size_t form_values_max = 2;
/// A longer value is cut off: no key may be as long.
inline constexpr std::size_t form_value_bytes_max = 64U << 10;

/// The values of the field `name` in their order, decoded; empty when the body is no form or has no such field.
std::vector<std::string> form_values(std::string_view content_type, std::string_view body, std::string_view name);

/// The values of the query parameter `name`, decoded as urlencoded pairs are; `query` without the question mark.
std::vector<std::string> query_values(std::string_view query, std::string_view name);

/// `content_type` without its boundary parameter, for comparison: two spellings of one form differ in it alone.
std::string without_boundary(std::string_view content_type);

}  // namespace oncegate::core
