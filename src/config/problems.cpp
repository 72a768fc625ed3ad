#include "config/problems.hpp"

#include <algorithm>
#include <numeric>

#include "config/located_yaml.hpp"

namespace oncegate::config {

std::string ConfigError::text() const {
    return file + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " + message;
}

void Problems::add(Place place, std::string message) {
    ++count_;
    if (std::find(muted_.begin(), muted_.end(), place) != muted_.end()) return;
    found_.push_back({place, std::move(message)});
}

void Problems::add(const Node& node, std::string_view message) {
    const std::string prefix = node.path.empty() ? "" : node.path + ": ";
    add(node.place, prefix + std::string(message));
}

void Problems::add_unsupported(const Node& node, std::string_view value) {
    const std::string what = value.empty() ? node.path : node.path + ": " + std::string(value);
    add(node.place, what + " is not supported yet");
}

std::vector<ConfigError> Problems::sorted(const std::string& file) const {
    auto in_order = found_;
    std::sort(in_order.begin(), in_order.end());
    in_order.erase(std::unique(in_order.begin(), in_order.end()), in_order.end());
    std::vector<ConfigError> errors;
    errors.reserve(in_order.size());
    for (auto& found : in_order)
        errors.push_back({file, found.place.line, found.place.column, std::move(found.message)});
    return errors;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
    std::iota(cost[0].begin(), cost[0].end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t differs = a[i - 1] == b[j - 1] ? 0 : 1;
            cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + differs});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
            }
        }
    }
    return cost[a.size()][b.size()];
}

std::string name_hint(std::string_view written, const std::vector<std::string>& known) {
    constexpr std::size_t longest_compared = 64;
    const std::string* nearest = nullptr;
    std::size_t nearest_distance = std::max<std::size_t>(1, written.size() / 3) + 1;
    if (written.size() <= longest_compared) {
        for (const auto& name : known) {
            const auto distance = edit_distance(written, name);
            if (distance < nearest_distance) {
                nearest = &name;
                nearest_distance = distance;
            }
        }
    }
    if (nearest != nullptr) return "; did you mean '" + *nearest + "'?";
    constexpr std::size_t most_listed = 12;
    if (known.empty() || known.size() > most_listed) return "";
    std::string list;
    for (const auto& name : known) list += (list.empty() ? "" : ", ") + name;
    return "; expected " + std::string(known.size() == 1 ? "" : "one of ") + list;
}

}  // namespace oncegate::config
