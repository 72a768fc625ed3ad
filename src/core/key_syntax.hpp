#pragma once
// What the text of a key may look like (R11-R33, R141, R142): key.syntax, lengths, pattern, personal data. Where it was
// found is core/key_source's business.

#include <boost/system/result.hpp>
#include <string>
#include <string_view>

#include "core/idempotency_key.hpp"

namespace oncegate::core {

/// "Idempotency-Key", "the query parameter ClientToken".
std::string describe(const KeyLocation& location);

/// How to send a key there, as a sentence.
std::string advice(const KeyRule& rule, const KeyLocation& location);

/// A fault of what stands at `location`: `what` is wrong with it, as the end of a sentence, and how to send it.
KeyFault malformed(const KeyRule& rule, const KeyLocation& location, std::string_view what);

/// The text found at `location` as a key. A header field's value is read by `rule.syntax`; CloudEvents attributes
/// (`ce-*`) also by the encoding that their HTTP binding has for them; any other text has been decoded already and is
/// taken as it is. What comes out is UTF-8 without control characters.
boost::system::result<std::string, KeyFault> parse_key_text(const KeyRule& rule, const KeyLocation& location,
                                                            std::string_view text);

/// Whether the location is a CloudEvents attribute of the binary mode.
bool is_event_attribute(const KeyLocation& location);

}  // namespace oncegate::core
