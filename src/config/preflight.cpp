#include "config/preflight.hpp"

#include "core/cors.hpp"

namespace oncegate::config {

std::optional<std::size_t> preflight_route(const core::RouteTable& routes, const Config& config,
                                           const core::RequestHead& head) {
    const auto method = core::preflight_method(head);
    if (!method) return std::nullopt;
    core::RequestHead announced = head;
    announced.method = *method;
    const auto found = routes.find(announced);
    if (found.has_error() || !config.routes[*found].cors) return std::nullopt;
    return *found;
}

}  // namespace oncegate::config
