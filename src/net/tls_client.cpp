#include "net/tls_client.hpp"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <string_view>

#include "net/tls_fault.hpp"
#include "net/tls_files.hpp"
#include "net/tls_sessions.hpp"
#include "net/tls_stream.hpp"

namespace oncegate::net {

using boost::system::result;

struct TlsClient::Context {
    TlsSessions sessions;  ///< outlives the context, which points to it
    Openssl<SSL_CTX> context;
    bool verify = true;
};

namespace {

constexpr std::string_view only_protocol("\x08http/1.1", 9);  // with its length, as the extension has it

bool is_address(const std::string& name) {
    error_code not_one;
    asio::ip::make_address(name, not_one);
    return !not_one;
}

/// Asks for `name` and, when the peer is verified at all, insists on it.
bool expect_name(SSL* ssl, const std::string& name) {
    if (name.empty()) return false;  // OpenSSL would take it for "any name"
    if (is_address(name)) return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name.c_str()) == 1;
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(ssl, name.c_str()) == 1 && SSL_set_tlsext_host_name(ssl, name.c_str()) == 1;
}

std::string trust(SSL_CTX* context, const TlsClientOptions& options) {
    if (!options.verify) return {};
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    if (!options.ca.empty()) return trust_authorities(context, options.ca);
    if (SSL_CTX_set_default_verify_paths(context) == 1) return {};
    return std::string("the system's certificate authorities cannot be read: ").append(last_tls_reason());
}

std::string show_certificate(SSL_CTX* context, const TlsClientOptions& options) {
    if (options.certificate.empty()) return {};
    const auto credentials = read_credentials(options.certificate, options.private_key);
    return credentials ? use_credentials(context, *credentials, options.certificate) : credentials.error();
}

}  // namespace

TlsClient::TlsClient(std::shared_ptr<Context> context) : context_(std::move(context)) {}
TlsClient::~TlsClient() = default;

result<std::shared_ptr<const TlsClient>, std::string> TlsClient::load(const TlsClientOptions& options) {
    auto made = std::make_shared<Context>();
    made->context = make_tls_context(TLS_client_method());
    made->verify = options.verify;
    SSL_CTX* context = made->context.get();
    std::string fault = trust(context, options);
    if (fault.empty()) fault = show_certificate(context, options);
    if (!fault.empty()) return fault;
    SSL_CTX_set_alpn_protos(context, reinterpret_cast<const unsigned char*>(only_protocol.data()),
                            static_cast<unsigned>(only_protocol.size()));
    made->sessions.serve(*context);
    return std::shared_ptr<const TlsClient>(new TlsClient(std::move(made)));
}

asio::awaitable<result<std::unique_ptr<Stream>, error_code>> TlsClient::connect(std::unique_ptr<Stream> transport,
                                                                                std::string server_name,
                                                                                milliseconds limit) const {
    const auto shared = context_;  // the object may go when the configuration is reloaded
    if (!server_name.empty() && server_name.back() == '.') server_name.pop_back();  // no certificate has the root's dot
    Openssl<SSL> ssl(SSL_new(shared->context.get()));
    if (!ssl) throw std::bad_alloc();
    if (!expect_name(ssl.get(), server_name) && shared->verify) {
        ERR_clear_error();
        transport->close();
        co_return error_code(asio::error::invalid_argument);
    }
    SSL_set_connect_state(ssl.get());
    shared->sessions.attach(*ssl, server_name);
    auto stream = std::make_unique<TlsStream>(std::move(ssl), std::move(transport), shared);
    const error_code error = co_await stream->handshake(limit);
    if (error) co_return error;
    co_return std::unique_ptr<Stream>(std::move(stream));
}

}  // namespace oncegate::net
