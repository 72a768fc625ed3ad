#include "core/record.hpp"

namespace oncegate::core {

std::string to_hex(const RecordId& id) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    out.reserve(id.size() * 2);
    for (const auto byte : id) {
        out.push_back(digits[byte >> 4]);
        out.push_back(digits[byte & 0xF]);
    }
    return out;
}

}  // namespace oncegate::core
