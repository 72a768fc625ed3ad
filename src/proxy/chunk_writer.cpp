#include "proxy/chunk_writer.hpp"

#include <algorithm>
#include <utility>

namespace oncegate::proxy {

namespace asio = boost::asio;

asio::awaitable<store::Outcome<store::Change>> store_late(store::Store& store, store::Hold hold, LateBody& late) {
    while (late.stored < late.bytes.size()) {
        store::PutChunk chunk;
        chunk.hold = hold;
        chunk.index = late.next_chunk;
        // A read gives what one piece holds; a chunk is made of several.
        for (std::string piece; chunk.bytes.size() < chunk_bytes; chunk.bytes.append(piece)) {
            const auto at = late.stored + chunk.bytes.size();
            if (late.bytes.read(at, piece) || piece.empty()) break;
            piece.resize(std::min(piece.size(), chunk_bytes - chunk.bytes.size()));
        }
        if (chunk.bytes.empty()) co_return store::Change::stale;  // the temporary file is lost: it can never be whole
        const auto taken = chunk.bytes.size();
        const auto stored = co_await store.put_chunk(std::move(chunk));
        if (stored.has_error() || *stored == store::Change::stale) co_return stored;
        late.stored += taken;
        ++late.next_chunk;
    }
    co_return store::Change::applied;
}

void ChunkWriter::drop() {
    state_ = State::dropping;
    gathered_.clear();
    late_.reset();
}

void ChunkWriter::keep_late(std::string_view piece) {
    if (late_->bytes.append(piece)) drop();  // the disk is full
}

asio::awaitable<void> ChunkWriter::add(std::string_view piece) {
    bytes_ += piece.size();
    if (bytes_ > limit_) drop();
    while (state_ == State::writing && !piece.empty()) {
        const auto taken = piece.substr(0, chunk_bytes - gathered_.size());
        gathered_.append(taken);
        piece.remove_prefix(taken.size());
        if (gathered_.size() == chunk_bytes) co_await store_gathered();
    }
    if (state_ == State::late && !piece.empty()) keep_late(piece);
}

asio::awaitable<void> ChunkWriter::finish() {
    if (state_ == State::writing && !gathered_.empty()) co_await store_gathered();
}

asio::awaitable<void> ChunkWriter::store_gathered() {
    store::PutChunk chunk;
    chunk.hold = hold_;
    chunk.index = chunks_;
    chunk.bytes = gathered_;
    const auto stored = co_await store_.put_chunk(std::move(chunk));
    if (stored.has_value() && *stored == store::Change::stale) {
        drop();
    } else if (stored.has_error()) {
        state_ = State::late;
        late_ = std::make_unique<LateBody>();
        late_->next_chunk = chunks_;
        keep_late(std::exchange(gathered_, std::string()));
    } else {
        ++chunks_;
        gathered_.clear();
    }
}

std::uint32_t ChunkWriter::chunks() const {
    if (state_ != State::late) return chunks_;
    return late_->next_chunk + static_cast<std::uint32_t>((late_->bytes.size() + chunk_bytes - 1) / chunk_bytes);
}

}  // namespace oncegate::proxy
