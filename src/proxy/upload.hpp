#pragma once
// A request body on its way from the client to the upstream, running beside the coroutine that waits for the response.

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <string>

#include "async/one_shot.hpp"
#include "net/connection.hpp"
#include "net/message_writer.hpp"
#include "proxy/request.hpp"

namespace oncegate::proxy {

/// How an upload ended.
enum class Uploaded : std::uint8_t {
    whole,            ///< the upstream has the whole body
    client_broke,     ///< the client broke off or sent malformed framing
    client_late,      ///< no piece came in time
    too_large,        ///< limits.request_body
    upstream_closed,  ///< the upstream takes no more
    stopped,          ///< by stop_and_join(): the answer was there, or will never come
};

/// Not thread-safe. Must be joined (stop_and_join) before it is destroyed once started.
class Upload {
 public:
    Upload(Request& request, net::Connection& upstream)
        : request_(request), upstream_(upstream), ended_(request.worker.executor) {}

    /// Sends `head` and then the body as it comes. When the upload ends, reads of the upstream that are under way are
    /// given `response_limit` from then on, or, when the request will never be whole, are ended.
    void start(std::string head, core::Framing framing, std::chrono::milliseconds response_limit);

    bool done() const { return ended_.is_set(); }

    /// The response has begun: from now on the upstream's deadline is that of whoever reads it.
    void answered() { answered_ = true; }

    /// Ends the upload if it still runs, and waits for its end. After start().
    boost::asio::awaitable<Uploaded> stop_and_join();

 private:
    boost::asio::awaitable<void> run(std::string head, core::Framing framing, std::chrono::milliseconds response_limit);
    boost::asio::awaitable<net::IoResult> finish(net::BodyWriter& writer, std::string_view piece);
    boost::asio::awaitable<Uploaded> send(std::string head, core::Framing framing);
    void allow_writing();
    void allow_pause();

    Request& request_;
    net::Connection& upstream_;
    async::OneShot<bool> ended_;
    Uploaded result_ = Uploaded::whole;  ///< once it has ended
    bool stopping_ = false;
    bool answered_ = false;
};

}  // namespace oncegate::proxy
