#pragma once
// One io_context's way to an SQLite file: hands batches to the writer's thread and takes the results back.

#include <boost/asio/any_io_executor.hpp>
#include <memory>

#include "store/backend.hpp"

namespace oncegate::store {

class Writer;

/// The backend keeps the writer alive.
std::unique_ptr<Backend> make_sqlite_backend(std::shared_ptr<Writer> writer, boost::asio::any_io_executor executor);

}  // namespace oncegate::store
