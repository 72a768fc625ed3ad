#pragma once
// A stream whose socket is full when the test says so.

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "net/stream.hpp"

namespace oncegate::test {

/// A stream that has no room for writes while the test says so.
class FullStream final : public net::Stream {
 public:
    FullStream(std::unique_ptr<net::Stream> below, const bool& full)
        : below_(std::move(below)), full_(full), pause_(below_->executor()) {}

    net::IoResult try_write(boost::asio::const_buffer from) override {
        if (!full_) return below_->try_write(from);
        net::IoResult nothing;
        nothing.error = boost::asio::error::would_block;
        return nothing;
    }
    boost::asio::awaitable<net::error_code> wait_writable() override {
        while (full_) {
            pause_.expires_after(std::chrono::milliseconds(1));
            co_await pause_.async_wait(boost::asio::use_awaitable);
        }
        co_return net::error_code();
    }
    net::IoResult try_read(boost::asio::mutable_buffer into) override { return below_->try_read(into); }
    boost::asio::awaitable<net::error_code> wait_readable() override { return below_->wait_readable(); }
    boost::asio::awaitable<net::IoResult> read_some(boost::asio::mutable_buffer into) override {
        return below_->read_some(into);
    }
    boost::asio::awaitable<net::IoResult> write(std::span<const boost::asio::const_buffer> pieces) override {
        return below_->write(pieces);
    }
    void deadline(net::milliseconds limit) override { below_->deadline(limit); }
    void no_deadline() override { below_->no_deadline(); }
    void cancel() override { below_->cancel(); }
    void close_sending() override { below_->close_sending(); }
    void close() override { below_->close(); }
    void reset() override { below_->reset(); }
    bool is_quiet() override { return below_->is_quiet(); }
    std::uint64_t bytes_written() const override { return below_->bytes_written(); }
    const std::string& peer_address() const override { return below_->peer_address(); }
    void announce_peer(std::string address) override { below_->announce_peer(std::move(address)); }
    boost::asio::any_io_executor executor() override { return below_->executor(); }

 private:
    std::unique_ptr<net::Stream> below_;
    const bool& full_;
    boost::asio::steady_timer pause_;
};

}  // namespace oncegate::test
