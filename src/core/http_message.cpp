#include "core/http_message.hpp"

namespace oncegate::core {

void Fields::add(std::string_view name, std::string_view value) {
    const auto at = static_cast<std::uint32_t>(text_.size());
    text_.append(name).append(value);
    const auto name_bytes = static_cast<std::uint32_t>(name.size());
    lines_.push_back({at, name_bytes, at + name_bytes, static_cast<std::uint32_t>(value.size())});
}

void Fields::set(std::string_view name, std::string_view value) {
    remove(name);
    add(name, value);
}

std::size_t Fields::remove(std::string_view name) {
    return remove_if([&](const FieldView& line) { return iequals(line.name, name); });
}

std::optional<std::string_view> Fields::find(std::string_view name) const {
    for (const auto& line : lines_) {
        const auto field = view(line);
        if (iequals(field.name, name)) return field.value;
    }
    return std::nullopt;
}

std::size_t Fields::count(std::string_view name) const {
    std::size_t found = 0;
    for (const auto& line : lines_) found += iequals(view(line).name, name) ? 1U : 0U;
    return found;
}

std::optional<std::string> Fields::combined(std::string_view name) const {
    std::optional<std::string> joined;
    for (const auto& line : lines_) {
        const auto field = view(line);
        if (!iequals(field.name, name)) continue;
        if (joined) {
            joined->append(", ").append(field.value);
        } else {
            joined.emplace(field.value);
        }
    }
    return joined;
}

bool operator==(const Fields& a, const Fields& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

}  // namespace oncegate::core
