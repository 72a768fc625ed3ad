#pragma once
// Inside [...] and {...} yaml-cpp ends a plain text at every `?`, and YAML itself at every brace: `[route,
// header:Authorization?]`,
// `[http://${HOST}:9000]` and `{ get: /by-key/{key} }` would not be read as what they plainly mean. These characters
// are put out of the scanner's sight by other bytes, one for one so that every column stays, and put back in the
// scalars it returns.

#include <string>
#include <string_view>

namespace oncegate::config {

/// Replaces a `?` that follows other text, and the braces of `${...}` and `/{name}` on one line. The input may hold no
/// control characters but tab, CR and LF.
std::string shield(std::string_view yaml);

/// The original text of a scalar of a shielded document.
void unshield(std::string& scalar);

}  // namespace oncegate::config
