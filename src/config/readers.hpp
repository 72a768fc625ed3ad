#pragma once
// How one node becomes one value. A reader is a function of (node, problems): the value, or nothing after reporting why
// not.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/located_yaml.hpp"
#include "config/problems.hpp"

namespace oncegate::config {

using std::chrono::milliseconds;

/// The scalar's text; numbers and `yes` are text too. Empty only when it was written as "".
std::optional<std::string> text(const Node& node, Problems& problems);

/// Text of at least one character and without control characters.
std::optional<std::string> name(const Node& node, Problems& problems);

/// Why a file cannot be opened for reading, in the system's words; empty: it can.
std::string why_unreadable(const std::string& path);

/// `true` or `false`, unquoted.
std::optional<bool> flag(const Node& node, Problems& problems);

/// A number from 0 to 1, such as `0.25`.
std::optional<double> share(const Node& node, Problems& problems);

/// A list's items, blank ones reported and left out. Reports a node that is no list.
std::vector<const Node*> items_of(const Node& node, Problems& problems);

/// A field name: a token of RFC 9110 §5.6.2.
std::optional<std::string> field_name(const Node& node, Problems& problems);
std::optional<std::vector<std::string>> field_names(const Node& node, Problems& problems);

/// http:// or https:// with a host, nothing a URL may not hold.
std::optional<std::string> http_url(const Node& node, Problems& problems);

/// "/" and what follows; "" for the whole document (RFC 6901).
std::optional<std::string> json_pointer(const Node& node, Problems& problems);

struct Integer {
    std::uint64_t least;
    std::uint64_t most;
    std::optional<std::uint64_t> operator()(const Node& node, Problems& problems) const;
};

struct Duration {
    milliseconds least;
    milliseconds most;
    std::optional<milliseconds> operator()(const Node& node, Problems& problems) const;
};

struct Size {
    std::uint64_t least;
    std::uint64_t most;
    std::optional<std::uint64_t> operator()(const Node& node, Problems& problems) const;
};

/// One of a few words.
template <class Value>
struct Choice {
    std::vector<std::pair<std::string, Value>> values;

    std::optional<Value> operator()(const Node& node, Problems& problems) const {
        const auto written = text(node, problems);
        if (!written) return std::nullopt;
        std::vector<std::string> words;
        for (const auto& [word, value] : values) {
            if (word == *written) return value;
            words.push_back(word);
        }
        problems.add(node, "'" + *written + "' is not known" + name_hint(*written, words));
        return std::nullopt;
    }
};

template <class Value>
Choice(std::vector<std::pair<std::string, Value>>) -> Choice<Value>;

}  // namespace oncegate::config
