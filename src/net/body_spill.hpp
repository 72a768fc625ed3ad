#pragma once
// A whole body kept for sending: in memory up to a limit, beyond it in an unlinked temporary file (nothing is left
// after a crash).

#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "net/stream.hpp"

namespace oncegate::net {

/// Bytes of a spilled body, seen as one piece of memory without being read into it: the file's own pages.
class MappedBytes {
 public:
    MappedBytes() = default;
    /// The first `size` bytes of `file`; an error is the system's.
    static boost::system::result<MappedBytes> of(int file, std::size_t size);
    MappedBytes(MappedBytes&& other) noexcept;
    MappedBytes& operator=(MappedBytes&& other) noexcept;
    ~MappedBytes();
    std::string_view bytes() const { return {at_, size_}; }

 private:
    const char* at_ = nullptr;
    std::size_t size_ = 0;
};

class BodySpill {
 public:
    explicit BodySpill(std::size_t memory_bytes) : memory_bytes_(memory_bytes) {}
    ~BodySpill();
    BodySpill(BodySpill&& other) noexcept;
    BodySpill& operator=(BodySpill&&) = delete;

    /// Appends; an error is the file system's (disk full).
    error_code append(std::string_view piece);

    std::uint64_t size() const { return size_; }
    bool in_memory() const { return file_ < 0; }
    /// The whole body when in_memory().
    std::string_view memory() const { return memory_; }

    /// The whole body in one piece, wherever it lies: `mapped` holds on to a file's pages for as long as the view is
    /// used.
    boost::system::result<std::string_view> whole(MappedBytes& mapped) const;

    /// Bytes from `offset` on, at most a piece's worth, into `into`; empty at the end. For spilled and in-memory bodies
    /// alike.
    error_code read(std::uint64_t offset, std::string& into) const;

 private:
    std::size_t memory_bytes_;
    std::string memory_;
    int file_ = -1;
    std::uint64_t size_ = 0;
};

}  // namespace oncegate::net
