#pragma once
// The operator's listener (contract §5): liveness, readiness, metrics and the policies as loaded. Never on the data
// port. Look-up and mending of records are not offered yet and answer 501 by name.

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "core/http_message.hpp"
#include "net/connection.hpp"
#include "proxy/metrics.hpp"

namespace oncegate::admin {

/// What the admin listener shows, asked anew for each request. Called on the thread of the admin's executor.
class Status {
 public:
    virtual ~Status() = default;
    /// Why no traffic should come: empty when ready.
    virtual std::vector<std::string> reasons_not_ready() const = 0;
    /// The configuration in force.
    virtual std::shared_ptr<const config::Config> config() const = 0;
};

struct Answer {
    int status = 200;
    std::string content_type = "text/plain; charset=utf-8";
    std::string body;
};

/// Everything it names must outlive it.
class AdminServer {
 public:
    AdminServer(const proxy::Metrics& metrics, const Status& status) : metrics_(metrics), status_(status) {}

    /// The answer to one request; no I/O, for tests.
    Answer answer(const core::RequestHead& head) const;

    /// Serves one connection until it ends.
    boost::asio::awaitable<void> serve(std::unique_ptr<net::Stream> stream) const;

 private:
    bool allowed(const core::RequestHead& head) const;

    const proxy::Metrics& metrics_;
    const Status& status_;
};

}  // namespace oncegate::admin
