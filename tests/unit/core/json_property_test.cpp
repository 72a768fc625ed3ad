// Random JSON values with fixed seeds: respelled they stay equal, with one leaf changed they do not, and damaged texts
// are never taken for what they are not. Random is what to write; what it means is known from how it was made.

#include <boost/json.hpp>
#include <catch2/catch.hpp>
#include <optional>
#include <random>

#include "core/json_text.hpp"

using namespace oncegate::core;

namespace {

using Random = std::mt19937;

/// Both ends included.
int any(Random& random, int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); }
bool one_in(Random& random, int n) { return any(random, 1, n) == 1; }

/// A value as what it means: a number by its digits and the power of ten behind them, a text by its code points.
struct Value {
    enum class Kind { null, falsehood, truth, number, string, array, object };
    Kind kind = Kind::null;
    bool negative = false;
    std::string digits;  ///< empty: zero; neither begins nor ends with 0
    int exponent = 0;    ///< of the last digit
    std::u32string text;
    std::vector<std::u32string> names;
    std::vector<Value> items;
};

std::u32string some_text(Random& random) {
    const std::u32string letters = U"ab\"\\/\b\n\r\t \u0001\u001f\u007f\u00e9\u20ac\ufffe\U0001F600\U0010FFFF{}[],:0";
    std::u32string out;
    for (int left = any(random, 0, one_in(random, 8) ? 40 : 4); left > 0; --left)
        out.push_back(letters[static_cast<std::size_t>(any(random, 0, static_cast<int>(letters.size()) - 1))]);
    return out;
}

std::string some_digits(Random& random) {
    std::string digits(1, static_cast<char>('0' + any(random, 1, 9)));
    const int more = any(random, 0, one_in(random, 10) ? 60 : 3);
    for (int i = 0; i < more; ++i) digits.push_back(static_cast<char>('0' + any(random, 0, 9)));
    while (digits.back() == '0') digits.pop_back();
    return digits;
}

Value some_value(Random& random, int depth) {
    Value value;
    value.kind = static_cast<Value::Kind>(any(random, 0, depth > 0 ? 6 : 4));
    if (value.kind == Value::Kind::number && !one_in(random, 8)) {
        value.negative = one_in(random, 2);
        value.digits = some_digits(random);
        value.exponent = any(random, -12, 12);
    }
    if (value.kind == Value::Kind::string) value.text = some_text(random);
    if (value.kind != Value::Kind::array && value.kind != Value::Kind::object) return value;
    for (int left = any(random, 0, 4); left > 0; --left) {
        const auto name = some_text(random);
        if (value.kind == Value::Kind::object) {
            if (std::find(value.names.begin(), value.names.end(), name) != value.names.end()) continue;
            value.names.push_back(name);
        }
        value.items.push_back(some_value(random, depth - 1));
    }
    return value;
}

std::string space(Random& random) {
    std::string out;
    while (one_in(random, 4)) out.push_back(" \t\r\n"[any(random, 0, 3)]);
    return out;
}

std::string code_unit(Random& random, char32_t unit) {
    const std::string digits = one_in(random, 2) ? "0123456789abcdef" : "0123456789ABCDEF";
    std::string out = "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) out.push_back(digits[(unit >> shift) & 0xF]);
    return out;
}

std::string utf8(char32_t point) {
    std::string out;
    const auto byte = [&](char32_t value) { out.push_back(static_cast<char>(value)); };
    if (point < 0x80) {
        byte(point);
    } else if (point < 0x800) {
        byte(0xC0 | point >> 6), byte(0x80 | (point & 0x3F));
    } else if (point < 0x10000) {
        byte(0xE0 | point >> 12), byte(0x80 | (point >> 6 & 0x3F)), byte(0x80 | (point & 0x3F));
    } else {
        byte(0xF0 | point >> 18), byte(0x80 | (point >> 12 & 0x3F)), byte(0x80 | (point >> 6 & 0x3F));
        byte(0x80 | (point & 0x3F));
    }
    return out;
}

std::string spelled_character(Random& random, char32_t point) {
    static const std::u32string special = U"\"\\/\b\f\n\r\t";
    const auto at = special.find(point);
    const bool must = point < 0x20 || point == U'"' || point == U'\\';
    if (at != std::u32string::npos && one_in(random, 2)) return {'\\', "\"\\/bfnrt"[at]};
    if (!must && !one_in(random, 3)) return utf8(point);
    if (point < 0x10000) return code_unit(random, point);
    const auto rest = point - 0x10000;
    return code_unit(random, 0xD800 + (rest >> 10)) + code_unit(random, 0xDC00 + (rest & 0x3FF));
}

std::string spelled_text(Random& random, const std::u32string& text) {
    std::string out = "\"";
    for (const char32_t point : text) out += spelled_character(random, point);
    return out + "\"";
}

/// The point anywhere in, before or behind the digits, and the exponent that makes up for it.
std::string spelled_number(Random& random, const Value& value) {
    std::string digits = value.digits;
    int exponent = value.exponent;
    if (digits.empty()) {
        digits = "0";
        exponent = any(random, -5, 5);
    }
    for (int zeros = any(random, 0, 3); zeros > 0; --zeros, --exponent) digits += '0';
    int point = any(random, -3, static_cast<int>(digits.size()));  // digits before it
    exponent += static_cast<int>(digits.size()) - point;
    for (; point < 1; ++point) digits.insert(0, 1, '0');
    std::string whole = digits.substr(0, static_cast<std::size_t>(point));
    whole.erase(0, std::min(whole.find_first_not_of('0'), whole.size() - 1));
    const std::string fraction = digits.substr(static_cast<std::size_t>(point));

    const bool minus = value.negative || (value.digits.empty() && one_in(random, 2));
    std::string out = (minus ? "-" : "") + whole;
    if (!fraction.empty()) out += "." + fraction;
    if (exponent == 0 && one_in(random, 2)) return out;
    out += one_in(random, 2) ? "e" : "E";
    out += exponent < 0 ? "-" : one_in(random, 2) ? "+" : "";
    return out + std::string(static_cast<std::size_t>(any(random, 0, 2)), '0') + std::to_string(std::abs(exponent));
}

std::string spelled(Random& random, const Value& value) {
    switch (value.kind) {
        case Value::Kind::null: return "null";
        case Value::Kind::falsehood: return "false";
        case Value::Kind::truth: return "true";
        case Value::Kind::number: return spelled_number(random, value);
        case Value::Kind::string: return spelled_text(random, value.text);
        case Value::Kind::array:
        case Value::Kind::object: break;
    }
    const bool object = value.kind == Value::Kind::object;
    std::vector<std::size_t> order(value.items.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (object) std::shuffle(order.begin(), order.end(), random);
    std::string out = (object ? "{" : "[") + space(random);
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (i > 0) out += "," + space(random);
        if (object) out += spelled_text(random, value.names[order[i]]) + space(random) + ":" + space(random);
        out += spelled(random, value.items[order[i]]) + space(random);
    }
    return out + (object ? "}" : "]");
}

std::string document(Random& random, const Value& value) {
    return space(random) + spelled(random, value) + space(random);
}

std::vector<Value*> leaves(Value& value) {
    if (value.items.empty()) return {&value};
    std::vector<Value*> out;
    for (auto& item : value.items) {
        for (auto* leaf : leaves(item)) out.push_back(leaf);
    }
    return out;
}

/// Another value of the same or another kind.
void change(Random& random, Value& leaf) {
    if (leaf.kind == Value::Kind::number && !leaf.digits.empty()) {
        switch (any(random, 0, 3)) {
            case 0: leaf.negative = !leaf.negative; return;
            case 1: leaf.exponent += one_in(random, 2) ? 1 : -1; return;
            case 2:
                leaf.digits.back() = leaf.digits.back() == '9' ? '8' : static_cast<char>(leaf.digits.back() + 1);
                return;
            default: leaf.digits += '1'; return;
        }
    }
    if (leaf.kind == Value::Kind::string && one_in(random, 2)) {
        const auto at = static_cast<std::size_t>(any(random, 0, static_cast<int>(leaf.text.size())));
        leaf.text.insert(at, 1, U'a');
        return;
    }
    const auto before = leaf.kind;
    do {
        leaf = some_value(random, 0);
    } while (leaf.kind == before);
}

/// Some bytes changed, left out or put in, as often as not at places that matter.
std::string damaged(Random& random, std::string text) {
    const std::string pieces = "{}[],:\"\\ue0123456789.-+truefalsnl \t\n\x01\x7f\x80\xC3\xED\xFF";
    for (int times = any(random, 1, 3); times > 0; --times) {
        const auto at = static_cast<std::size_t>(any(random, 0, static_cast<int>(text.size())));
        const char piece = pieces[static_cast<std::size_t>(any(random, 0, static_cast<int>(pieces.size()) - 1))];
        switch (any(random, 0, 3)) {
            case 0: text.insert(at, 1, piece); break;
            case 1: text.erase(at, 1); break;
            case 2:
                if (at < text.size()) text[at] = piece;
                break;
            default: text.resize(at); break;
        }
    }
    return text;
}

std::optional<boost::json::value> second_opinion(const std::string& text) {
    boost::json::parse_options options;
    options.max_depth = 256;
    boost::json::error_code error;
    auto value = boost::json::parse(text, error, {}, options);
    if (error) return std::nullopt;
    return value;
}

/// As doubles, which tell less apart than decimals do.
bool roughly_equal(const boost::json::value& a, const boost::json::value& b) {
    if (a.is_number() && b.is_number()) return a.to_number<double>() == b.to_number<double>();
    if (a.kind() != b.kind()) return false;
    if (const auto* array = a.if_array()) {
        return std::equal(array->begin(), array->end(), b.get_array().begin(), b.get_array().end(), roughly_equal);
    }
    if (const auto* object = a.if_object()) {
        const auto& other = b.get_object();
        return object->size() == other.size() && std::all_of(object->begin(), object->end(), [&](const auto& member) {
                   const auto* found = other.if_contains(member.key());
                   return found != nullptr && roughly_equal(member.value(), *found);
               });
    }
    return a == b;
}

}  // namespace

TEST_CASE("a random value in another spelling stays equal", "[R47][R48]") {
    Random random(20261201);
    for (int i = 0; i < 3000; ++i) {
        const auto value = some_value(random, 5);
        const auto first = document(random, value);
        const auto second = document(random, value);
        CAPTURE(i, first, second);
        const auto digest = json_digest(first);
        REQUIRE(digest);
        REQUIRE(digest == json_digest(second));
    }
}

TEST_CASE("a random value with one leaf changed is another", "[R47][R48][R50]") {
    Random random(47);
    for (int i = 0; i < 3000; ++i) {
        auto value = some_value(random, 5);
        const auto first = document(random, value);
        const auto all = leaves(value);
        change(random, *all[static_cast<std::size_t>(any(random, 0, static_cast<int>(all.size()) - 1))]);
        const auto second = document(random, value);
        CAPTURE(i, first, second);
        REQUIRE(json_digest(second));
        REQUIRE(json_digest(first) != json_digest(second));
    }
}

TEST_CASE("a random object with one member left out is the object without it", "[R50]") {
    Random random(50);
    for (int i = 0; i < 1000; ++i) {
        Value object;
        object.kind = Value::Kind::object;
        for (int left = any(random, 0, 5); left > 0; --left) {
            object.names.push_back(U"m" + std::u32string(static_cast<std::size_t>(left), U'x'));
            object.items.push_back(some_value(random, 3));
        }
        const auto without = document(random, object);
        object.names.push_back(U"/~");
        object.items.push_back(some_value(random, 3));
        const auto with = document(random, object);
        CAPTURE(i, with, without);
        REQUIRE(json_digest(with, {"/~1~0"}) == json_digest(without));
        REQUIRE(json_digest(without, {"/~1~0"}) == json_digest(without));
        REQUIRE(json_digest(with) != json_digest(without));
    }
}

TEST_CASE("a damaged text is equal to the whole one only when it says the same", "[R48][R49]") {
    Random random(49);
    int with_value = 0;
    for (int i = 0; i < 6000; ++i) {
        const auto text = document(random, some_value(random, 4));
        const auto other = damaged(random, text);
        const auto digest = json_digest(other);
        if (!digest) continue;
        ++with_value;
        CAPTURE(i, text, other);
        const auto opinion = second_opinion(other);
        REQUIRE(opinion);  // what has a value here is JSON to others
        if (digest == json_digest(text)) {
            REQUIRE(roughly_equal(*opinion, *second_opinion(text)));
        }
    }
    CHECK(with_value > 500);
}

TEST_CASE("random bytes have a value only where others see one", "[R49]") {
    Random random(8259);
    const std::string alphabet = "{}[],:\"\\/ue0123.-+EtruefalsnlU \t\n\xC3\xA9";
    int with_value = 0;
    for (int i = 0; i < 60000; ++i) {
        std::string text;
        for (int left = any(random, 0, 6); left > 0; --left)
            text.push_back(alphabet[static_cast<std::size_t>(any(random, 0, static_cast<int>(alphabet.size()) - 1))]);
        const bool value = json_digest(text).has_value();
        if (value) ++with_value;
        CAPTURE(i, text);
        // The short texts of this alphabet can hold no two names alike, no surrogates and no depth: both must agree.
        REQUIRE(value == second_opinion(text).has_value());
    }
    CHECK(with_value > 500);
}
