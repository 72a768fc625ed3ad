#pragma once
// The two spellings that tokens and key sets are made of, read strictly: base64url without padding (RFC 7515 §2) and
// JSON objects in which no member is written twice (RFC 7515 §5.2, RFC 7519 §4). What two readers could take for two
// things has no meaning here.

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace oncegate::core {

/// The bytes; nothing for padding, white space, other characters, an impossible length or bits set that belong to no
/// byte.
std::optional<std::string> decode_base64url(std::string_view text);

struct JwtObject {
    boost::json::object members;
    /// Of the object's own members those whose number is no integer of 64 bits, with the number's text: in `members` it
    /// is a double.
    std::vector<std::pair<std::string, std::string>> inexact;
};

/// Nothing when the text is not one JSON object, or any object in it names a member twice.
std::optional<JwtObject> parse_jwt_object(std::string_view text);

/// The member's text; nothing when it is absent or no string.
std::optional<std::string_view> string_member(const boost::json::object& object, std::string_view name);

}  // namespace oncegate::core
