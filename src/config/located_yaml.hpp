#pragma once
// YAML as a tree in which every node knows its place and its path. Typing is left to the readers: a scalar is its text
// and whether it was quoted, so that `010`, `yes` and `~` are never guessed at. Duplicate keys are errors. The only
// file that knows yaml-cpp.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/environment.hpp"
#include "config/problems.hpp"

namespace oncegate::config {

struct Node {
    enum class Kind : std::uint8_t { blank, scalar, list, mapping };
    enum class Style : std::uint8_t { plain, quoted };
    struct Entry;

    Kind kind = Kind::blank;  ///< blank: nothing after the colon, `~` or `null`
    Style style = Style::plain;
    Place place;
    std::string path;            ///< "routes[0].match.path"; empty for the whole document
    std::string text;            ///< of a scalar, environment substituted
    std::vector<Node> items;     ///< of a list
    std::vector<Entry> entries;  ///< of a mapping, in the file's order, no key twice

    const Node* find(std::string_view key) const;
};

struct Node::Entry {
    std::string key;
    Place place;  ///< of the key
    Node value;
};

/// The document's root, or nothing when the text is not YAML. Anchors, aliases and the `<<` merge key are resolved;
/// tags, several documents and keys that are not text are reported. A blank document is a blank node.
/// A scalar in which a variable was replaced counts as plain, and as blank when nothing is left of a plain one.
std::optional<Node> parse_yaml(std::string_view yaml, const Environment& environment, Problems& problems);

}  // namespace oncegate::config
