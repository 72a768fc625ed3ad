#pragma once
// One client connection: its requests in turn, each to the handler that its route asks for. Metrics and access log are
// written here, once a request is over, and nowhere else.

#include <boost/asio/awaitable.hpp>
#include <memory>

#include "net/connection.hpp"
#include "net/head_reader.hpp"
#include "proxy/policy_page.hpp"
#include "proxy/request.hpp"
#include "proxy/worker.hpp"

namespace oncegate::proxy {

/// Lives in the frame of the coroutine that runs it.
class Session {
 public:
    /// `listener`: position in the configuration of the listener that accepted it.
    Session(Worker& worker, std::unique_ptr<net::Stream> stream, std::size_t listener);

    /// Takes what the listener asks for before HTTP (PROXY header, TLS), then serves requests until the connection
    /// ends. Never throws but on cancellation.
    boost::asio::awaitable<void> run();

    /// True while it waits for the first byte of a request, or for what comes before HTTP: nothing is lost by closing
    /// it. A connection that has just been made has a moment to say what it came for.
    bool idle();
    void close_idle();

 private:
    enum class Entered : std::uint8_t { yes, no };
    boost::asio::awaitable<Entered> enter();
    boost::asio::awaitable<void> serve_requests();
    boost::asio::awaitable<net::Persistence> serve(core::RequestHead head);
    /// What stands against a request before its route is known.
    std::optional<core::Problem> objection_to(ClientSide& client) const;
    static core::Problem unrouted(ClientSide& client, core::RouteTable::Miss why);
    /// Hands the request to its handler.
    boost::asio::awaitable<void> dispatch(ClientSide& client, Report& report);
    boost::asio::awaitable<void> refuse_head(const net::NoHead& why);
    /// Answers a problem to a request that was not read.
    boost::asio::awaitable<void> refuse_unread(core::Problem problem);
    /// One connection too many: told so at once.
    boost::asio::awaitable<void> turn_away();
    void note_no_entrance(Metrics::Entrance what, const net::error_code& why);
    boost::asio::awaitable<void> refuse(ClientSide& client, core::Problem problem);
    void write_report(Report& report, const ClientSide& client);
    const config::Server& server() const { return generation_->config().server; }
    void renew_generation() {
        if (generation_ != worker_.generation) generation_ = worker_.generation;
    }

    Worker& worker_;
    std::size_t listener_;
    std::shared_ptr<LocalGeneration> generation_;  ///< of the present request
    net::Connection connection_;
    std::chrono::steady_clock::time_point opened_ = std::chrono::steady_clock::now();
    std::chrono::steady_clock::time_point began_{};
    Metrics::Route* counts_;           ///< of the present request's route; never null
    net::Stream* entering_ = nullptr;  ///< the transport, while it has not brought what comes before HTTP
    bool idle_ = false;
    bool unread_ = false;  ///< the client may still be sending what nobody will read
};

}  // namespace oncegate::proxy
