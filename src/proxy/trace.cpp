#include "proxy/trace.hpp"

#include <algorithm>
#include <random>

namespace oncegate::proxy {

namespace {

bool is_lower_hex(std::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool all_zero(std::string_view text) { return text.find_first_not_of('0') == std::string_view::npos; }

}  // namespace

bool is_traceparent(std::string_view value) {
    if (value.size() != 55 || value[2] != '-' || value[35] != '-' || value[52] != '-') return false;
    const auto version = value.substr(0, 2);
    const auto trace = value.substr(3, 32);
    const auto parent = value.substr(36, 16);
    return is_lower_hex(version) && version != "ff" && is_lower_hex(trace) && is_lower_hex(parent) &&
           is_lower_hex(value.substr(53, 2)) && !all_zero(trace) && !all_zero(parent);
}

std::string random_hex(std::size_t bytes) {
    thread_local std::mt19937_64 generator{std::random_device{}()};
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out(bytes * 2, '0');
    std::uint64_t word = 0;
    for (std::size_t byte = 0; byte < bytes; ++byte, word >>= 8) {
        if (byte % sizeof(word) == 0) word = generator();
        out[2 * byte] = digits[word >> 4 & 0xF];
        out[2 * byte + 1] = digits[word & 0xF];
    }
    return out;
}

std::string trace_id_of(std::string_view traceparent) {
    return is_traceparent(traceparent) ? std::string(traceparent.substr(3, 32)) : random_hex(16);
}

std::string make_traceparent(std::string_view trace_id) {
    std::string out;
    out.reserve(55);
    return out.append("00-").append(trace_id).append("-").append(random_hex(8)).append("-01");
}

}  // namespace oncegate::proxy
