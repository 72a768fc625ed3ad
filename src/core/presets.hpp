#pragma once
// The named sets of policy values (contract §2, "Presets"): each complete, so that what is written beside one only ever
// overrides it. No preset says whose key it is: the scope stays empty and must be written.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/policy.hpp"

namespace oncegate::core {

/// Nothing when there is no preset of that name.
std::optional<Policy> preset(std::string_view name);

/// In the contract's order; the first is the default.
const std::vector<std::string>& preset_names();

}  // namespace oncegate::core
