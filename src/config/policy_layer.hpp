#pragma once
// A policy as it was written in one place, and how such layers become one policy: default < preset < named policy <
// route. Each value remembers the layer it came from.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/config.hpp"
#include "config/located_yaml.hpp"
#include "config/policy_settings.hpp"
#include "config/problems.hpp"

namespace oncegate::config {

/// What one mapping writes. Points into the tree it was read from.
struct PolicyLayer {
    struct Assignment {
        enum class Form : std::uint8_t { good, malformed };
        const Setting* setting;
        const Node* node;
        Form form;
    };
    std::string title;           ///< "policy money", "route create-payment"
    const Node* node = nullptr;  ///< the whole mapping
    std::optional<std::string> preset;
    const Node* preset_node = nullptr;
    const Node* base_node = nullptr;  ///< of `policy: NAME`
    std::vector<Assignment> assignments;
};

using NamedPolicies = std::vector<std::pair<std::string, PolicyLayer>>;

/// Checks every value on its own. `node` must outlive the layer.
PolicyLayer read_policy_layer(const Node& node, std::string title, Problems& problems);

/// The top-level `policies:`.
NamedPolicies read_named_policies(const Node& node, Problems& problems);

struct ResolvedPolicy {
    core::Policy policy;
    std::vector<PolicyValue> values;           ///< every value with its origin, `preset` first
    std::map<std::string, const Node*> nodes;  ///< of the values that were written, by path
    const Node* block = nullptr;               ///< the route's whole idempotency block

    /// Where a value was written, else the block.
    const Node& place_of(const std::string& path) const;
    bool is_written(const std::string& path) const { return nodes.contains(path); }
};

/// Nothing when a base is missing or goes round in circles, which is reported.
std::optional<ResolvedPolicy> resolve_policy(const PolicyLayer& route, const NamedPolicies& named, Problems& problems);

/// Combinations of values that contradict each other (policy_rules.cpp).
void check_combinations(const ResolvedPolicy& resolved, Problems& problems);

}  // namespace oncegate::config
