#include "config/environment.hpp"

#include <cstdlib>

#include "core/ascii.hpp"

namespace oncegate::config {

namespace {

bool is_variable_name(std::string_view name) {
    if (name.empty() || core::is_digit(name.front())) return false;
    for (const char c : name) {
        if (!core::is_alpha(c) && !core::is_digit(c) && c != '_') return false;
    }
    return true;
}

/// The value of what stands between `${` and `}`.
std::optional<std::string> value_of(std::string_view reference, const Environment& environment, std::string& why) {
    const auto split = reference.find(":-");
    const std::string name(reference.substr(0, split));
    if (!is_variable_name(name)) {
        why = "'${" + std::string(reference) + "}' is not ${NAME} or ${NAME:-default}";
        return std::nullopt;
    }
    auto value = environment(name);
    if (split != std::string_view::npos) {
        if (!value || value->empty()) return std::string(reference.substr(split + 2));
    } else if (!value) {
        why = "the environment variable " + name + " is not set; set it, or write ${" + name + ":-default}";
    }
    return value;
}

}  // namespace

Environment process_environment() {
    return [](const std::string& name) -> std::optional<std::string> {
        const char* value = std::getenv(name.c_str());
        if (value == nullptr) return std::nullopt;
        return std::string(value);
    };
}

std::optional<std::string> substitute(std::string_view text, const Environment& environment, std::string& why) {
    std::string out;
    while (true) {
        const auto at = text.find("${");
        if (at == std::string_view::npos) return out.append(text);
        if (at > 0 && text[at - 1] == '$') {
            out.append(text.substr(0, at - 1)).append("${");
            text.remove_prefix(at + 2);
            continue;
        }
        out.append(text.substr(0, at));
        const auto end = text.find('}', at);
        if (end == std::string_view::npos) {
            why = "'${' without a '}' after it; write $${ for the two characters";
            return std::nullopt;
        }
        const auto value = value_of(text.substr(at + 2, end - at - 2), environment, why);
        if (!value) return std::nullopt;
        out.append(*value);
        text.remove_prefix(end + 1);
    }
}

}  // namespace oncegate::config
