#pragma once
// What a HealthObserver was told, in order.

#include <string>
#include <string_view>
#include <vector>

#include "net/upstream_health.hpp"

namespace oncegate::test {

struct Heard {
    std::size_t server;
    net::ServerChange change;
    std::string reason;
};

class HealthNotes final : public net::HealthObserver {
 public:
    /// `heard` must outlive it.
    explicit HealthNotes(std::vector<Heard>& heard) : heard_(heard) {}
    void server_changed(std::size_t server, net::ServerChange change, std::string_view reason) override {
        heard_.push_back({server, change, std::string(reason)});
    }

 private:
    std::vector<Heard>& heard_;
};

}  // namespace oncegate::test
