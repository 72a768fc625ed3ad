#pragma once
// A large body on its way into the store: gathered into chunks of one size, up to the policy's limit, so that memory
// stays bounded.

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "store/store.hpp"

namespace oncegate::proxy {

inline constexpr std::size_t chunk_bytes = 256U << 10;

class ChunkWriter {
 public:
    enum class State : std::uint8_t {
        writing,
        too_large,  ///< the limit is passed: nothing more is kept
        failed,     ///< a chunk could not be stored: the body cannot be replayed
    };

    ChunkWriter(store::Store& store, const store::Hold& hold, std::uint64_t limit)
        : store_(store), hold_(hold), limit_(limit) {}

    /// Takes a piece; stores chunks as they fill.
    boost::asio::awaitable<void> add(std::string_view piece);
    /// Stores what is left. No add() after it.
    boost::asio::awaitable<void> finish();

    /// Nothing is kept from now on.
    void give_up(State why) {
        state_ = why;
        gathered_.clear();
    }

    State state() const { return state_; }
    std::uint32_t chunks() const { return chunks_; }
    std::uint64_t bytes() const { return bytes_; }

 private:
    boost::asio::awaitable<void> store_gathered();

    store::Store& store_;
    store::Hold hold_;
    std::uint64_t limit_;
    State state_ = State::writing;
    std::string gathered_;
    std::uint32_t chunks_ = 0;
    std::uint64_t bytes_ = 0;
};

}  // namespace oncegate::proxy
