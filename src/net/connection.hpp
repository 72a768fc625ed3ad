#pragma once
// A stream with the bytes that were read ahead of need. Heads and bodies are read from it in turn, so pipelined
// requests (R129) and bodies that arrived with their head lose nothing.

#include <cstddef>
#include <memory>
#include <string_view>

#include "net/open_count.hpp"
#include "net/stream.hpp"

namespace oncegate::net {

class Connection {
 public:
    /// `count` is held for as long as the connection is.
    explicit Connection(std::unique_ptr<Stream> stream, OpenCount count = {})
        : stream_(std::move(stream)), count_(std::move(count)) {}

    Stream& stream() { return *stream_; }

    /// Bytes received and not yet consumed. Valid until the next fill() or trim(); consuming does not move them.
    std::string_view buffered() const { return {buffer_.get() + start_, end_ - start_}; }
    void consume(std::size_t bytes);

    /// Reads once and appends; at most `limit` bytes are held in all (no_buffer_space beyond).
    asio::awaitable<IoResult> fill(std::size_t limit);

    /// Gives a large buffer back when it holds nothing, so that an idle connection stays small.
    void trim();

 private:
    void make_room(std::size_t limit);

    std::unique_ptr<Stream> stream_;
    OpenCount count_;
    std::unique_ptr<char[]> buffer_;
    std::size_t capacity_ = 0;
    std::size_t start_ = 0;
    std::size_t end_ = 0;
    bool filled_up_ = false;  ///< the last read took all the room there was: a larger buffer saves reads
};

}  // namespace oncegate::net
