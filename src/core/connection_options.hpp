#pragma once
// What the Connection lines of one message say (RFC 9110 §7.6.1): the fields they make hop-by-hop, and whether they ask
// for an upgrade.

#include <string_view>
#include <vector>

#include "core/http_message.hpp"

namespace oncegate::core {

/// Refers to the fields it was made of, which must outlive it unchanged. Costs no allocation for the options that are
/// common: close, keep-alive, upgrade, te.
class ConnectionOptions {
 public:
    explicit ConnectionOptions(const Fields& fields);

    /// Whether an option names this field, which is not hop-by-hop of itself. Case does not count.
    bool nominates(std::string_view name) const { return !nominated_.empty() && is_listed(name); }

    bool upgrade() const { return upgrade_; }

 private:
    bool is_listed(std::string_view name) const;

    std::vector<std::string_view>
        nominated_;  ///< sorted without case: many options must not cost many times many fields
    bool upgrade_ = false;
};

}  // namespace oncegate::core
