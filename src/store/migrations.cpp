#include "store/migrations.hpp"

namespace oncegate::store {

std::string schema_complaint(int found, int known) {
    if (found == known) return {};
    if (found == 0) return "the store has no schema yet: run `oncegate migrate`";
    const std::string versions =
        "the store's schema is at version " + std::to_string(found) + ", this program needs " + std::to_string(known);
    if (found < known) return versions + ": run `oncegate migrate`";
    return versions + ": it was migrated by a newer oncegate, use that one";
}

}  // namespace oncegate::store
