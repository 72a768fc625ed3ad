#pragma once
// The steps of each database's schema, embedded from schema/*.sql by schema/embed.cmake. Forward only: a step that was
// released is never edited, a change is a new step.

#include <span>
#include <string>
#include <string_view>

namespace oncegate::store {

struct Migration {
    int version;  ///< from 1, without gaps
    std::string_view name;
    std::string_view sql;
};

std::span<const Migration> postgres_migrations();
std::span<const Migration> sqlite_migrations();

/// What check() says of a schema at `found` (0: none) when the program knows `known` steps; empty when they agree.
std::string schema_complaint(int found, int known);

}  // namespace oncegate::store
