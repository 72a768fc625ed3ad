#include "net/tls_server.hpp"

#include <openssl/err.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "net/tls_files.hpp"
#include "net/tls_identity.hpp"
#include "net/tls_stream.hpp"

namespace oncegate::net {

using boost::system::result;

/// One context a certificate; certificates of the same names and of different key types share one.
struct TlsServer::Contexts {
    struct Entry {
        Openssl<SSL_CTX> context;
        std::vector<std::string> names;
        std::vector<int> key_types;
    };
    std::vector<Entry> entries;
    std::map<std::string, SSL_CTX*, std::less<>> exact;
    std::map<std::string, SSL_CTX*, std::less<>> below;  ///< "*.example.com" as ".example.com"

    std::string add(const TlsServerOptions& options, const TlsServerOptions::Certificate& files);
    SSL_CTX* choose(std::string name) const;
    static int on_server_name(SSL* ssl, int* alert, void* self);

 private:
    Entry& entry_for(std::vector<std::string> names, int key_type);
};

namespace {

constexpr std::string_view protocol = "http/1.1";
constexpr std::string_view older_protocol = "http/1.0";  // what curl --http1.0 offers
constexpr std::string_view session_context = "oncegate";

// ECDHE with an AEAD, as in Mozilla's intermediate recommendation; the client knows best which is fast for it.
constexpr const char* ciphers_of_tls12 = "ECDHE+AESGCM:ECDHE+CHACHA20";

/// RFC 7301 §3.2: a client that offers protocols, and none that is spoken here, is told so.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char* offered,
                    unsigned offered_size, void*) {
    int verdict = SSL_TLSEXT_ERR_ALERT_FATAL;
    for (unsigned at = 0; at < offered_size;) {
        const unsigned length = offered[at++];
        if (length > offered_size - at) break;
        const std::string_view name(reinterpret_cast<const char*>(offered + at), length);
        if (name == protocol || (name == older_protocol && verdict != SSL_TLSEXT_ERR_OK)) {
            *chosen = offered + at;
            *size = static_cast<unsigned char>(length);
            verdict = SSL_TLSEXT_ERR_OK;
            if (name == protocol) break;
        }
        at += length;
    }
    return verdict;
}

std::string ask_for_certificates(SSL_CTX* context, const TlsServerOptions& options) {
    using Auth = TlsServerOptions::ClientAuth;
    if (options.client_auth == Auth::none) return {};
    if (options.client_ca.empty()) return "client certificates are asked for, but no client_ca is given";
    std::string fault = trust_authorities(context, options.client_ca);
    if (!fault.empty()) return fault;
    // Their names go to the client, which may have several certificates to choose from.
    const auto authorities = read_certificates(options.client_ca);
    if (!authorities) return authorities.error();
    for (const auto& authority : *authorities) SSL_CTX_add_client_CA(context, authority.get());
    const int must_show = options.client_auth == Auth::required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0;
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | must_show, nullptr);
    return {};
}

/// The same in all contexts of a listener: OpenSSL takes some of it from the first and some from the chosen one.
std::string configure(SSL_CTX* context, const TlsServerOptions& options) {
    SSL_CTX_set_cipher_list(context, ciphers_of_tls12);
    // Sessions live in the clients' tickets. A ticket holds the client's certificate, so it is bound to this use.
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_session_id_context(context, reinterpret_cast<const unsigned char*>(session_context.data()),
                                   static_cast<unsigned>(session_context.size()));
    SSL_CTX_set_max_early_data(context, 0);
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
    return ask_for_certificates(context, options);
}

/// A ticket proves the identity again without the certificate being verified again.
bool identity_expired(const TlsStream& stream) {
    const X509* certificate = stream.verified_certificate();
    return certificate != nullptr && X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0;
}

}  // namespace

TlsServer::Contexts::Entry& TlsServer::Contexts::entry_for(std::vector<std::string> names, int key_type) {
    for (auto& entry : entries) {
        const bool free = std::find(entry.key_types.begin(), entry.key_types.end(), key_type) == entry.key_types.end();
        if (free && !names.empty() && entry.names == names) return entry;
    }
    auto& entry = entries.emplace_back();
    entry.names = std::move(names);
    return entry;
}

std::string TlsServer::Contexts::add(const TlsServerOptions& options, const TlsServerOptions::Certificate& files) {
    const auto credentials = read_credentials(files.certificate, files.private_key);
    if (!credentials) return credentials.error();
    auto names = host_names(credentials->leaf.get());
    std::sort(names.begin(), names.end());
    const int key_type = EVP_PKEY_get_base_id(credentials->key.get());
    auto& entry = entry_for(std::move(names), key_type);
    if (!entry.context) {
        entry.context = make_tls_context(TLS_server_method());
        std::string fault = configure(entry.context.get(), options);
        if (!fault.empty()) return fault;
    }
    entry.key_types.push_back(key_type);
    for (const auto& name : entry.names) {
        if (name.compare(0, 2, "*.") == 0) {
            below.emplace(name.substr(1), entry.context.get());
        } else {
            exact.emplace(name, entry.context.get());
        }
    }
    return use_credentials(entry.context.get(), *credentials, files.certificate);
}

SSL_CTX* TlsServer::Contexts::choose(std::string name) const {
    for (char& c : name) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    const auto same = exact.find(name);
    if (same != exact.end()) return same->second;
    const auto dot = name.find('.');
    if (dot == 0 || dot == std::string::npos) return nullptr;
    const auto parent = below.find(std::string_view(name).substr(dot));  // the wildcard stands for one label
    return parent == below.end() ? nullptr : parent->second;
}

int TlsServer::Contexts::on_server_name(SSL* ssl, int*, void* self) {
    const char* name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    if (name == nullptr) return SSL_TLSEXT_ERR_NOACK;
    SSL_CTX* context = static_cast<const Contexts*>(self)->choose(name);
    if (context == nullptr) return SSL_TLSEXT_ERR_NOACK;
    SSL_set_SSL_CTX(ssl, context);
    return SSL_TLSEXT_ERR_OK;
}

TlsServer::TlsServer(std::shared_ptr<const Contexts> contexts) : contexts_(std::move(contexts)) {}
TlsServer::~TlsServer() = default;

result<std::shared_ptr<const TlsServer>, std::string> TlsServer::load(const TlsServerOptions& options) {
    auto contexts = std::make_shared<Contexts>();
    for (const auto& files : options.certificates) {
        std::string fault = contexts->add(options, files);
        if (!fault.empty()) return fault;
    }
    if (contexts->entries.empty()) return std::string("a TLS listener needs a certificate");
    SSL_CTX* first = contexts->entries.front().context.get();
    SSL_CTX_set_tlsext_servername_callback(first, Contexts::on_server_name);
    SSL_CTX_set_tlsext_servername_arg(first, contexts.get());
    return std::shared_ptr<const TlsServer>(new TlsServer(std::move(contexts)));
}

asio::awaitable<result<std::unique_ptr<Stream>, error_code>> TlsServer::accept(std::unique_ptr<Stream> transport,
                                                                               milliseconds limit) const {
    const auto contexts = contexts_;  // the object may go when certificates are reloaded
    Openssl<SSL> ssl(SSL_new(contexts->entries.front().context.get()));
    if (!ssl) throw std::bad_alloc();
    SSL_set_accept_state(ssl.get());
    auto stream = std::make_unique<TlsStream>(std::move(ssl), std::move(transport), contexts);
    const error_code error = co_await stream->handshake(limit);
    if (error) co_return error;
    if (identity_expired(*stream)) {
        stream->close();
        co_return error_code(asio::error::no_permission);
    }
    co_return std::unique_ptr<Stream>(std::move(stream));
}

}  // namespace oncegate::net
