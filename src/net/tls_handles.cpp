#include "net/tls_handles.hpp"

#include <new>

namespace oncegate::net {

Openssl<SSL_CTX> make_tls_context(const SSL_METHOD* method) {
    Openssl<SSL_CTX> context(SSL_CTX_new(method));
    if (!context || SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1) throw std::bad_alloc();
    SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_mode(context.get(),
                     SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(context.get(), 1);  // one system call takes a record with its header, and the next ones
    return context;
}

}  // namespace oncegate::net
