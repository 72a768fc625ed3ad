#include "core/urlencoded.hpp"

#include <algorithm>

namespace oncegate::core {

bool UrlencodedReader::next(UrlencodedPair& pair) {
    while (!rest_.empty() && ++pairs_ <= pairs_max) {
        const auto length = std::min(rest_.find('&'), rest_.size());
        const auto written = rest_.substr(0, length);
        rest_.remove_prefix(std::min(length + 1, rest_.size()));
        if (written.empty()) continue;
        const auto equals = std::min(written.find('='), written.size());
        pair.name = written.substr(0, equals);
        pair.value = written.substr(std::min(equals + 1, written.size()));
        return true;
    }
    return false;
}

bool urlencoded_equals(std::string_view encoded, std::string_view text) {
    if (encoded.size() < text.size()) return false;  // decoding never makes a text longer
    UrlencodedBytes bytes(encoded);
    for (const char c : text) {
        if (bytes.at_end() || bytes.next() != c) return false;
    }
    return bytes.at_end();
}

std::string decode_urlencoded(std::string_view encoded, std::size_t most, UrlencodedBytes::Plus plus) {
    std::string text;
    text.reserve(std::min(encoded.size(), most));
    UrlencodedBytes bytes(encoded, plus);
    while (!bytes.at_end() && text.size() < most) text.push_back(bytes.next());
    return text;
}

}  // namespace oncegate::core
