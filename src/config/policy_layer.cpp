#include "config/policy_layer.hpp"

#include <algorithm>

#include "config/readers.hpp"
#include "config/section.hpp"
#include "config/yaml_text.hpp"
#include "core/presets.hpp"

namespace oncegate::config {

namespace {

const Node* take(Section& section, std::string_view key, Setting::Blank blank) {
    switch (blank) {
        case Setting::Blank::refused: return section.take(key);
        case Setting::Blank::ignored: return section.take_or_blank(key);
        case Setting::Blank::empty: return section.take_any(key);
    }
    return nullptr;
}

/// Reads a value for its own sake; a malformed one is remembered too, so that nothing is said to be missing in its
/// place.
void add_assignment(PolicyLayer& layer, const Setting& setting, const Node& node, Problems& problems) {
    using Form = PolicyLayer::Assignment::Form;
    core::Policy scratch;
    const auto before = problems.count();
    setting.read(node, problems, scratch);
    const Form form = problems.count() == before ? Form::good : Form::malformed;
    layer.assignments.push_back({&setting, &node, form});
}

void read_preset(PolicyLayer& layer, Section& section, Problems& problems) {
    layer.preset_node = section.take("preset");
    if (layer.preset_node == nullptr) return;
    const auto written = text(*layer.preset_node, problems);
    if (!written) return;
    if (core::preset(*written)) {
        layer.preset = *written;
    } else {
        problems.add(*layer.preset_node,
                     "'" + *written + "' is not a preset" + name_hint(*written, core::preset_names()));
    }
}

/// The settings under one key ("key", "record"), or those without a group.
void read_group(PolicyLayer& layer, Section& section, const std::string& group, Problems& problems) {
    const std::string prefix = group.empty() ? "" : group + ".";
    for (const auto& setting : policy_settings()) {
        const bool inside =
            group.empty() ? setting.path.find('.') == std::string::npos : setting.path.starts_with(prefix);
        if (!inside) continue;
        const Node* node = take(section, setting.path.substr(prefix.size()), setting.blank);
        if (node != nullptr) add_assignment(layer, setting, *node, problems);
    }
}

bool accepts(const Setting& setting, const Node& node) {
    core::Policy scratch;
    Problems unheard;
    setting.read(node, unheard, scratch);
    return unheard.count() == 0;
}

/// `in_flight: wait` gives a value where its group is expected: which of the group's keys could have been meant? Not
/// one that takes any text.
void refuse_bare_value(const Node& node, const std::string& group, Problems& problems) {
    const std::string prefix = group + ".";
    Node any_text = node;
    any_text.text = "no-value-of-any-key";
    for (const auto& setting : policy_settings()) {
        if (!setting.path.starts_with(prefix) || !accepts(setting, node) || accepts(setting, any_text)) continue;
        return problems.add(node, "a mapping is expected here; write " + group + ": { " +
                                      setting.path.substr(prefix.size()) + ": " + yaml_text(node.text) + " }");
    }
    problems.add(node, "a mapping of keys is expected here");
}

std::vector<std::string> groups() {
    std::vector<std::string> names;
    for (const auto& setting : policy_settings()) {
        const auto dot = setting.path.find('.');
        if (dot == std::string::npos) continue;
        const auto group = setting.path.substr(0, dot);
        if (std::find(names.begin(), names.end(), group) == names.end()) names.push_back(group);
    }
    return names;
}

std::string origin_of(const PolicyLayer& layer, const Node& node) {
    return layer.title + ":" + std::to_string(node.place.line);
}

/// From the named policy farthest below to the route itself.
std::optional<std::vector<const PolicyLayer*>> chain_of(const PolicyLayer& route, const NamedPolicies& named,
                                                        Problems& problems) {
    std::vector<const PolicyLayer*> chain{&route};
    while (chain.back()->base_node != nullptr) {
        const Node& base = *chain.back()->base_node;
        const auto written = text(base, problems);
        if (!written) return std::nullopt;
        std::vector<std::string> names;
        for (const auto& [name, layer] : named) names.push_back(name);
        const auto found = std::find(names.begin(), names.end(), *written);
        if (found == names.end()) {
            problems.add(base, "there is no policy '" + *written + "'" + name_hint(*written, names));
            return std::nullopt;
        }
        const PolicyLayer* layer = &named[static_cast<std::size_t>(found - names.begin())].second;
        if (std::find(chain.begin(), chain.end(), layer) != chain.end()) {
            problems.add(base, "policies that start from each other in a circle");
            return std::nullopt;
        }
        chain.push_back(layer);
    }
    std::reverse(chain.begin(), chain.end());
    return chain;
}

}  // namespace

const Node& ResolvedPolicy::place_of(const std::string& path) const {
    const auto written = nodes.find(path);
    return written == nodes.end() ? *block : *written->second;
}

PolicyLayer read_policy_layer(const Node& node, std::string title, Problems& problems) {
    PolicyLayer layer;
    layer.title = std::move(title);
    layer.node = &node;
    Section section(node, problems);
    read_preset(layer, section, problems);
    layer.base_node = section.take("policy");
    read_group(layer, section, "", problems);
    for (const auto& group : groups()) {
        const Node* inner = section.take(group);
        // `fingerprint` is both a row of its own (off) and a group; as a row it has been checked already.
        if (inner == nullptr || (group == "fingerprint" && inner->kind != Node::Kind::mapping)) continue;
        if (inner->kind == Node::Kind::scalar) {
            refuse_bare_value(*inner, group, problems);
            continue;
        }
        Section inner_section(*inner, problems);
        read_group(layer, inner_section, group, problems);
        inner_section.finish();
    }
    section.finish();
    return layer;
}

NamedPolicies read_named_policies(const Node& node, Problems& problems) {
    NamedPolicies named;
    if (node.kind != Node::Kind::mapping) {
        problems.add(node, "a mapping from policy names to policies is expected here");
        return named;
    }
    for (const auto& entry : node.entries) {
        named.emplace_back(entry.key, read_policy_layer(entry.value, "policy " + entry.key, problems));
    }
    for (const auto& policy : named) chain_of(policy.second, named, problems);  // a policy no route uses is checked too
    return named;
}

std::optional<ResolvedPolicy> resolve_policy(const PolicyLayer& route, const NamedPolicies& named, Problems& problems) {
    const auto chain = chain_of(route, named, problems);
    if (!chain) return std::nullopt;

    ResolvedPolicy out;
    out.block = route.node;
    std::string preset_name = core::preset_names().front();
    std::map<std::string, std::string> origins{{"preset", "default"}};
    for (const auto* layer : *chain) {
        if (!layer->preset) continue;
        preset_name = *layer->preset;
        origins["preset"] = origin_of(*layer, *layer->preset_node);
    }
    const core::Policy defaults;
    const core::Policy base = core::preset(preset_name).value_or(defaults);
    out.policy = base;

    Problems reported_before;
    for (const auto* layer : *chain) {
        for (const auto& [setting, node, form] : layer->assignments) {
            if (form == PolicyLayer::Assignment::Form::good) setting->read(*node, reported_before, out.policy);
            origins[setting->path] = origin_of(*layer, *node);
            out.nodes[setting->path] = node;
        }
    }

    out.values.push_back({"preset", preset_name, origins["preset"]});
    for (const auto& setting : policy_settings()) {
        if (setting.show == nullptr) continue;
        const auto value = setting.show(out.policy);
        if (value.empty()) continue;
        const auto written = origins.find(setting.path);
        const bool from_preset = setting.show(base) != setting.show(defaults);
        const std::string origin = written != origins.end() ? written->second
                                   : from_preset            ? "preset " + preset_name
                                                            : "default";
        out.values.push_back({setting.path, value, origin});
    }
    return out;
}

}  // namespace oncegate::config
