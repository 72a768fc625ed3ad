#include "net/tls_sessions.hpp"

namespace oncegate::net {

namespace {
constexpr std::size_t most_servers = 256;
constexpr std::size_t most_sessions = 8;  // of one server
}  // namespace

void TlsSessions::serve(SSL_CTX& context) {
    SSL_CTX_set_session_cache_mode(&context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(&context, on_new_session);
}

void TlsSessions::attach(SSL& ssl, const std::string& server_name) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (servers_.size() >= most_servers && servers_.count(server_name) == 0) return;
    Kept& kept = servers_.try_emplace(server_name, *this).first->second;
    SSL_set_app_data(&ssl, &kept);
    if (kept.sessions.empty()) return;
    SSL_set_session(&ssl, kept.sessions.back().get());
    // A ticket of TLS 1.3 should be used once, lest connections be linked (RFC 8446 §C.4); it comes with new ones.
    if (SSL_SESSION_get_protocol_version(kept.sessions.back().get()) == TLS1_3_VERSION) kept.sessions.pop_back();
}

int TlsSessions::on_new_session(SSL* ssl, SSL_SESSION* session) {
    auto* kept = static_cast<Kept*>(SSL_get_app_data(ssl));
    if (kept == nullptr) return 0;
    const std::lock_guard<std::mutex> lock(kept->owner.mutex_);
    if (kept->sessions.size() == most_sessions) kept->sessions.erase(kept->sessions.begin());
    kept->sessions.emplace_back(session);
    return 1;  // its reference is ours now
}

}  // namespace oncegate::net
