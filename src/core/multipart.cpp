#include "core/multipart.hpp"

#include <algorithm>
#include <cstring>

#include "core/ascii.hpp"

namespace oncegate::core {

namespace {

constexpr std::string_view line_end = "\r\n";
constexpr std::size_t header_lines_max = 32;
constexpr std::size_t header_bytes_max = 16U << 10;
constexpr std::size_t parts_max = 1'000;

/// As std::string_view::find(), in linear time whatever the bytes are.
std::size_t find_in(std::string_view text, std::string_view wanted) {
    const auto* at = static_cast<const char*>(::memmem(text.data(), text.size(), wanted.data(), wanted.size()));
    return at == nullptr ? std::string_view::npos : static_cast<std::size_t>(at - text.data());
}

/// RFC 2046 §5.1.1: 1 to 70 characters, the last of which is no space.
bool is_boundary(std::string_view text) {
    constexpr std::size_t longest = 70;
    const auto allowed = [](char c) {
        return is_alpha(c) || is_digit(c) || std::string_view("'()+_,-./:=? ").find(c) != std::string_view::npos;
    };
    return !text.empty() && text.size() <= longest && text.back() != ' ' &&
           std::all_of(text.begin(), text.end(), allowed);
}

/// The three escapes that the HTML standard has for names in quotes ("multipart/form-data encoding algorithm").
std::string decode_name(std::string_view text) {
    std::string decoded;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto escape = text.substr(i, 3);
        const char meant = iequals(escape, "%22")   ? '"'
                           : iequals(escape, "%0d") ? '\r'
                           : iequals(escape, "%0a") ? '\n'
                                                    : '\0';
        decoded.push_back(meant == '\0' ? text[i] : meant);
        if (meant != '\0') i += 2;
    }
    return decoded;
}

bool holds_control(std::string_view text) {
    return std::any_of(text.begin(), text.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < 0x20 && c != '\t') || byte == 0x7F;
    });
}

}  // namespace

std::string_view MultipartPart::name() const {
    for (const auto& parameter : disposition) {
        if (parameter.name == "name") return parameter.value;
    }
    return {};
}

MultipartReader::MultipartReader(std::string_view boundary, std::string_view body) {
    if (!is_boundary(boundary)) return;
    delimiter_.append(line_end).append("--").append(boundary);
    const auto first_line = std::string_view(delimiter_).substr(line_end.size());
    if (body.starts_with(first_line)) {
        rest_ = body.substr(first_line.size());
        sound_ = true;
        return;
    }
    const auto after_preamble = find_in(body, delimiter_);
    if (after_preamble == std::string_view::npos) return;
    rest_ = body.substr(after_preamble + delimiter_.size());
    sound_ = true;
}

/// White space may stand between a boundary and its line's end (transport padding); anything else there may not: some
/// servers take such a line for a delimiter and others for content.
MultipartReader::Line MultipartReader::take_delimiter_rest() {
    const bool closes = rest_.starts_with("--");
    if (closes) rest_.remove_prefix(2);
    while (rest_.starts_with(' ') || rest_.starts_with('\t')) rest_.remove_prefix(1);
    const bool line_ends = rest_.starts_with(line_end);
    if (closes) return rest_.empty() || line_ends ? Line::close : Line::malformed;
    if (!line_ends) return Line::malformed;
    rest_.remove_prefix(line_end.size());
    return Line::another_part;
}

MultipartReader::Step MultipartReader::next(MultipartPart& part) {
    if (!sound_) return Step::malformed;
    sound_ = false;
    switch (take_delimiter_rest()) {
        case Line::close: return Step::end;
        case Line::malformed: return Step::malformed;
        case Line::another_part: break;
    }
    if (++parts_ > parts_max || !take_headers(part)) return Step::malformed;
    // Not after a line end of its own: a delimiter for some, the content's first line for others.
    if (rest_.starts_with(std::string_view(delimiter_).substr(line_end.size()))) return Step::malformed;
    const auto end = find_in(rest_, delimiter_);
    if (end == std::string_view::npos) return Step::malformed;
    part.content = rest_.substr(0, end);
    rest_.remove_prefix(end + delimiter_.size());
    sound_ = true;
    return Step::part;
}

bool MultipartReader::take_headers(MultipartPart& part) {
    part.disposition.clear();
    part.headers.clear();
    const auto head = rest_.substr(0, header_bytes_max);
    for (std::size_t at = 0; !rest_.starts_with(line_end);) {
        const auto end = head.find(line_end, at);
        if (end == std::string_view::npos || part.headers.size() == header_lines_max) return false;
        if (!take_header(head.substr(at, end - at), part)) return false;
        rest_.remove_prefix(end - at + line_end.size());
        at = end + line_end.size();
    }
    rest_.remove_prefix(line_end.size());
    return !part.disposition.empty();
}

bool MultipartReader::take_header(std::string_view line, MultipartPart& part) const {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon)) || holds_control(line)) return false;
    const auto value = trim_ows(line.substr(colon + 1));
    auto name = to_lower(line.substr(0, colon));
    if (name != "content-disposition") {
        part.headers.emplace_back(std::move(name), value);
        return true;
    }
    auto disposition = parse_parameters(value);
    if (!part.disposition.empty() || !disposition || disposition->value != "form-data") return false;
    if (disposition->find("name") == nullptr || disposition->find("name*") != nullptr) return false;
    for (auto& parameter : disposition->parameters) {
        if (parameter.name == "name" || parameter.name == "filename") parameter.value = decode_name(parameter.value);
    }
    part.disposition = std::move(disposition->parameters);
    return true;
}

}  // namespace oncegate::core
