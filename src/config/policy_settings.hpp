#pragma once
// Every key of an idempotency policy as a row: how it is read and how it is shown. The loader and `explain` walk these
// rows; neither knows a key by name.

#include <cstdint>
#include <string>
#include <vector>

#include "config/located_yaml.hpp"
#include "config/problems.hpp"
#include "core/policy.hpp"

namespace oncegate::config {

struct Setting {
    std::string path;  ///< "in_flight.wait"

    /// Puts the node's value into the policy, or reports why not and leaves the policy alone.
    void (*read)(const Node& node, Problems& problems, core::Policy& policy);

    /// The value as YAML would write it; empty: not worth a line. Null for a key that core::Policy does not hold yet:
    /// its `read` checks the shape and refuses every value but the default.
    std::string (*show)(const core::Policy& policy) = nullptr;

    /// What a key without a value means: an error, as if it were not written, or an empty text.
    enum class Blank : std::uint8_t { refused, ignored, empty };
    Blank blank = Blank::refused;
};

/// In the order of the contract's table.
const std::vector<Setting>& policy_settings();

/// Its groups; together they are policy_settings().
std::vector<Setting> mode_settings();
std::vector<Setting> key_settings();
std::vector<Setting> scope_settings();
std::vector<Setting> fingerprint_settings();
std::vector<Setting> life_settings();
std::vector<Setting> record_settings();
std::vector<Setting> replay_settings();
std::vector<Setting> error_settings();
std::vector<Setting> later_settings();

/// Reads with one of readers.hpp into a field.
template <class T, class Reader>
void read_into(T& target, const Node& node, Problems& problems, const Reader& reader) {
    if (auto value = reader(node, problems)) target = static_cast<T>(std::move(*value));
}

}  // namespace oncegate::config
