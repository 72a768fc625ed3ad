#pragma once
// A byte stream to a peer: TCP, a unix socket, or TLS over one of them. One deadline per stream covers whatever
// operation is under way; it costs no timer per read. Errors are values.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace oncegate::net {

namespace asio = boost::asio;
using boost::system::error_code;
using std::chrono::milliseconds;

struct IoResult {
    error_code error;  ///< asio::error::eof at the end of input, asio::error::timed_out when the deadline passed
    std::size_t bytes = 0;
};

/// A certificate that was verified in a TLS handshake.
struct PeerCertificate {
    std::string subject;             ///< RFC 2253: "CN=alice,O=Example"
    std::vector<std::string> names;  ///< subject alternative names: "dns:api.example", "uri:spiffe://…", "email:…"
    std::string fingerprint;         ///< SHA-256 of the DER form, lower-case hex
};

/// Not thread-safe: every call on the executor's thread. At most one read and one write under way at a time.
class Stream {
 public:
    virtual ~Stream() = default;

    virtual asio::awaitable<IoResult> read_some(asio::mutable_buffer into) = 0;

    /// Writes all of `pieces` (one gather write where the system takes it) or fails; `bytes` is what the system took.
    virtual asio::awaitable<IoResult> write(std::span<const asio::const_buffer> pieces) = 0;

    /// The operations under way and to come end with timed_out after `limit`. Replaces an earlier deadline. A write
    /// that makes progress moves it.
    virtual void deadline(milliseconds limit) = 0;
    virtual void no_deadline() = 0;

    /// Whether the deadline has passed: for who finds something to read each time, and so never waits.
    virtual bool overdue() const { return false; }

    /// Ends what is under way with operation_aborted, from the same thread.
    virtual void cancel() = 0;

    /// Half-close: the peer learns that no more comes, reading goes on (staged close, RFC 9112 §9.6).
    virtual void close_sending() = 0;

    /// Half-close, then close; no more calls but the destructor afterwards. Never blocks.
    virtual void close() = 0;

    /// Closes with a reset instead of an orderly end, so that the peer cannot take a cut-off message for a whole one
    /// (R147).
    virtual void reset() = 0;

    /// True when the peer has neither closed nor sent anything: a pooled connection may be used again (R130). Does not
    /// block.
    virtual bool is_quiet() = 0;

    /// Bytes handed to the system since the stream was opened.
    virtual std::uint64_t bytes_written() const = 0;

    /// Address of the peer without port; IPv6 without brackets. Empty for a unix socket.
    virtual const std::string& peer_address() const = 0;

    /// A balancer in front told who the client really is (PROXY protocol): peer_address() says so from now on.
    virtual void announce_peer(std::string address) = 0;

    /// Reads or writes what can be had at once; would_block when that is nothing. For what is layered on a stream.
    virtual IoResult try_read(asio::mutable_buffer into) = 0;
    virtual IoResult try_write(asio::const_buffer from) = 0;

    /// Waits under the deadline until try_read() or try_write() may be able to do something. Several waits may be under
    /// way at once.
    virtual asio::awaitable<error_code> wait_readable() = 0;
    virtual asio::awaitable<error_code> wait_writable() = 0;

    /// Whether it is TLS.
    virtual bool encrypted() const { return false; }

    /// Who the peer proved to be in the TLS handshake; null: it showed no certificate, or this is not TLS.
    virtual const PeerCertificate* peer_certificate() const { return nullptr; }

    virtual asio::any_io_executor executor() = 0;
};

/// A connected TCP or unix socket.
std::unique_ptr<Stream> make_plain_stream(asio::generic::stream_protocol::socket socket);

}  // namespace oncegate::net
