#include "core/jwt_text.hpp"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/parse.hpp>
#include <cstdint>
#include <set>

#include "core/ascii.hpp"

namespace oncegate::core {

namespace {

namespace json = boost::json;

/// The six-bit value of a character, or -1 (RFC 4648 §5).
constexpr int sextet(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (is_digit(c)) return c - '0' + 52;
    if (c == '-') return 62;
    return c == '_' ? 63 : -1;
}

/// Looks for what the parser that makes values would hide: names written twice, of which it keeps the last, and the
/// text of numbers that it rounds. The names of its members are the parser's.
class Inspection {
 public:
    static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
    static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
    static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
    static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);
    using Error = boost::system::error_code;

    bool repeated = false;
    std::vector<std::pair<std::string, std::string>> inexact;

    bool on_document_begin(Error&) { return true; }
    bool on_document_end(Error&) { return true; }
    bool on_object_begin(Error&) {
        open_.emplace_back();
        names_.emplace_back();
        return true;
    }
    bool on_object_end(std::size_t, Error&) {
        open_.pop_back();
        names_.pop_back();
        return true;
    }
    bool on_array_begin(Error&) {
        ++arrays_;
        return true;
    }
    bool on_array_end(std::size_t, Error&) {
        --arrays_;
        return true;
    }
    bool on_key_part(json::string_view part, std::size_t, Error&) {
        key_.append(part.data(), part.size());
        return true;
    }
    bool on_key(json::string_view part, std::size_t, Error&) {
        key_.append(part.data(), part.size());
        repeated = repeated || !names_.back().insert(key_).second;
        open_.back() = std::move(key_);
        key_.clear();
        return true;
    }
    bool on_string_part(json::string_view, std::size_t, Error&) { return true; }
    bool on_string(json::string_view, std::size_t, Error&) { return true; }
    bool on_number_part(json::string_view part, Error&) {
        number_.append(part.data(), part.size());
        return true;
    }
    bool on_int64(std::int64_t, json::string_view, Error&) { return end_number(); }
    bool on_uint64(std::uint64_t, json::string_view, Error&) { return end_number(); }
    bool on_double(double, json::string_view part, Error&) {
        number_.append(part.data(), part.size());
        if (open_.size() == 1 && arrays_ == 0) inexact.emplace_back(open_.back(), number_);
        return end_number();
    }
    bool on_bool(bool, Error&) { return true; }
    bool on_null(Error&) { return true; }
    bool on_comment_part(json::string_view, Error&) { return true; }
    bool on_comment(json::string_view, Error&) { return true; }

 private:
    bool end_number() {
        number_.clear();
        return true;
    }

    std::vector<std::string> open_;  ///< of each open object the member that is being read
    std::vector<std::set<std::string>> names_;
    std::size_t arrays_ = 0;
    std::string key_;
    std::string number_;
};

}  // namespace

std::optional<std::string> decode_base64url(std::string_view text) {
    if (text.size() % 4 == 1) return std::nullopt;
    std::string out;
    out.reserve(text.size() * 3 / 4);
    std::uint32_t bits = 0;
    unsigned held = 0;
    for (const char c : text) {
        const int value = sextet(c);
        if (value < 0) return std::nullopt;
        bits = (bits << 6U | static_cast<std::uint32_t>(value)) & 0xFFFFU;
        held += 6;
        if (held < 8) continue;
        held -= 8;
        out += static_cast<char>(bits >> held & 0xFFU);
    }
    if ((bits & ((1U << held) - 1U)) != 0) return std::nullopt;
    return out;
}

std::optional<JwtObject> parse_jwt_object(std::string_view text) {
    boost::system::error_code error;
    json::basic_parser<Inspection> inspection(json::parse_options{});
    const auto read = inspection.write_some(false, text.data(), text.size(), error);
    if (error || read != text.size() || inspection.handler().repeated) return std::nullopt;
    auto value = json::parse(json::string_view(text.data(), text.size()), error);
    if (error || !value.is_object()) return std::nullopt;
    return JwtObject{std::move(value.get_object()), std::move(inspection.handler().inexact)};
}

std::optional<std::string_view> string_member(const json::object& object, std::string_view name) {
    const auto* value = object.if_contains(json::string_view(name.data(), name.size()));
    if (value == nullptr || !value->is_string()) return std::nullopt;
    const auto& text = value->get_string();
    return std::string_view(text.data(), text.size());
}

}  // namespace oncegate::core
