#include "support/net/tls_peer.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <csignal>

#include "support/net/raw_socket.hpp"

namespace oncegate::test {

namespace {

std::string last_reason() {
    const char* reason = ERR_reason_error_string(ERR_peek_last_error());
    return reason != nullptr ? reason : "no reason";
}

void need(bool fine, const char* what) {
    if (!fine) throw PeerFailure(std::string(what).append(": ").append(last_reason()));
}

std::string wire_form(const std::vector<std::string>& protocols) {
    std::string wire;
    for (const auto& name : protocols) wire.append(1, static_cast<char>(name.size())).append(name);
    return wire;
}

}  // namespace

struct TlsPeer::State {
    std::string protocols;
    std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context{nullptr, SSL_CTX_free};
    std::unique_ptr<SSL, void (*)(SSL*)> ssl{nullptr, SSL_free};

    static int choose(SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char*, unsigned,
                      void* self) {
        const auto& protocols = static_cast<State*>(self)->protocols;
        *chosen = reinterpret_cast<const unsigned char*>(protocols.data()) + 1;
        *size = static_cast<unsigned char>(protocols[0]);
        return SSL_TLSEXT_ERR_OK;
    }
};

TlsPeer::TlsPeer(int descriptor, const Options& options) : descriptor_(descriptor), state_(std::make_unique<State>()) {
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL's socket BIO writes without MSG_NOSIGNAL
    const bool client = options.role == Role::client;
    state_->context.reset(SSL_CTX_new(client ? TLS_client_method() : TLS_server_method()));
    SSL_CTX* context = state_->context.get();
    // The lowest security level, for the versions that must be refused.
    if (options.lowest < TLS1_2_VERSION) SSL_CTX_set_cipher_list(context, "ALL:@SECLEVEL=0");
    if (!options.tls12_ciphers.empty()) SSL_CTX_set_cipher_list(context, options.tls12_ciphers.c_str());
    SSL_CTX_set_min_proto_version(context, options.lowest);
    SSL_CTX_set_max_proto_version(context, options.highest);
    SSL_CTX_set_session_id_context(context, reinterpret_cast<const unsigned char*>("peer"), 4);
    if (!options.ca.empty()) {
        need(SSL_CTX_load_verify_file(context, options.ca.c_str()) == 1, "authority");
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    }
    if (!options.own.certificate.empty()) {
        need(SSL_CTX_use_certificate_chain_file(context, options.own.certificate.c_str()) == 1, "certificate");
        need(SSL_CTX_use_PrivateKey_file(context, options.own.private_key.c_str(), SSL_FILETYPE_PEM) == 1, "key");
    }
    state_->protocols = wire_form(options.alpn);
    if (!options.alpn.empty() && client) {
        SSL_CTX_set_alpn_protos(context, reinterpret_cast<const unsigned char*>(state_->protocols.data()),
                                static_cast<unsigned>(state_->protocols.size()));
    } else if (!options.alpn.empty()) {
        SSL_CTX_set_alpn_select_cb(context, State::choose, state_.get());
    }
    state_->ssl.reset(SSL_new(context));
    SSL* ssl = state_->ssl.get();
    SSL_set_fd(ssl, descriptor);
    if (client) {
        SSL_set_connect_state(ssl);
    } else {
        SSL_set_accept_state(ssl);
    }
    if (!options.server_name.empty()) SSL_set_tlsext_host_name(ssl, options.server_name.c_str());
    if (options.resumed != nullptr) SSL_set_session(ssl, options.resumed);
}

TlsPeer::~TlsPeer() {
    SSL_set_shutdown(state_->ssl.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);  // keeps its sessions good
    state_.reset();
    ::close(descriptor_);
}

std::string TlsPeer::handshake() {
    ERR_clear_error();
    return SSL_do_handshake(state_->ssl.get()) == 1 ? std::string() : last_reason();
}

void TlsPeer::write(const std::string& text) {
    ERR_clear_error();
    std::size_t written = 0;
    need(SSL_write_ex(state_->ssl.get(), text.data(), text.size(), &written) == 1 && written == text.size(), "write");
}

std::string TlsPeer::read(std::size_t bytes) {
    std::string text(bytes, '\0');
    std::size_t held = 0;
    while (held < bytes) {
        ERR_clear_error();
        std::size_t got = 0;
        need(SSL_read_ex(state_->ssl.get(), text.data() + held, bytes - held, &got) == 1, "read");
        held += got;
    }
    return text;
}

TlsPeer::End TlsPeer::wait_end() {
    std::string dropped(16384, '\0');
    for (;;) {
        ERR_clear_error();
        std::size_t got = 0;
        const int result = SSL_read_ex(state_->ssl.get(), dropped.data(), dropped.size(), &got);
        if (result == 1) continue;
        if (SSL_get_error(state_->ssl.get(), result) == SSL_ERROR_ZERO_RETURN) return End::close_notify;
        fault_ = last_reason();
        const bool truncated = ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
        return truncated ? End::truncated : End::fault;
    }
}

void TlsPeer::close_notify() { SSL_shutdown(state_->ssl.get()); }

void TlsPeer::shut_down_sending() { ::shutdown(descriptor_, SHUT_WR); }

void TlsPeer::update_keys() { need(SSL_key_update(state_->ssl.get(), SSL_KEY_UPDATE_REQUESTED) == 1, "key update"); }

void TlsPeer::reset() {
    const linger now{1, 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    const int nowhere = ::socket(AF_INET, SOCK_STREAM, 0);
    ::dup2(nowhere, descriptor_);  // closes the connection and keeps the number
    ::close(nowhere);
}

int TlsPeer::version() const { return SSL_version(state_->ssl.get()); }

bool TlsPeer::resumed() const { return SSL_session_reused(state_->ssl.get()) == 1; }

std::string TlsPeer::chosen_protocol() const {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(state_->ssl.get(), &name, &size);
    return {reinterpret_cast<const char*>(name), size};
}

std::string TlsPeer::asked_name() const {
    const char* name = SSL_get_servername(state_->ssl.get(), TLSEXT_NAMETYPE_host_name);
    return name != nullptr ? name : "";
}

std::string TlsPeer::shown_name() const {
    X509* certificate = SSL_get0_peer_certificate(state_->ssl.get());
    if (certificate == nullptr) return {};
    char name[256] = "";
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name, sizeof name);
    return name;
}

SSL_SESSION* TlsPeer::session() { return SSL_get1_session(state_->ssl.get()); }

Loopback::Loopback(boost::asio::io_context& io) {
    using boost::asio::ip::tcp;
    tcp::acceptor acceptor(io, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
    descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
    const timeval limit{20, 0};
    const int on = 1;
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(acceptor.local_endpoint().port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        throw PeerFailure("connect", errno);
    stream = net::make_plain_stream(acceptor.accept());
}

}  // namespace oncegate::test
