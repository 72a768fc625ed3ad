#pragma once
// A Postgres schema of its own on a server that all tests of this process share.

#include <memory>

#include "support/store/stores.hpp"

namespace oncegate::test {

std::unique_ptr<StoreUnderTest> make_postgres_store();

}  // namespace oncegate::test
