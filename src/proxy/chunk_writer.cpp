#include "proxy/chunk_writer.hpp"

#include <algorithm>

namespace oncegate::proxy {

namespace asio = boost::asio;

asio::awaitable<void> ChunkWriter::add(std::string_view piece) {
    bytes_ += piece.size();
    if (state_ == State::writing && bytes_ > limit_) give_up(State::too_large);
    while (state_ == State::writing && !piece.empty()) {
        const auto taken = piece.substr(0, chunk_bytes - gathered_.size());
        gathered_.append(taken);
        piece.remove_prefix(taken.size());
        if (gathered_.size() == chunk_bytes) co_await store_gathered();
    }
}

asio::awaitable<void> ChunkWriter::finish() {
    if (state_ == State::writing && !gathered_.empty()) co_await store_gathered();
}

asio::awaitable<void> ChunkWriter::store_gathered() {
    store::PutChunk chunk;
    chunk.hold = hold_;
    chunk.index = chunks_;
    chunk.bytes = std::exchange(gathered_, std::string());
    const auto stored = co_await store_.put_chunk(std::move(chunk));
    if (stored.has_error() || *stored == store::Change::stale) {
        give_up(State::failed);
        co_return;
    }
    ++chunks_;
    if (state_ == State::writing) gathered_.reserve(chunk_bytes);
}

}  // namespace oncegate::proxy
