#pragma once
// Owners of OpenSSL's objects, and the contexts that both sides of TLS start from.

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>

namespace oncegate::net {

struct OpensslFree {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
    void operator()(SSL_SESSION* session) const { SSL_SESSION_free(session); }
    void operator()(X509* certificate) const { X509_free(certificate); }
    void operator()(STACK_OF(X509) * certificates) const { sk_X509_pop_free(certificates, X509_free); }
    void operator()(GENERAL_NAMES* names) const { GENERAL_NAMES_free(names); }
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
    void operator()(BIO* bio) const { BIO_free(bio); }
    void operator()(BIO_METHOD* method) const { BIO_meth_free(method); }
};

template <class T>
using Openssl = std::unique_ptr<T, OpensslFree>;

/// TLS 1.2 and 1.3 without renegotiation or compression; a connection that is idle holds no record buffers.
/// Throws std::bad_alloc.
Openssl<SSL_CTX> make_tls_context(const SSL_METHOD* method);

}  // namespace oncegate::net
