// One read and one write may be under way at once: both run on one thread, each call into OpenSSL is whole, and the
// transport lets several coroutines wait. A read may have to wait for room (an alert), a write never for input:
// renegotiation is off, and OpenSSL answers a KeyUpdate with the next write (RFC 8446 §4.6.3).

#include "net/tls_stream.hpp"

#include <openssl/err.h>

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "net/tls_fault.hpp"
#include "net/tls_identity.hpp"

namespace oncegate::net {

namespace {

/// Reads in a row that may be answered without giving other coroutines a turn.
constexpr int turns_in_a_row = 16;

}  // namespace

TlsStream::TlsStream(Openssl<SSL> ssl, std::unique_ptr<Stream> transport, std::shared_ptr<const void> owner)
    : owner_(std::move(owner)), ssl_(std::move(ssl)) {
    transport_.stream = std::move(transport);
    BIO* bio = transport_.make_bio().release();
    SSL_set_bio(ssl_.get(), bio, bio);
}

TlsStream::~TlsStream() {
    // OpenSSL takes a session whose connection was not shut down for a bad one; here only a fault makes it bad.
    if (!broken_) SSL_set_shutdown(ssl_.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
}

template <class Call>
TlsStream::Step TlsStream::attempt(Call call) {
    ERR_clear_error();  // SSL_get_error() looks at the queue, and other connections use this thread too
    transport_.error = {};
    Step step;
    const int result = call(ssl_.get());
    if (result > 0) return step;
    switch (SSL_get_error(ssl_.get(), result)) {
        case SSL_ERROR_WANT_READ: step.need = Need::readable; break;
        case SSL_ERROR_WANT_WRITE: step.need = Need::writable; break;
        case SSL_ERROR_ZERO_RETURN: step.error = asio::error::eof; break;
        case SSL_ERROR_SYSCALL:
            step.error = transport_.error;
            if (!step.error || step.error == asio::error::eof) step.error = tls_truncated();
            break;
        default:
            broken_ = true;
            step.error = last_tls_fault(ssl_.get());
            break;
    }
    return step;
}

asio::awaitable<error_code> TlsStream::wait(Need need) {
    error_code error;
    if (need == Need::readable) {
        error = co_await transport_.stream->wait_readable();
    } else {
        error = co_await transport_.stream->wait_writable();
    }
    if (error == asio::error::timed_out) expired_ = true;
    co_return error;
}

asio::awaitable<error_code> TlsStream::handshake(milliseconds limit) {
    deadline(limit);
    for (;;) {
        const Step step = attempt(SSL_do_handshake);
        error_code error = step.error;
        if (!error && step.need == Need::nothing) {
            no_deadline();
            co_return error;
        }
        if (!error) error = co_await wait(step.need);
        if (error) {
            broken_ = true;
            drop_unread();
            transport_.stream->close();
            co_return error;
        }
    }
}

/// Closing on unread bytes would reset the connection, and the peer might never read the alert.
void TlsStream::drop_unread() {
    std::array<char, 4096> dropped;
    for (int reads = 0; reads < 16; ++reads) {
        if (transport_.stream->try_read(asio::buffer(dropped)).error) return;
    }
}

TlsStream::Step TlsStream::receive(asio::mutable_buffer into, std::size_t& bytes) {
    Step step;
    while (bytes < into.size()) {
        const auto room = into + bytes;
        std::size_t got = 0;
        step = attempt([&](SSL* ssl) { return SSL_read_ex(ssl, room.data(), room.size(), &got); });
        bytes += got;
        if (got == 0 || SSL_has_pending(ssl_.get()) == 0) break;
    }
    more_expected_ = bytes == 0 || step.error || SSL_has_pending(ssl_.get()) != 0 || !transport_.drained;
    if (bytes != 0) step = Step();  // what stands behind the bytes, be it the end, is found again by the next read
    return step;
}

asio::awaitable<IoResult> TlsStream::read_some(asio::mutable_buffer into) {
    IoResult result;
    if (expired_) {
        result.error = asio::error::timed_out;
        co_return result;
    }
    reading_ = true;
    if (ending_pending_) co_await finish_ending();
    if (!more_expected_) {
        turns_ = 0;
        result.error = co_await wait(Need::readable);
    } else if (++turns_ > turns_in_a_row) {
        co_await give_a_turn();
    }
    while (!result.error) {
        const Step step = receive(into, result.bytes);
        result.error = step.error;
        if (step.need == Need::nothing) break;
        turns_ = 0;
        result.error = co_await wait(step.need);
    }
    reading_ = false;
    co_return result;
}

asio::awaitable<void> TlsStream::give_a_turn() {
    turns_ = 0;
    co_await asio::post(executor(), asio::use_awaitable);
}

TlsStream::Step TlsStream::send(TlsRecords& records) {
    std::array<char, tls_record_bytes> scratch;
    const asio::const_buffer content = records.next(scratch);
    const auto taken_before = transport_.taken;
    std::size_t sent = 0;
    const Step step = attempt([&](SSL* ssl) { return SSL_write_ex(ssl, content.data(), content.size(), &sent); });
    record_pending_ = step.need != Need::nothing;
    if (sent != 0) {
        written_ += sent;
        in_doubt_ = 0;
        records.advance(sent);
    } else if (transport_.taken != taken_before) {
        in_doubt_ = content.size();
    }
    return step;
}

asio::awaitable<IoResult> TlsStream::write(std::span<const asio::const_buffer> pieces) {
    IoResult result;
    TlsRecords records(pieces);
    const auto written_before = bytes_written();
    // A record of an earlier write that failed would go out as if it were this one's.
    if (record_pending_ && !records.empty()) result.error = asio::error::broken_pipe;
    if (expired_) result.error = asio::error::timed_out;
    while (!records.empty() && !result.error) {
        const Step step = send(records);
        result.error = step.error;
        if (step.need != Need::nothing) {
            result.error = co_await wait(step.need);
        } else if (!step.error && limit_) {
            deadline(*limit_);  // it is for a peer that takes nothing, not for one that takes long
        }
    }
    result.bytes = bytes_written() - written_before;
    co_return result;
}

IoResult TlsStream::try_read(asio::mutable_buffer into) {
    IoResult result;
    const Step step = receive(into, result.bytes);
    result.error = step.error;
    if (step.need != Need::nothing) result.error = asio::error::would_block;
    return result;
}

IoResult TlsStream::try_write(asio::const_buffer from) {
    IoResult result;
    const std::array<asio::const_buffer, 1> pieces{from};
    TlsRecords records(pieces);
    if (records.empty()) return result;
    const auto before = written_;
    const Step step = send(records);
    result.bytes = written_ - before;
    result.error = step.error;
    if (step.need != Need::nothing) result.error = asio::error::would_block;
    return result;
}

asio::awaitable<error_code> TlsStream::wait_readable() {
    error_code error;
    if (expired_) error = asio::error::timed_out;
    reading_ = true;
    if (!error && !more_expected_) error = co_await wait(Need::readable);
    while (!error) {
        char byte = 0;
        std::size_t bytes = 0;
        const Step step = attempt([&](SSL* ssl) { return SSL_peek_ex(ssl, &byte, 1, &bytes); });
        if (step.need == Need::nothing) break;
        error = co_await wait(step.need);
    }
    more_expected_ = true;
    reading_ = false;
    co_return error;
}

void TlsStream::deadline(milliseconds limit) {
    limit_ = limit;
    expired_ = false;
    transport_.stream->deadline(limit);
}

void TlsStream::no_deadline() {
    limit_.reset();
    expired_ = false;
    transport_.stream->no_deadline();
}

/// Sends close_notify; `writable` when there is no room for it.
TlsStream::Need TlsStream::end_sending() {
    if (broken_ || record_pending_ || SSL_is_init_finished(ssl_.get()) == 0) return Need::nothing;
    ERR_clear_error();
    const int result = SSL_shutdown(ssl_.get());
    const bool no_room = result < 0 && SSL_get_error(ssl_.get(), result) == SSL_ERROR_WANT_WRITE;
    return no_room ? Need::writable : Need::nothing;
}

void TlsStream::close_sending() {
    ending_pending_ = end_sending() == Need::writable;
    if (!ending_pending_) transport_.stream->close_sending();
}

/// Goes on where close_sending() could not; an error shows in what is read.
asio::awaitable<void> TlsStream::finish_ending() {
    error_code error;
    Need need = end_sending();
    while (need == Need::writable && !error) {
        error = co_await wait(Need::writable);
        if (!error) need = end_sending();
    }
    ending_pending_ = false;
    transport_.stream->close_sending();
}

void TlsStream::close() {
    end_sending();
    transport_.stream->close();
}

void TlsStream::reset() { transport_.stream->reset(); }

bool TlsStream::is_quiet() {
    // A read that waits must find what comes in the transport, so it is only looked at. A client's tickets lie there
    // too: what is no word to us is taken out.
    if (broken_ || SSL_get_shutdown(ssl_.get()) != 0) return false;
    if (SSL_has_pending(ssl_.get()) == 0 && transport_.stream->is_quiet()) return true;
    if (reading_) return false;
    char byte = 0;
    std::size_t bytes = 0;
    more_expected_ = true;
    const Step step = attempt([&](SSL* ssl) { return SSL_peek_ex(ssl, &byte, 1, &bytes); });
    return step.need == Need::readable && SSL_has_pending(ssl_.get()) == 0;
}

X509* TlsStream::verified_certificate() const {
    const bool verified =
        SSL_get_verify_mode(ssl_.get()) != SSL_VERIFY_NONE && SSL_get_verify_result(ssl_.get()) == X509_V_OK;
    return verified ? SSL_get0_peer_certificate(ssl_.get()) : nullptr;
}

const PeerCertificate* TlsStream::peer_certificate() const {
    if (!identified_) {
        X509* certificate = verified_certificate();
        if (certificate != nullptr) identity_ = std::make_unique<PeerCertificate>(describe_certificate(certificate));
        identified_ = true;
    }
    return identity_.get();
}

}  // namespace oncegate::net
