#pragma once
// Bodies of HTML forms: application/x-www-form-urlencoded (WHATWG URL §5) and multipart/form-data (RFC 7578), compared
// by their fields, whatever the escaping or the boundary (R46), and looked into for a key.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/digest.hpp"

namespace oncegate::core {

/// Over names and values in their order (and, of multipart, each part's file name and content type). Nothing when the
/// content type is no form's or the body is malformed: it is compared as bytes then.
std::optional<Digest> form_digest(std::string_view content_type, std::string_view body);

/// Every value of the field `name`, decoded; empty when the body is no form or has no such field.
std::vector<std::string> form_values(std::string_view content_type, std::string_view body, std::string_view name);

/// Every value of the query parameter `name`, decoded as urlencoded pairs are; `query` without the question mark.
std::vector<std::string> query_values(std::string_view query, std::string_view name);

/// `content_type` without its boundary parameter, for comparison: two spellings of one form differ in it alone.
std::string without_boundary(std::string_view content_type);

}  // namespace oncegate::core
