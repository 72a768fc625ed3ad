#pragma once
// A stream with the bytes that were read ahead of need. Heads and bodies are read from it in turn, so pipelined
// requests (R129) and bodies that arrived with their head lose nothing.

#include <cstddef>
#include <memory>
#include <string_view>

#include "net/open_count.hpp"
#include "net/stream.hpp"

namespace oncegate::net {

/// How read buffers go: those of the common size are kept for the next connection of the thread.
struct BufferKeeper {
    std::size_t capacity = 0;
    void operator()(char* bytes) const;
};

class Connection {
 public:
    /// `count` is held for as long as the connection is.
    explicit Connection(std::unique_ptr<Stream> stream, OpenCount count = {})
        : stream_(std::move(stream)), count_(std::move(count)) {}

    Stream& stream() { return *stream_; }

    /// For a stream that is being layered on (TLS): taken out and put back with nothing buffered in between.
    std::unique_ptr<Stream> release_stream() { return std::move(stream_); }
    void adopt_stream(std::unique_ptr<Stream> stream) { stream_ = std::move(stream); }

    /// Bytes received and not yet consumed. Valid until the next fill() or trim(); consuming does not move them.
    std::string_view buffered() const { return {buffer_.get() + start_, end_ - start_}; }
    void consume(std::size_t bytes);

    /// Reads once and appends; at most `limit` bytes are held in all (no_buffer_space beyond).
    asio::awaitable<IoResult> fill(std::size_t limit);

    /// The same with what can be had at once; would_block when that is nothing.
    IoResult try_fill(std::size_t limit);

    /// Gives the buffer back when it holds nothing, so that an idle connection stays small.
    void trim();

    /// Waits without a buffer until there is something to read, or the end or a fault to be told of.
    asio::awaitable<error_code> idle();

 private:
    void make_room(std::size_t limit);
    /// Where the next read goes; empty when the limit is reached.
    asio::mutable_buffer room_within(std::size_t limit);
    void note(const IoResult& read, std::size_t room_bytes);

    std::unique_ptr<Stream> stream_;
    OpenCount count_;
    std::unique_ptr<char[], BufferKeeper> buffer_;
    std::size_t capacity_ = 0;
    std::size_t start_ = 0;
    std::size_t end_ = 0;
    bool filled_up_ = false;  ///< the last read took all the room there was: a larger buffer saves reads
};

}  // namespace oncegate::net
