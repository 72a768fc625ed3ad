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
    std::string out;
    out.reserve(bytes * 2);
    while (out.size() < bytes * 2) {
        for (auto word = generator(); word != 0 && out.size() < bytes * 2; word >>= 4)
            out.push_back(digits[word & 0xF]);
    }
    return out;
}

std::string trace_id_of(std::string_view traceparent) {
    return is_traceparent(traceparent) ? std::string(traceparent.substr(3, 32)) : random_hex(16);
}

std::string make_traceparent(std::string_view trace_id) {
    return "00-" + std::string(trace_id) + "-" + random_hex(8) + "-01";
}

}  // namespace oncegate::proxy
