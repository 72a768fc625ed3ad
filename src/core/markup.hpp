#pragma once
// Text inside HTML and XML.

#include <string>
#include <string_view>

namespace oncegate::core {

/// `text` as element content or as a quoted attribute value: the five characters of XML 1.0 §2.4 as references.
std::string in_markup(std::string_view text);

}  // namespace oncegate::core
