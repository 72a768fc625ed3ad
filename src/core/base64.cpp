#include "core/base64.hpp"

#include <cstdint>

#include "core/ascii.hpp"

namespace oncegate::core {
namespace {

/// The six-bit value of a base64 character, or -1 (RFC 4648 §4).
constexpr int sextet(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (is_digit(c)) return c - '0' + 52;
    if (c == '+') return 62;
    return c == '/' ? 63 : -1;
}

}  // namespace

boost::system::result<std::string, std::size_t> decode_base64(std::string_view text) {
    std::size_t length = text.size();
    while (length > 0 && text[length - 1] == '=') --length;
    const auto padding = text.size() - length;
    if (length % 4 == 1 || (padding != 0 && (padding > 2 || text.size() % 4 != 0))) return text.size();
    std::string out;
    out.reserve(length * 3 / 4);
    std::uint32_t bits = 0;
    int held = 0;
    for (std::size_t i = 0; i < length; ++i) {
        const int value = sextet(text[i]);
        if (value < 0) return i;
        bits = (bits << 6 | static_cast<std::uint32_t>(value)) & 0xFFFFFF;
        held += 6;
        if (held < 8) continue;
        held -= 8;
        out += static_cast<char>(bits >> held & 0xFF);
    }
    return out;
}

}  // namespace oncegate::core
