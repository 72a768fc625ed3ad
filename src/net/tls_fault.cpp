#include "net/tls_fault.hpp"

#include <openssl/err.h>
#include <openssl/x509_vfy.h>

#include <system_error>

namespace oncegate::net {

namespace {

/// Values: packed OpenSSL errors are positive; a certificate's verification error is its number, negated; one is ours.
constexpr int truncated_value = 1;  // no packed error: these carry a library number above the reason

std::string reason_of(unsigned long packed) {
    const char* reason = ERR_reason_error_string(packed);
    return reason != nullptr ? reason : "TLS failed without a reason";
}

class TlsCategory final : public std::error_category {
 public:
    const char* name() const noexcept override { return "tls"; }
    std::string message(int value) const override {
        if (value == truncated_value) return "the connection ended without close_notify";
        if (value < 0) return X509_verify_cert_error_string(-static_cast<long>(value));
        return reason_of(static_cast<unsigned long>(value));
    }
};

boost::system::error_code tls_error(int value) {
    static const TlsCategory category;
    return std::error_code(value, category);
}

}  // namespace

boost::system::error_code tls_truncated() { return tls_error(truncated_value); }

boost::system::error_code last_tls_fault(const SSL* ssl) {
    const unsigned long packed = ERR_get_error();
    ERR_clear_error();
    const long verified = SSL_get_verify_result(ssl);
    if (verified != X509_V_OK && ERR_GET_REASON(packed) == SSL_R_CERTIFICATE_VERIFY_FAILED)
        return tls_error(-static_cast<int>(verified));
    const bool of_system = packed == 0 || ERR_SYSTEM_ERROR(packed);
    return tls_error(static_cast<int>(of_system ? ERR_PACK(ERR_LIB_SSL, 0, ERR_R_INTERNAL_ERROR) : packed));
}

std::string last_tls_reason() {
    const unsigned long packed = ERR_peek_last_error();
    ERR_clear_error();
    return reason_of(packed);
}

}  // namespace oncegate::net
