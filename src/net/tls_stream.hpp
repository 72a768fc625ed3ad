#pragma once
// TLS over any stream, on OpenSSL directly: it is asked to do what it can, and says which side of the transport to wait
// for. Nothing is copied between it and the socket, and an idle connection holds no buffers.

#include <memory>
#include <optional>
#include <string>

#include "net/stream.hpp"
#include "net/tls_handles.hpp"
#include "net/tls_records.hpp"
#include "net/tls_transport.hpp"

namespace oncegate::net {

/// A read ends with eof only after the peer's close_notify; an end of the transport without it is tls_truncated()
/// (R87). Something that is there is read although the deadline passed, unless it struck a read or a write before. What
/// is written counts as soon as part of its record may have gone out (R62); handshakes do not count. After try_write()
/// said would_block, the same bytes must be offered again. After a write that failed, nothing more can be written.
class TlsStream final : public Stream {
 public:
    /// `ssl` is set up to connect or accept. `owner` keeps alive what it points to.
    TlsStream(Openssl<SSL> ssl, std::unique_ptr<Stream> transport, std::shared_ptr<const void> owner);
    ~TlsStream() override;
    TlsStream(const TlsStream&) = delete;
    TlsStream& operator=(const TlsStream&) = delete;

    /// Comes first. `limit` is for all of it and no deadline is left behind; on an error the stream is closed.
    asio::awaitable<error_code> handshake(milliseconds limit);

    /// Of the peer, when it showed one that was verified; null otherwise. Owned by the session.
    X509* verified_certificate() const;

    asio::awaitable<IoResult> read_some(asio::mutable_buffer into) override;
    asio::awaitable<IoResult> write(std::span<const asio::const_buffer> pieces) override;
    void deadline(milliseconds limit) override;
    void no_deadline() override;
    bool overdue() const override { return expired_ || transport_.stream->overdue(); }
    void cancel() override { transport_.stream->cancel(); }
    void close_sending() override;
    void close() override;
    void reset() override;
    bool is_quiet() override;
    std::uint64_t bytes_written() const override { return written_ + in_doubt_; }
    const std::string& peer_address() const override { return transport_.stream->peer_address(); }
    void announce_peer(std::string address) override { transport_.stream->announce_peer(std::move(address)); }
    IoResult try_read(asio::mutable_buffer into) override;
    IoResult try_write(asio::const_buffer from) override;
    asio::awaitable<error_code> wait_readable() override;
    asio::awaitable<error_code> wait_writable() override { return wait(Need::writable); }
    bool encrypted() const override { return true; }
    const PeerCertificate* peer_certificate() const override;
    asio::any_io_executor executor() override { return transport_.stream->executor(); }

 private:
    enum class Need : std::uint8_t { nothing, readable, writable };
    struct Step {
        Need need = Need::nothing;  ///< of the transport, before the same call may be made again
        error_code error;
    };

    template <class Call>
    Step attempt(Call call);
    Step receive(asio::mutable_buffer into, std::size_t& bytes);
    Step send(TlsRecords& records);
    asio::awaitable<error_code> wait(Need need);
    asio::awaitable<void> give_a_turn();
    Need end_sending();
    asio::awaitable<void> finish_ending();
    void drop_unread();

    TlsTransport transport_;
    std::shared_ptr<const void> owner_;
    Openssl<SSL> ssl_;
    std::optional<milliseconds> limit_;  ///< of the deadline in force
    bool expired_ = false;               ///< it struck while something waited
    std::uint64_t written_ = 0;
    std::size_t in_doubt_ = 0;     ///< content of a record that went out in part
    int turns_ = 0;                ///< reads in a row that did not wait
    bool more_expected_ = true;    ///< a read may find something without waiting
    bool reading_ = false;         ///< a read is under way
    bool record_pending_ = false;  ///< OpenSSL holds a record that the transport has not taken whole
    bool broken_ = false;          ///< nothing more can be sent, not even an alert
    bool ending_pending_ = false;  ///< close_notify waits for room, and the end of the transport for it
    mutable bool identified_ = false;
    mutable std::unique_ptr<PeerCertificate> identity_;
};

}  // namespace oncegate::net
