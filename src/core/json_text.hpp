#pragma once
// Request bodies read as JSON, strictly (RFC 8259), and compared as values with no precision lost (R47-R50). What is
// not JSON, repeats a member name, or is too large or too deep has no value here: it is compared as bytes.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/digest.hpp"

namespace oncegate::core {

/// A longer text is compared as bytes: its values would cost more time than a request may take from others.
inline constexpr std::size_t json_bytes_max = 1U << 20;

/// What a JSON pointer (RFC 6901) finds in a text.
struct JsonText {
    enum class Kind : std::uint8_t {
        not_json,  ///< the text has no value (see above)
        absent,    ///< the pointer leads nowhere
        other,     ///< to something that is not a string
        string,
    };
    Kind kind = Kind::not_json;
    std::string value;  ///< of a string, in UTF-8, unescaped
};

/// The string that `pointer` leads to (R8).
JsonText json_text_at(std::string_view json, std::string_view pointer);

/// Equal for equal values (R47, R48), with what the pointers of `ignore` lead to left out (see json_digest.hpp).
/// Nothing when the text has no value, or all of it is left out.
std::optional<Digest> json_digest(std::string_view json, const std::vector<std::string>& ignore = {});

}  // namespace oncegate::core
