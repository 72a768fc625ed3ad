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
    Session(Worker& worker, std::unique_ptr<net::Stream> stream);

    /// Serves requests until the connection ends. Never throws but on cancellation.
    boost::asio::awaitable<void> run();

    /// True while it waits for the first byte of a request: nothing is lost by closing it.
    bool idle() const { return idle_; }
    void close_idle();

 private:
    boost::asio::awaitable<net::Persistence> serve(core::RequestHead head);
    boost::asio::awaitable<void> dispatch(ClientSide& client, Report& report);
    boost::asio::awaitable<void> route_to(ClientSide& client, Report& report, std::size_t route);
    boost::asio::awaitable<void> refuse_head(const net::NoHead& why);
    boost::asio::awaitable<void> refuse(ClientSide& client, core::Problem problem);
    void write_report(Report& report, const ClientSide& client, std::size_t route);

    Worker& worker_;
    net::Connection connection_;
    std::chrono::steady_clock::time_point began_{};
    std::size_t route_index_ = Metrics::no_route;
    bool idle_ = false;
    bool over_limit_ = false;
    bool unread_ = false;  ///< the client may still be sending what nobody will read
};

}  // namespace oncegate::proxy
