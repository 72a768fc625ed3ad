#pragma once
// A name service that answers what the test says, from within the test's loop.

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <string>
#include <utility>
#include <vector>

#include "net/resolver.hpp"

namespace oncegate::test {

class FakeNames {
 public:
    explicit FakeNames(boost::asio::io_context& io, std::vector<std::string> addresses = {}) : io_(io) {
        answer(std::move(addresses));
    }
    FakeNames(const FakeNames&) = delete;
    FakeNames& operator=(const FakeNames&) = delete;

    /// What every look-up gets from now on; of no address: that there is no such name.
    void answer(const std::vector<std::string>& addresses) {
        error_ = {};
        addresses_.clear();
        for (const auto& address : addresses) addresses_.push_back(boost::asio::ip::make_address(address));
        if (addresses_.empty()) error_ = boost::asio::error::host_not_found;
    }

    /// Look-ups wait from now on until release().
    void hold() { holding_ = true; }
    void release() {
        holding_ = false;
        for (auto& answered : std::exchange(held_, {})) reply(std::move(answered));
    }

    int asked() const { return asked_; }

    net::Resolver::LookUp look_up() {
        return [this](const std::string&, net::Resolver::Answered answered) {
            ++asked_;
            if (holding_) {
                held_.push_back(std::move(answered));
            } else {
                reply(std::move(answered));
            }
        };
    }

 private:
    void reply(net::Resolver::Answered answered) {
        boost::asio::post(io_, [this, answered = std::move(answered)] { answered(error_, addresses_); });
    }

    boost::asio::io_context& io_;
    boost::system::error_code error_;
    net::Resolver::Addresses addresses_;
    bool holding_ = false;
    std::vector<net::Resolver::Answered> held_;
    int asked_ = 0;
};

}  // namespace oncegate::test
