// The parsing algorithms of RFC 9651 §4.2.3 to §4.2.10, step by step. Each function starts at the first byte of
// its production and stops behind the last; a failure is kept once, as a position and a fixed reason.

#include "core/structured_field.hpp"

#include <map>
#include <optional>

#include "core/ascii.hpp"
#include "core/base64.hpp"
#include "core/utf8.hpp"

namespace oncegate::core::sf {
namespace {

/// The value of a lower-case hexadecimal digit, or -1 (RFC 9651 §4.2.10 step 6.4: upper case is refused).
constexpr int lower_hex(char c) {
    if (is_digit(c)) return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

constexpr bool is_lcalpha(char c) { return c >= 'a' && c <= 'z'; }

class Parser {
 public:
    explicit Parser(std::string_view input) : input_(input) {}

    boost::system::result<Item, Failure> run() {
        skip_spaces();
        Item item;
        auto value = bare_item();
        if (!value) return failure_;
        item.value = std::move(*value);
        if (!parameters(item.parameters)) return failure_;
        skip_spaces();
        if (!at_end()) {
            fail("something follows the item");
            return failure_;
        }
        return item;
    }

 private:
    bool at_end() const { return at_ == input_.size(); }
    char peek() const { return at_end() ? '\0' : input_[at_]; }
    bool take(char wanted) {
        if (at_end() || input_[at_] != wanted) return false;
        ++at_;
        return true;
    }
    void skip_spaces() {
        while (take(' ')) {
        }
    }
    std::nullopt_t fail(const char* reason) { return fail_at(at_, reason); }
    std::nullopt_t fail_at(std::size_t position, const char* reason) {
        failure_ = Failure{position, reason};
        return std::nullopt;
    }

    std::optional<BareItem> bare_item();       // §4.2.3.1
    bool parameters(Parameters& out);          // §4.2.3.2
    std::optional<std::string_view> key();     // §4.2.3.3
    std::optional<BareItem> number();          // §4.2.4
    std::optional<BareItem> string();          // §4.2.5
    std::optional<BareItem> token();           // §4.2.6
    std::optional<BareItem> bytes();           // §4.2.7
    std::optional<BareItem> boolean();         // §4.2.8
    std::optional<BareItem> date();            // §4.2.9
    std::optional<BareItem> display_string();  // §4.2.10

    std::string_view input_;
    std::size_t at_ = 0;
    Failure failure_;
};

std::optional<BareItem> Parser::bare_item() {
    if (at_end()) return fail("the value is empty where an item is expected");
    const char first = peek();
    if (first == '-' || is_digit(first)) return number();
    if (first == '"') return string();
    if (is_alpha(first) || first == '*') return token();
    if (first == ':') return bytes();
    if (first == '?') return boolean();
    if (first == '@') return date();
    if (first == '%') return display_string();
    return fail("no item begins with this character");
}

bool Parser::parameters(Parameters& out) {
    std::map<std::string_view, std::size_t>
        places;  // names lie in the input; a search in `out` would make long lists slow
    while (take(';')) {
        skip_spaces();
        const auto name = key();
        if (!name) return false;
        BareItem value = true;
        if (take('=')) {
            auto given = bare_item();
            if (!given) return false;
            value = std::move(*given);
        }
        const auto [place, is_new] = places.try_emplace(*name, out.size());
        if (is_new) {
            out.emplace_back(std::string(*name), std::move(value));
        } else {
            out[place->second].second = std::move(value);
        }
    }
    return true;
}

std::optional<std::string_view> Parser::key() {
    if (!is_lcalpha(peek()) && peek() != '*') return fail("a parameter name begins with a lower-case letter or '*'");
    const auto start = at_;
    while (!at_end()) {
        const char c = peek();
        if (!is_lcalpha(c) && !is_digit(c) && c != '_' && c != '-' && c != '.' && c != '*') break;
        ++at_;
    }
    return input_.substr(start, at_ - start);
}

std::optional<BareItem> Parser::number() {
    const bool negative = take('-');
    if (!is_digit(peek())) return fail("a number needs a digit");
    std::int64_t value = 0;  // at most 15 digits: no overflow
    std::size_t digits = 0;
    for (; is_digit(peek()); ++at_, ++digits) {
        if (digits == 15) return fail("an integer has at most 15 digits");
        value = value * 10 + (peek() - '0');
    }
    if (peek() != '.' || at_end()) return BareItem(negative ? -value : value);
    if (digits > 12) return fail("a decimal has at most 12 digits before the point");
    ++at_;
    std::size_t fraction = 0;
    for (; is_digit(peek()); ++at_, ++fraction) {
        if (fraction == 3) return fail("a decimal has at most 3 digits after the point");
        value = value * 10 + (peek() - '0');
    }
    if (fraction == 0) return fail("a decimal needs a digit after the point");
    for (; fraction < 3; ++fraction) value *= 10;
    return BareItem(Decimal{negative ? -value : value});
}

std::optional<BareItem> Parser::string() {
    ++at_;
    std::string out;
    while (!at_end()) {
        const char c = peek();
        if (c == '\\') {
            ++at_;
            if (at_end()) return fail("the string ends inside an escape");
            if (peek() != '"' && peek() != '\\') return fail("only a double quote and a backslash can be escaped");
            out += peek();
        } else if (c == '"') {
            ++at_;
            return BareItem(std::move(out));
        } else if (c < 0x20 || c > 0x7E) {  // char may be signed or not: both leave 0x80-0xFF outside
            return fail("a string holds printable ASCII only");
        } else {
            out += c;
        }
        ++at_;
    }
    return fail("the string has no closing double quote");
}

std::optional<BareItem> Parser::token() {
    const auto start = at_;
    ++at_;
    while (!at_end() && (is_tchar(peek()) || peek() == ':' || peek() == '/')) ++at_;
    return BareItem(Token{std::string(input_.substr(start, at_ - start))});
}

std::optional<BareItem> Parser::bytes() {
    ++at_;
    const auto end = input_.find(':', at_);
    if (end == std::string_view::npos) {
        return fail_at(input_.size(), "the byte sequence has no closing colon");
    }
    auto data = decode_base64(input_.substr(at_, end - at_));
    if (!data) return fail_at(at_ + data.error(), "the byte sequence is not base64");
    at_ = end + 1;
    return BareItem(Bytes{std::move(*data)});
}

std::optional<BareItem> Parser::boolean() {
    ++at_;
    if (take('1')) return BareItem(true);
    if (take('0')) return BareItem(false);
    return fail("a boolean is ?0 or ?1");
}

std::optional<BareItem> Parser::date() {
    const auto start = at_++;
    auto seconds = number();
    if (!seconds) return std::nullopt;
    const auto* whole = std::get_if<std::int64_t>(&*seconds);
    if (whole == nullptr) return fail_at(start, "a date is a whole number of seconds");
    return BareItem(Date{*whole});
}

std::optional<BareItem> Parser::display_string() {
    ++at_;
    if (!take('"')) return fail("a display string begins with %\"");
    std::string out;
    while (!at_end()) {
        const char c = peek();
        if (c < 0x20 || c > 0x7E) return fail("a display string holds printable ASCII only");
        if (c == '"') {
            if (!is_utf8(out)) return fail("the display string is not UTF-8");
            ++at_;
            return BareItem(DisplayString{std::move(out)});
        }
        if (c != '%') {
            out += c;
            ++at_;
            continue;
        }
        const int high = at_ + 1 < input_.size() ? lower_hex(input_[at_ + 1]) : -1;
        const int low = at_ + 2 < input_.size() ? lower_hex(input_[at_ + 2]) : -1;
        if (high < 0 || low < 0) return fail("a percent sign needs two lower-case hexadecimal digits");
        out += static_cast<char>(high * 16 + low);
        at_ += 3;
    }
    return fail("the display string has no closing double quote");
}

}  // namespace

boost::system::result<Item, Failure> parse_item(std::string_view input) { return Parser(input).run(); }

}  // namespace oncegate::core::sf
