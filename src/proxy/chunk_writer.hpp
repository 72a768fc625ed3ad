#pragma once
// A large body on its way into the store: gathered into chunks of one size, up to the policy's limit, so that memory
// stays bounded. When the store fails on the way, the rest goes to a temporary file and is stored later: the client
// does not wait for it.

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "net/body_spill.hpp"
#include "store/store.hpp"

namespace oncegate::proxy {

inline constexpr std::size_t chunk_bytes = 256U << 10;

/// What of a body the store does not have yet.
struct LateBody {
    net::BodySpill bytes{0};
    std::uint64_t stored = 0;      ///< of `bytes`
    std::uint32_t next_chunk = 0;  ///< number of the chunk that begins there
};

/// Stores what is late, as far as the store allows; goes on from there when called again.
boost::asio::awaitable<store::Outcome<store::Change>> store_late(store::Store& store, store::Hold hold, LateBody& late);

class ChunkWriter {
 public:
    enum class State : std::uint8_t {
        writing,
        late,      ///< the store failed: the rest is kept for later
        dropping,  ///< nothing is kept: the limit is passed, the record is not ours any more, or nobody wants it
    };

    ChunkWriter(store::Store& store, const store::Hold& hold, std::uint64_t limit)
        : store_(store), hold_(hold), limit_(limit) {}

    /// Takes a piece; stores chunks as they fill.
    boost::asio::awaitable<void> add(std::string_view piece);
    /// Stores what is left. No add() after it.
    boost::asio::awaitable<void> finish();

    /// Nothing is kept from now on.
    void drop();

    State state() const { return state_; }
    /// Of the whole body, late ones included.
    std::uint32_t chunks() const;
    std::uint64_t bytes() const { return bytes_; }
    /// With State::late, after finish().
    std::unique_ptr<LateBody> take_late() { return std::move(late_); }

 private:
    boost::asio::awaitable<void> store_gathered();
    void keep_late(std::string_view piece);

    store::Store& store_;
    store::Hold hold_;
    std::uint64_t limit_;
    State state_ = State::writing;
    std::string gathered_;
    std::uint32_t chunks_ = 0;
    std::uint64_t bytes_ = 0;
    std::unique_ptr<LateBody> late_;
};

}  // namespace oncegate::proxy
