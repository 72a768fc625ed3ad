#pragma once
// Sessions that servers gave us, kept to be resumed: a few for each server name.

#include <openssl/ssl.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "net/tls_handles.hpp"

namespace oncegate::net {

/// Safe from any thread. Must outlive every SSL object of its context.
class TlsSessions {
 public:
    /// From now on `context` hands its new sessions to this object, once for a context.
    void serve(SSL_CTX& context);

    /// `ssl` resumes a session with `server_name` when there is one, and its new sessions are kept for it.
    void attach(SSL& ssl, const std::string& server_name);

 private:
    struct Kept {
        explicit Kept(TlsSessions& of) : owner(of) {}
        TlsSessions& owner;
        std::vector<Openssl<SSL_SESSION>> sessions;  ///< newest last
    };

    static int on_new_session(SSL* ssl, SSL_SESSION* session);

    std::mutex mutex_;
    std::map<std::string, Kept> servers_;  ///< its nodes stay where they are: SSL objects point to them
};

}  // namespace oncegate::net
