#include "proxy/worker.hpp"

namespace oncegate::proxy {

namespace {

std::string what_escaped(const std::exception_ptr& escaped) {
    try {
        std::rethrow_exception(escaped);
    } catch (const std::exception& fault) {
        return fault.what();
    } catch (...) {
        return "something that is no exception";
    }
}

}  // namespace

Worker::Worker(boost::asio::any_io_executor its_executor, Shared& all, std::shared_ptr<const Generation> first,
               std::unique_ptr<store::Store> its_store, Place its_place)
    : executor(std::move(its_executor)),
      shared(all),
      place(its_place),
      store(std::move(its_store)),
      generation(std::make_shared<LocalGeneration>(std::move(first), executor, place,
                                                   shared.metrics.upstream_connections(), nullptr)),
      tasks(executor,
            [this](std::exception_ptr escaped) {
                // At the end of a drain tasks are cancelled on purpose; their requests are in the access log.
                const auto what = "a task ended early: " + what_escaped(escaped);
                shared.draining ? shared.log.debug(what) : shared.log.error(what);
            }),
      leases(executor, *store, tasks),
      settler(*store, tasks, shared.log, shared.draining) {}

void Worker::adopt(std::shared_ptr<const Generation> next) {
    auto local = std::make_shared<LocalGeneration>(std::move(next), executor, place,
                                                   shared.metrics.upstream_connections(), generation.get());
    generation->retire(local.get());
    generation = std::move(local);
}

}  // namespace oncegate::proxy
