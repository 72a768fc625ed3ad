#include "config/section.hpp"

#include <algorithm>

namespace oncegate::config {

Section::Section(const Node& node, Problems& problems) : node_(node), problems_(problems) {
    if (node.kind == Node::Kind::mapping) return;
    problems.add(node, node.kind == Node::Kind::blank ? "has no value; a mapping of keys is expected"
                                                      : "a mapping of keys is expected here");
}

const Node* Section::take_any(std::string_view key) {
    if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
    return node_.find(key);
}

const Node* Section::take_or_blank(std::string_view key) {
    const Node* value = take_any(key);
    return value == nullptr || value->kind == Node::Kind::blank ? nullptr : value;
}

const Node* Section::take(std::string_view key) {
    const Node* value = take_or_blank(key);
    if (value != nullptr) return value;
    if (const Node* blank = node_.find(key)) problems_.add(*blank, "has no value; write one or leave the key out");
    return nullptr;
}

const Node* Section::need(std::string_view key) {
    const Node* value = take(key);
    if (node_.kind == Node::Kind::mapping && node_.find(key) == nullptr) {
        problems_.add(node_, "the key '" + std::string(key) + "' is missing");
    }
    return value;
}

void Section::finish() {
    for (const auto& entry : node_.entries) {
        if (std::find(known_.begin(), known_.end(), entry.key) != known_.end()) continue;
        const std::string where = node_.path.empty() ? "" : " in " + node_.path;
        problems_.add(entry.place, "unknown key '" + entry.key + "'" + where + name_hint(entry.key, known_));
    }
}

}  // namespace oncegate::config
