#include "config/readers.hpp"

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "config/addresses.hpp"
#include "config/units.hpp"
#include "core/ascii.hpp"

namespace oncegate::config {

namespace {

/// The text of a scalar that must be plain: `"5"` is text where 5 is a number.
std::optional<std::string> plain_text(const Node& node, Problems& problems, const char* expected) {
    auto written = text(node, problems);
    if (written && node.style == Node::Style::quoted) {
        problems.add(node, "a quoted text where " + std::string(expected) + " is expected; write it without quotes");
        return std::nullopt;
    }
    return written;
}

template <class T, class Text>
std::optional<T> within_limits(const Node& node, Problems& problems, T value, T least, T most, Text as_text) {
    if (value >= least && value <= most) return value;
    problems.add(node, "must be from " + as_text(least) + " to " + as_text(most) + ", not " + as_text(value));
    return std::nullopt;
}

}  // namespace

std::optional<std::string> text(const Node& node, Problems& problems) {
    switch (node.kind) {
        case Node::Kind::scalar: return node.text;
        case Node::Kind::blank: problems.add(node, "has no value"); break;
        case Node::Kind::list: problems.add(node, "a single value is expected here, not a list"); break;
        case Node::Kind::mapping: problems.add(node, "a single value is expected here, not a mapping"); break;
    }
    return std::nullopt;
}

std::optional<std::string> name(const Node& node, Problems& problems) {
    auto written = text(node, problems);
    if (!written) return std::nullopt;
    const bool printable = std::all_of(written->begin(), written->end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte >= 0x20 && byte != 0x7f;
    });
    if (!written->empty() && printable) return written;
    problems.add(node, written->empty() ? "must not be empty" : "must not hold control characters");
    return std::nullopt;
}

std::string why_unreadable(const std::string& path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) return std::generic_category().message(EISDIR);
    errno = 0;
    const std::ifstream file(path, std::ios::binary);
    if (file) return {};
    return errno == 0 ? "it does not open" : std::generic_category().message(errno);
}

std::optional<bool> flag(const Node& node, Problems& problems) {
    const auto written = plain_text(node, problems, "true or false");
    if (!written) return std::nullopt;
    if (*written == "true") return true;
    if (*written == "false") return false;
    problems.add(node, "must be true or false, not '" + *written + "'");
    return std::nullopt;
}

std::optional<double> share(const Node& node, Problems& problems) {
    const auto written = plain_text(node, problems, "a number");
    if (!written) return std::nullopt;
    double value = -1;
    const auto [end, error] = std::from_chars(written->data(), written->data() + written->size(), value);
    if (error == std::errc{} && end == written->data() + written->size() && value >= 0 && value <= 1) return value;
    problems.add(node, "must be a number from 0 to 1, not '" + *written + "'");
    return std::nullopt;
}

std::vector<const Node*> items_of(const Node& node, Problems& problems) {
    std::vector<const Node*> items;
    if (node.kind != Node::Kind::list) problems.add(node, "a list is expected here, such as [a, b]");
    for (const auto& item : node.items) {
        if (item.kind == Node::Kind::blank) {
            problems.add(item, "has no value");
        } else {
            items.push_back(&item);
        }
    }
    return items;
}

std::optional<std::string> field_name(const Node& node, Problems& problems) {
    auto written = text(node, problems);
    if (!written || core::is_token(*written)) return written;
    problems.add(node, "'" + *written + "' is not a header name");
    return std::nullopt;
}

std::optional<std::vector<std::string>> field_names(const Node& node, Problems& problems) {
    const auto before = problems.count();
    std::vector<std::string> names;
    for (const Node* item : items_of(node, problems)) {
        if (auto one = field_name(*item, problems)) names.push_back(std::move(*one));
    }
    if (problems.count() != before) return std::nullopt;
    return names;
}

std::optional<std::string> http_url(const Node& node, Problems& problems) {
    auto written = text(node, problems);
    if (written && written->find('#') != std::string::npos) {
        problems.add(node, "'" + *written + "' has a fragment; the problem's own is added to it");
        return std::nullopt;
    }
    if (!written || is_http_url(*written)) return written;
    problems.add(node, "'" + *written + "' is not an http:// or https:// URL");
    return std::nullopt;
}

std::optional<std::string> json_pointer(const Node& node, Problems& problems) {
    auto written = text(node, problems);
    if (!written || is_json_pointer(*written)) return written;
    problems.add(node, "'" + *written + "' is not a JSON pointer; it begins with '/', and '~' is written ~0, '/' ~1");
    return std::nullopt;
}

std::optional<std::uint64_t> Integer::operator()(const Node& node, Problems& problems) const {
    const auto written = plain_text(node, problems, "a number");
    if (!written) return std::nullopt;
    std::string why;
    if (const auto value = parse_integer(*written, why)) {
        return within_limits(node, problems, *value, least, most, [](std::uint64_t v) { return std::to_string(v); });
    }
    if (written->starts_with('-') && parse_integer(written->substr(1), why)) {
        why = "must be from " + std::to_string(least) + " to " + std::to_string(most) + ", not " + *written;
    }
    problems.add(node, why);
    return std::nullopt;
}

std::optional<milliseconds> Duration::operator()(const Node& node, Problems& problems) const {
    const auto written = text(node, problems);
    if (!written) return std::nullopt;
    std::string why;
    if (const auto value = parse_duration(*written, why)) {
        return within_limits(node, problems, *value, least, most, duration_text);
    }
    problems.add(node, why);
    return std::nullopt;
}

std::optional<std::uint64_t> Size::operator()(const Node& node, Problems& problems) const {
    const auto written = text(node, problems);
    if (!written) return std::nullopt;
    std::string why;
    if (const auto value = parse_size(*written, why))
        return within_limits(node, problems, *value, least, most, size_text);
    problems.add(node, why);
    return std::nullopt;
}

}  // namespace oncegate::config
