#pragma once
// A mapping whose keys are known: what is asked for is known, what is left over in the end is reported with the nearest
// known name.

#include <string>
#include <string_view>
#include <vector>

#include "config/located_yaml.hpp"
#include "config/problems.hpp"

namespace oncegate::config {

class Section {
 public:
    /// Reports a node that is no mapping; every key is then absent.
    Section(const Node& node, Problems& problems);

    /// The value of `key`; null when it is absent, or present without a value, which is reported.
    const Node* take(std::string_view key);

    /// The same for a key that may be written and left blank.
    const Node* take_or_blank(std::string_view key);

    /// The same for a key whose blank has a meaning: the blank node itself.
    const Node* take_any(std::string_view key);

    /// The same for a key that must be there.
    const Node* need(std::string_view key);

    /// Reads `key`, when present, into `target`. `reader` is one of readers.hpp.
    template <class T, class Reader>
    void read(std::string_view key, T& target, const Reader& reader) {
        if (const Node* node = take(key)) assign(*node, target, reader);
    }
    template <class T, class Reader>
    void read_or_blank(std::string_view key, T& target, const Reader& reader) {
        if (const Node* node = take_or_blank(key)) assign(*node, target, reader);
    }

    /// Reports every key nobody asked for. To be called once, after the last take.
    void finish();

    const Node& node() const { return node_; }

 private:
    template <class T, class Reader>
    void assign(const Node& node, T& target, const Reader& reader) {
        if (auto value = reader(node, problems_)) target = static_cast<T>(std::move(*value));
    }

    const Node& node_;
    Problems& problems_;
    std::vector<std::string> known_;
};

}  // namespace oncegate::config
