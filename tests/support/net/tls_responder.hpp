#pragma once
// A TLS server in the test's own loop that answers every `question` with `answer`, on as many connections as come.

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>
#include <utility>

#include "net/connection.hpp"
#include "net/listener.hpp"
#include "net/tls_server.hpp"
#include "support/net/raw_socket.hpp"

namespace oncegate::test {

class TlsResponder {
 public:
    /// `files` are PEM files of the certificate and its key.
    template <class Files>
    TlsResponder(boost::asio::io_context& io, const Files& files, std::string question, std::string answer)
        : io_(io),
          question_(std::move(question)),
          answer_(std::move(answer)),
          listener_(io.get_executor(), {"127.0.0.1", 0}) {
        net::TlsServerOptions options;
        options.certificates.push_back({files.certificate, files.private_key});
        const auto loaded = net::TlsServer::load(options);
        if (loaded.has_error()) throw PeerFailure(loaded.error());
        tls_ = *loaded;
        auto accepted = [this](std::unique_ptr<net::Stream> stream) {
            boost::asio::co_spawn(io_, serve(std::move(stream)), boost::asio::detached);
        };
        boost::asio::co_spawn(io_, listener_.run(accepted), boost::asio::detached);
    }
    TlsResponder(const TlsResponder&) = delete;
    TlsResponder& operator=(const TlsResponder&) = delete;

    std::uint16_t port() const { return listener_.port(); }
    /// Handshakes that succeeded.
    int handshakes() const { return handshakes_; }

 private:
    boost::asio::awaitable<void> serve(std::unique_ptr<net::Stream> transport) {
        auto stream = co_await tls_->accept(std::move(transport), std::chrono::seconds(10));
        if (!stream) co_return;
        ++handshakes_;
        net::Connection client(std::move(*stream));
        for (;;) {
            while (client.buffered().find(question_) == std::string_view::npos) {
                const auto read = co_await client.fill(1U << 16);
                if (read.error) co_return;
            }
            client.consume(client.buffered().find(question_) + question_.size());
            const std::array<boost::asio::const_buffer, 1> pieces{boost::asio::buffer(answer_)};
            co_await client.stream().write(pieces);
        }
    }

    boost::asio::io_context& io_;
    std::string question_;
    std::string answer_;
    std::shared_ptr<const net::TlsServer> tls_;
    net::Listener listener_;
    int handshakes_ = 0;
};

}  // namespace oncegate::test
