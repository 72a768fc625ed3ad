#include "net/tls_transport.hpp"

#include <new>

namespace oncegate::net {

namespace {

bool would_block(const error_code& error) {
    return error == asio::error::would_block || error == asio::error::try_again;
}

TlsTransport& transport_of(BIO* bio) { return *static_cast<TlsTransport*>(BIO_get_data(bio)); }

int read_bio(BIO* bio, char* into, int room) {
    BIO_clear_retry_flags(bio);
    auto& transport = transport_of(bio);
    const auto size = static_cast<std::size_t>(room);
    const IoResult read = transport.stream->try_read({into, size});
    transport.drained = read.bytes < size;
    if (!read.error) return static_cast<int>(read.bytes);
    if (would_block(read.error)) {
        BIO_set_retry_read(bio);
        return -1;
    }
    transport.error = read.error;
    return read.error == asio::error::eof ? 0 : -1;
}

int write_bio(BIO* bio, const char* from, int size) {
    BIO_clear_retry_flags(bio);
    auto& transport = transport_of(bio);
    const IoResult written = transport.stream->try_write({from, static_cast<std::size_t>(size)});
    transport.taken += written.bytes;
    if (!written.error) return static_cast<int>(written.bytes);
    if (would_block(written.error)) {
        BIO_set_retry_write(bio);
    } else {
        transport.error = written.error;
    }
    return -1;
}

/// Not BIO_CTRL_EOF: OpenSSL would make a fatal error of an end that only concerns reading.
long control_bio(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

int create_bio(BIO* bio) {
    BIO_set_init(bio, 1);
    return 1;
}

const BIO_METHOD* transport_method() {
    static const Openssl<BIO_METHOD> method = [] {
        Openssl<BIO_METHOD> made(BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "stream"));
        if (!made) throw std::bad_alloc();
        BIO_meth_set_create(made.get(), create_bio);
        BIO_meth_set_read(made.get(), read_bio);
        BIO_meth_set_write(made.get(), write_bio);
        BIO_meth_set_ctrl(made.get(), control_bio);
        return made;
    }();
    return method.get();
}

}  // namespace

Openssl<BIO> TlsTransport::make_bio() {
    Openssl<BIO> bio(BIO_new(transport_method()));
    if (!bio) throw std::bad_alloc();
    BIO_set_data(bio.get(), this);
    return bio;
}

}  // namespace oncegate::net
