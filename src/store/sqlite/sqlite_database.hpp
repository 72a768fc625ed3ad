#pragma once
// The embedded default store: one SQLite file, its schema and its writer.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "store/backend.hpp"

namespace oncegate::store {

/// `now` is the store's clock in milliseconds since 1970; every process on the host must see the same one. Called on
/// the writer's thread.
std::unique_ptr<Database> open_sqlite_database(std::string path, milliseconds timeout,
                                               std::function<std::int64_t()> now);

/// The host's clock.
std::int64_t host_clock_ms();

}  // namespace oncegate::store
