#pragma once
// Values as YAML would write them, for `explain`, the policy page and error messages.

#include <string>
#include <string_view>
#include <vector>

#include "core/policy.hpp"

namespace oncegate::config {

/// Quoted only when YAML, or this program's reading of it, would take the plain text for something else.
std::string yaml_text(std::string_view text);
/// "[a, b]" of texts that are YAML already.
std::string yaml_list(const std::vector<std::string>& items);
/// "[a, b]" of texts that are quoted where they need it.
std::string yaml_texts(const std::vector<std::string>& items);
std::string yaml_text(const core::StatusSet& statuses);

enum class Truth : bool { no, yes };
constexpr Truth truth(bool value) { return value ? Truth::yes : Truth::no; }
std::string yaml_text(Truth value);

/// "header:Idempotency-Key", "{any: [header:a, {all: [header:b, header:c]}]}".
std::string yaml_text(const std::vector<std::vector<core::KeyLocation>>& from);
std::string yaml_text(const core::KeyLocation& location);
std::string yaml_text(const core::ScopePart& part);
std::string yaml_text(const core::FingerprintPart& part);

}  // namespace oncegate::config
