#include "config/section.hpp"

#include <algorithm>
#include <array>

#include "config/foreign_names.hpp"

namespace oncegate::config {

namespace {

/// Where keys belong that are often found a step too far left or right.
struct Home {
    std::string_view key;
    std::string_view section;
};
constexpr std::array homes{
    Home{"listeners", "server"},
    Home{"trusted_proxies", "server"},
    Home{"limits", "server"},
    Home{"servers", "upstreams.NAME"},
    Home{"health", "upstreams.NAME"},
    Home{"balance", "upstreams.NAME"},
    Home{"pool", "upstreams.NAME"},
    Home{"ejection", "upstreams.NAME"},
    Home{"methods", "match"},
    Home{"path", "match"},
    Home{"upstream", "routes[]"},
    Home{"idempotency", "routes[]"},
    Home{"scope", "idempotency"},
    Home{"ttl", "idempotency"},
    Home{"lease", "idempotency"},
    Home{"in_flight", "idempotency"},
    Home{"fingerprint", "idempotency"},
    Home{"record", "idempotency"},
    Home{"replay", "idempotency"},
    Home{"key", "idempotency"},
    Home{"unknown_outcome", "idempotency"},
};

/// "; it belongs under match: is the line indented right?" for a key that stands elsewhere.
std::string home_hint(std::string_view key, std::string_view path) {
    // Deeper down the same word is rather meant as something else: `key` of a certificate.
    const bool near_the_top =
        path.find('.') == std::string_view::npos || path.ends_with(".match") || path.ends_with(".idempotency");
    if (!near_the_top) return {};
    for (const auto& home : homes) {
        if (home.key == key && !path.ends_with(home.section)) {
            return "; it belongs under " + std::string(home.section) + ": is the line indented right?";
        }
    }
    return {};
}

}  // namespace

Section::Section(const Node& node, Problems& problems) : node_(node), problems_(problems) {
    if (node.kind == Node::Kind::mapping) return;
    std::string message = node.kind == Node::Kind::blank ? "has no value; a mapping of keys is expected"
                                                         : "a mapping of keys is expected here";
    problems.add(node, message.append(shape_of_section(section_kind(node.path))));
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
    const auto kind = section_kind(node_.path);
    for (const auto& entry : node_.entries) {
        if (std::find(known_.begin(), known_.end(), entry.key) != known_.end()) continue;
        const std::string_view foreign = foreign_name(entry.key, kind);
        if (foreign.starts_with(" is")) {
            problems_.add(entry.place, std::string(entry.value.path).append(foreign));
            continue;
        }
        const std::string where = node_.path.empty() ? "" : " in " + node_.path;
        auto hint = name_hint(entry.key, known_);
        const auto home = home_hint(entry.key, node_.path);
        if (!foreign.empty()) {
            hint = foreign;
        } else if (!home.empty() && !hint.starts_with("; did you mean")) {
            hint = home;
        }
        problems_.add(entry.place, "unknown key '" + entry.key + "'" + where + hint);
    }
}

}  // namespace oncegate::config
