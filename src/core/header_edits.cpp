#include "core/header_edits.hpp"

namespace oncegate::core {

void apply(const HeaderEdits& edits, Fields& fields) {
    for (const auto& name : edits.remove) fields.remove(name);
    for (const auto& [name, value] : edits.set) fields.set(name, value);
}

}  // namespace oncegate::core
