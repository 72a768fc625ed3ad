#include "store/sqlite/sqlite_backend.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "store/sqlite/writer.hpp"

namespace oncegate::store {
namespace {

namespace asio = boost::asio;

class SqliteBackend final : public Backend {
 public:
    SqliteBackend(std::shared_ptr<Writer> writer, const asio::any_io_executor& executor)
        : writer_(std::move(writer)), bell_(std::make_shared<Doorbell>()), listen_(executor, bell_->duplicate()) {}

    asio::awaitable<std::vector<Result>> apply(Batch batch) override {
        auto job = new_job(WriterJob::Kind::batch);
        job->batch = std::move(batch);
        co_await run(job);
        co_return std::move(job->results);
    }

    asio::awaitable<std::string> probe() override {
        auto job = new_job(WriterJob::Kind::probe);
        co_await run(job);
        co_return std::move(job->complaint);
    }

    asio::awaitable<Outcome<Reaped>> reap(std::size_t limit) override {
        auto job = new_job(WriterJob::Kind::reap);
        job->limit = limit;
        co_await run(job);
        co_return std::move(job->reaped);
    }

 private:
    std::shared_ptr<WriterJob> new_job(WriterJob::Kind kind) const {
        auto job = std::make_shared<WriterJob>();
        job->kind = kind;
        job->finished = bell_;
        return job;
    }

    asio::awaitable<void> run(std::shared_ptr<WriterJob> job) {
        writer_->submit(job);
        while (!job->done.load(std::memory_order_acquire)) {
            co_await listen_.async_wait(asio::posix::stream_descriptor::wait_read, asio::as_tuple(asio::use_awaitable));
            bell_->answer();
        }
    }

    std::shared_ptr<Writer> writer_;
    std::shared_ptr<Doorbell> bell_;
    asio::posix::stream_descriptor listen_;
};

}  // namespace

std::unique_ptr<Backend> make_sqlite_backend(std::shared_ptr<Writer> writer, asio::any_io_executor executor) {
    return std::make_unique<SqliteBackend>(std::move(writer), executor);
}

}  // namespace oncegate::store
