#include "core/policy.hpp"

namespace oncegate::core {

std::string StatusSet::describe() const {
    std::string text;
    const auto append = [&text](const std::string& piece) {
        if (!text.empty()) text += ", ";
        text += piece;
    };
    for (std::size_t first = 0; first < bits_.size(); ++first) {
        if (!bits_.test(first)) continue;
        std::size_t last = first;
        while (last + 1 < bits_.size() && bits_.test(last + 1)) ++last;
        if (last - first < 2) {  // a pair is no shorter as a range
            for (std::size_t status = first; status <= last; ++status) append(std::to_string(status));
        } else {
            append(std::to_string(first) + "-" + std::to_string(last));
        }
        first = last;
    }
    return text;
}

}  // namespace oncegate::core
