#include "core/utf8.hpp"

#include <cstdint>
#include <cstring>

namespace oncegate::core {
namespace {

/// One UTF-8 sequence at the start of `text`: its length, or 0 when it is malformed, overlong, a surrogate or beyond
/// U+10FFFF.
std::size_t utf8_sequence(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const auto lead = byte(0);
    if (lead < 0x80) return 1;
    const std::size_t length = lead >= 0xC2 && lead <= 0xDF   ? 2U
                               : lead >= 0xE0 && lead <= 0xEF ? 3U
                               : lead >= 0xF0 && lead <= 0xF4 ? 4U
                                                              : 0U;
    if (length == 0 || text.size() < length) return 0;
    // The second byte carries the limits that the lead byte alone cannot express (RFC 3629 §4).
    const unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (byte(1) < low || byte(1) > high) return 0;
    for (std::size_t i = 2; i < length; ++i) {
        if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
    }
    return length;
}

/// Bytes at the start of `text`, in steps of eight, that are ASCII: most texts are nothing else.
std::size_t ascii_words(std::string_view text) {
    constexpr std::uint64_t high_bits = 0x8080'8080'8080'8080;
    std::size_t ascii = 0;
    std::uint64_t word = 0;
    for (; text.size() - ascii >= sizeof word; ascii += sizeof word) {
        std::memcpy(&word, text.data() + ascii, sizeof word);
        if ((word & high_bits) != 0) break;
    }
    return ascii;
}

}  // namespace

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        text.remove_prefix(ascii_words(text));
        if (text.empty()) break;
        const auto length = utf8_sequence(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

}  // namespace oncegate::core
