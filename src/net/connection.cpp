#include "net/connection.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <cstring>
#include <vector>

namespace oncegate::net {

namespace {
constexpr std::size_t smallest_buffer = 8U << 10;  // most heads fit
constexpr std::size_t largest_piece = 64U << 10;   // what one read takes at most, unless more is held already
constexpr std::size_t spares_max = 64;

using Buffer = std::unique_ptr<char[], BufferKeeper>;

/// Buffers of the common size that no connection uses at present.
std::vector<std::unique_ptr<char[]>>& spares() {
    thread_local std::vector<std::unique_ptr<char[]>> kept;
    return kept;
}

Buffer buffer_of(std::size_t capacity) {
    auto& kept = spares();
    if (capacity != smallest_buffer || kept.empty()) {
        return Buffer(std::make_unique_for_overwrite<char[]>(capacity).release(), BufferKeeper{capacity});
    }
    Buffer buffer(kept.back().release(), BufferKeeper{capacity});
    kept.pop_back();
    return buffer;
}

}  // namespace

void BufferKeeper::operator()(char* bytes) const {
    std::unique_ptr<char[]> buffer(bytes);
    if (capacity == smallest_buffer && spares().size() < spares_max) spares().push_back(std::move(buffer));
}

void Connection::consume(std::size_t bytes) { start_ += std::min(bytes, end_ - start_); }

void Connection::trim() {
    if (start_ != end_ || !buffer_) return;
    buffer_.reset();
    capacity_ = start_ = end_ = 0;
    filled_up_ = false;
}

void Connection::make_room(std::size_t limit) {
    const std::size_t held = end_ - start_;
    std::size_t wanted = std::max(capacity_, smallest_buffer);
    if (held == wanted || (filled_up_ && wanted < largest_piece)) wanted *= 2;
    wanted = std::max(std::min(wanted, limit), capacity_);
    if (wanted > capacity_) {
        auto larger = buffer_of(wanted);
        if (held != 0) std::memcpy(larger.get(), buffer_.get() + start_, held);
        buffer_ = std::move(larger);
        capacity_ = wanted;
    } else if (start_ != 0 && held != 0) {
        std::memmove(buffer_.get(), buffer_.get() + start_, held);
    }
    start_ = 0;
    end_ = held;
}

asio::awaitable<error_code> Connection::idle() {
    trim();
    return stream_->wait_readable();
}

asio::mutable_buffer Connection::room_within(std::size_t limit) {
    const std::size_t held = end_ - start_;
    if (held >= limit) return {};
    make_room(limit);
    return {buffer_.get() + end_, std::min(capacity_ - end_, limit - held)};
}

void Connection::note(const IoResult& read, std::size_t room_bytes) {
    end_ += read.bytes;
    filled_up_ = read.bytes == room_bytes;
}

IoResult Connection::try_fill(std::size_t limit) {
    IoResult result;
    const auto room = room_within(limit);
    if (room.size() == 0) {
        result.error = asio::error::no_buffer_space;
        return result;
    }
    result = stream_->try_read(room);
    note(result, room.size());
    return result;
}

asio::awaitable<IoResult> Connection::fill(std::size_t limit) {
    IoResult result;
    const auto room = room_within(limit);
    if (room.size() == 0) {
        result.error = asio::error::no_buffer_space;
        co_return result;
    }
    result = co_await stream_->read_some(room);
    note(result, room.size());
    co_return result;
}

}  // namespace oncegate::net
