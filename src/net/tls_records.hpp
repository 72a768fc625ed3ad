#pragma once
// Cuts what is to be written into TLS records: small pieces share one, so that a head and its body are one packet, and
// large ones are encrypted from where they lie.

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <cstring>
#include <span>

namespace oncegate::net {

constexpr std::size_t tls_record_bytes = 16U << 10;  ///< of content, RFC 8446 §5.1

class TlsRecords {
 public:
    explicit TlsRecords(std::span<const boost::asio::const_buffer> pieces) : pieces_(pieces) { skip_finished(); }

    bool empty() const { return index_ == pieces_.size(); }

    /// The content of the next record, the same one until advance(); in `scratch` when it had to be joined.
    boost::asio::const_buffer next(std::array<char, tls_record_bytes>& scratch) const {
        const auto first = pieces_[index_] + offset_;
        if (first.size() >= scratch.size() || index_ + 1 == pieces_.size())
            return boost::asio::buffer(first, scratch.size());
        std::size_t used = 0;
        std::size_t skip = offset_;
        for (std::size_t at = index_; at < pieces_.size() && used < scratch.size(); ++at) {
            const auto rest = pieces_[at] + skip;
            skip = 0;
            const std::size_t size = std::min(rest.size(), scratch.size() - used);
            if (size != 0) std::memcpy(scratch.data() + used, rest.data(), size);
            used += size;
        }
        return {scratch.data(), used};
    }

    void advance(std::size_t bytes) {
        offset_ += bytes;
        skip_finished();
    }

 private:
    void skip_finished() {
        while (index_ < pieces_.size() && offset_ >= pieces_[index_].size()) offset_ -= pieces_[index_++].size();
    }

    std::span<const boost::asio::const_buffer> pieces_;
    std::size_t index_ = 0;
    std::size_t offset_ = 0;
};

}  // namespace oncegate::net
