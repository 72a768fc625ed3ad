#pragma once
// Edits of header fields that a route asks for (contract §2, `headers`).

#include <string>
#include <utility>
#include <vector>

#include "core/http_message.hpp"

namespace oncegate::core {

struct HeaderEdits {
    std::vector<std::pair<std::string, std::string>> set;  ///< replaces every line of that name, or adds one
    std::vector<std::string> remove;

    bool empty() const { return set.empty() && remove.empty(); }
};

/// `remove` first, then `set` in its order.
void apply(const HeaderEdits& edits, Fields& fields);

}  // namespace oncegate::core
