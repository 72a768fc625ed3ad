#include "net/tls_files.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <cerrno>
#include <new>
#include <system_error>

#include "net/tls_fault.hpp"

namespace oncegate::net {

namespace {

using boost::system::result;

std::string say(std::string text, const std::string& more) { return text.append(more); }

result<Openssl<BIO>, std::string> open_file(const std::string& path) {
    ERR_clear_error();
    errno = 0;
    Openssl<BIO> file(BIO_new_file(path.c_str(), "r"));
    if (file) return file;
    const std::error_code why(errno, std::generic_category());
    ERR_clear_error();
    return say(say(path, ": cannot be read: "), why.message());
}

/// OpenSSL would ask for the password at the terminal.
int no_password(char*, int, int, void* asked) {
    *static_cast<bool*>(asked) = true;
    return -1;
}

bool end_of_pem() { return ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE; }

/// The decoder of keys, asked for what is not there.
bool nothing_to_decode() {
    const auto error = ERR_peek_last_error();
    return ERR_GET_LIB(error) == ERR_LIB_OSSL_DECODER && ERR_GET_REASON(error) == ERR_R_UNSUPPORTED;
}

result<Openssl<EVP_PKEY>, std::string> read_key(const std::string& path) {
    const auto file = open_file(path);
    if (!file) return file.error();
    bool asked = false;
    Openssl<EVP_PKEY> key(PEM_read_bio_PrivateKey(file->get(), nullptr, no_password, &asked));
    const bool nothing = end_of_pem() || nothing_to_decode();
    const std::string reason = last_tls_reason();
    if (key) return key;
    if (asked) return say(path, ": the private key is encrypted; one without a password is needed");
    if (nothing) return say(path, ": no usable private key in PEM form");
    return say(say(path, ": the private key cannot be read: "), reason);
}

}  // namespace

result<std::vector<Openssl<X509>>, std::string> read_certificates(const std::string& path) {
    const auto file = open_file(path);
    if (!file) return file.error();
    std::vector<Openssl<X509>> certificates;
    bool asked = false;
    while (X509* certificate = PEM_read_bio_X509_AUX(file->get(), nullptr, no_password, &asked))
        certificates.emplace_back(certificate);
    const bool ended = end_of_pem();
    const std::string reason = last_tls_reason();
    if (!ended) return say(say(path, ": a certificate in it cannot be read: "), reason);
    if (certificates.empty()) return say(path, ": no certificate in PEM form");
    return certificates;
}

result<TlsCredentials, std::string> read_credentials(const std::string& certificate, const std::string& private_key) {
    auto certificates = read_certificates(certificate);
    if (!certificates) return certificates.error();
    auto key = read_key(private_key);
    if (!key) return key.error();

    TlsCredentials credentials;
    credentials.key = std::move(*key);
    credentials.chain.reset(sk_X509_new_null());
    if (!credentials.chain) throw std::bad_alloc();
    for (auto& read : *certificates) {
        if (!credentials.leaf) {
            credentials.leaf = std::move(read);
        } else if (sk_X509_push(credentials.chain.get(), read.get()) > 0) {
            read.release();
        }
    }
    const bool matches = X509_check_private_key(credentials.leaf.get(), credentials.key.get()) == 1;
    ERR_clear_error();
    if (!matches) return say(say(private_key, ": not the private key of the certificate in "), certificate);
    return credentials;
}

std::string use_credentials(SSL_CTX* context, const TlsCredentials& credentials, const std::string& certificate) {
    constexpr int replace = 1;
    if (SSL_CTX_use_cert_and_key(context, credentials.leaf.get(), credentials.key.get(), credentials.chain.get(),
                                 replace) == 1)
        return {};
    return say(say(certificate, ": cannot be used: "), last_tls_reason());
}

std::string trust_authorities(SSL_CTX* context, const std::string& path) {
    const auto certificates = read_certificates(path);
    if (!certificates) return certificates.error();
    for (const auto& certificate : *certificates) {
        if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate.get()) != 1)
            return say(say(path, ": a certificate in it cannot be trusted: "), last_tls_reason());
    }
    return {};
}

}  // namespace oncegate::net
