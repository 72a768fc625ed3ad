#include "core/json_reader.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "core/ascii.hpp"
#include "core/json_text.hpp"
#include "core/utf8.hpp"

namespace oncegate::core {

namespace {

constexpr std::size_t code_unit_digits = 4;

bool is_surrogate(std::uint32_t unit) { return unit >= 0xD800 && unit <= 0xDFFF; }

void append_utf8(std::string& out, std::uint32_t point) {
    const auto byte = [&](std::uint32_t value) { out.push_back(static_cast<char>(value)); };
    if (point < 0x80) {
        byte(point);
    } else if (point < 0x800) {
        byte(0xC0 | (point >> 6));
        byte(0x80 | (point & 0x3F));
    } else if (point < 0x10000) {
        byte(0xE0 | (point >> 12));
        byte(0x80 | ((point >> 6) & 0x3F));
        byte(0x80 | (point & 0x3F));
    } else {
        byte(0xF0 | (point >> 18));
        byte(0x80 | ((point >> 12) & 0x3F));
        byte(0x80 | ((point >> 6) & 0x3F));
        byte(0x80 | (point & 0x3F));
    }
}

/// Whether none of eight bytes is a quotation mark, a backslash or a control character.
bool is_plain(std::uint64_t bytes) {
    constexpr std::uint64_t each = 0x0101'0101'0101'0101;
    const auto below = [](std::uint64_t word, std::uint64_t limit) {
        return ((word - each * limit) & ~word & (each * 0x80)) != 0;
    };
    return !below(bytes, 0x20) && !below(bytes ^ (each * '"'), 1) && !below(bytes ^ (each * '\\'), 1);
}

}  // namespace

/// One pass over the text. What is open (arrays, objects) is a list of its own, so that depth costs no stack.
class JsonDocument::Reader {
 public:
    explicit Reader(JsonDocument& document) : document_(document), text_(document.text_) {}

    bool run() {
        for (;;) {
            if (!start_value()) return false;
            while (value_ == Value::complete) {
                if (open_.empty()) return skip_space() == end_of_text;
                if (!go_on()) return false;
            }
        }
    }

 private:
    struct Open {
        Index node;
        std::size_t first_name;  ///< of its own names in names_
    };
    struct Name {
        std::string_view text;
        Index node;
    };
    enum class Value : std::uint8_t { awaited, complete };
    static constexpr int end_of_text = -1;

    int peek() const { return at_ < text_.size() ? static_cast<unsigned char>(text_[at_]) : end_of_text; }

    int skip_space() {
        while (at_ < text_.size() &&
               (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
            ++at_;
        return peek();
    }

    Index add(Kind kind) {
        const auto index = static_cast<Index>(document_.nodes_.size());
        document_.nodes_.push_back({index + 1, static_cast<std::uint32_t>(at_), 0, kind, Place::text});
        return index;
    }

    bool start_value() {
        value_ = Value::complete;
        switch (skip_space()) {
            case '{': return open(Kind::object);
            case '[': return open(Kind::array);
            case '"': return string();
            case 't': return word(Kind::truth, "true");
            case 'f': return word(Kind::falsehood, "false");
            case 'n': return word(Kind::null, "null");
            default: return number();
        }
    }

    bool open(Kind kind) {
        if (open_.size() == json_depth_max) return false;
        open_.push_back({add(kind), names_.size()});
        ++at_;
        if (skip_space() == closing(kind)) return close();
        value_ = Value::awaited;
        return kind == Kind::array || name();
    }

    static char closing(Kind kind) { return kind == Kind::array ? ']' : '}'; }

    /// After a value inside an array or object: the next one, or its end.
    bool go_on() {
        const Kind kind = document_.nodes_[open_.back().node].kind;
        const int next = skip_space();
        if (next == closing(kind)) return close();
        if (next != ',') return false;
        ++at_;
        value_ = Value::awaited;
        return kind == Kind::array || name();
    }

    /// Sorting the names shows those that are equal, without comparing each with each.
    bool close() {
        ++at_;
        const Open closed = open_.back();
        open_.pop_back();
        auto& node = document_.nodes_[closed.node];
        node.end = static_cast<Index>(document_.nodes_.size());
        value_ = Value::complete;
        if (node.kind == Kind::array) return true;

        const auto first = names_.begin() + static_cast<std::ptrdiff_t>(closed.first_name);
        std::sort(first, names_.end(), [](const Name& a, const Name& b) { return a.text < b.text; });
        const auto twin =
            std::adjacent_find(first, names_.end(), [](const Name& a, const Name& b) { return a.text == b.text; });
        if (twin != names_.end()) return false;
        node.at = static_cast<std::uint32_t>(document_.sorted_names_.size());
        node.size = static_cast<std::uint32_t>(names_.end() - first);
        std::transform(first, names_.end(), std::back_inserter(document_.sorted_names_),
                       [](const Name& name) { return name.node; });
        names_.erase(first, names_.end());
        return true;
    }

    bool name() {
        if (skip_space() != '"') return false;
        const auto node = static_cast<Index>(document_.nodes_.size());
        if (!string() || skip_space() != ':') return false;
        names_.push_back({document_.text(node), node});
        ++at_;
        return true;
    }

    bool word(Kind kind, std::string_view spelling) {
        if (text_.substr(at_, spelling.size()) != spelling) return false;
        add(kind);
        at_ += spelling.size();
        return true;
    }

    bool digits() {
        const auto first = at_;
        while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
        return at_ > first;
    }

    bool number() {
        const auto node = add(Kind::number);
        const auto first = at_;
        if (peek() == '-') ++at_;
        if (peek() == '0') {
            ++at_;
        } else if (!digits()) {
            return false;
        }
        if (peek() == '.') {
            ++at_;
            if (!digits()) return false;
        }
        if (peek() == 'e' || peek() == 'E') {
            ++at_;
            if (peek() == '+' || peek() == '-') ++at_;
            if (!digits()) return false;
        }
        document_.nodes_[node].size = static_cast<std::uint32_t>(at_ - first);
        return true;
    }

    /// Up to the next quotation mark or backslash; false when the text ends before it or holds a control character.
    bool plain_characters() {
        std::uint64_t word = 0;
        for (; text_.size() - at_ >= sizeof word; at_ += sizeof word) {
            std::memcpy(&word, text_.data() + at_, sizeof word);
            if (!is_plain(word)) break;
        }
        while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\') {
            if (static_cast<unsigned char>(text_[at_]) < 0x20) return false;
            ++at_;
        }
        return at_ < text_.size();
    }

    bool string() {
        const auto node = add(Kind::string);
        const auto first = ++at_;
        if (!plain_characters()) return false;
        document_.nodes_[node].at = static_cast<std::uint32_t>(first);
        if (text_[at_] == '\\' && !unescape(node, first)) return false;
        if (document_.nodes_[node].place == Place::text)
            document_.nodes_[node].size = static_cast<std::uint32_t>(at_ - first);
        ++at_;
        return true;
    }

    bool unescape(Index node, std::size_t first) {
        auto& out = document_.unescaped_;
        out.reserve(text_.size());  // no escape is shorter than what it stands for: views of the names stay valid
        const auto begin = out.size();
        while (text_[at_] == '\\') {
            out.append(text_, first, at_ - first);
            ++at_;
            if (!escape(out)) return false;
            first = at_;
            if (!plain_characters()) return false;
        }
        out.append(text_, first, at_ - first);
        auto& made = document_.nodes_[node];
        made.place = Place::unescaped;
        made.at = static_cast<std::uint32_t>(begin);
        made.size = static_cast<std::uint32_t>(out.size() - begin);
        return true;
    }

    bool escape(std::string& out) {
        const int letter = peek();
        ++at_;
        switch (letter) {
            case '"':
            case '\\':
            case '/': out.push_back(static_cast<char>(letter)); return true;
            case 'b': out.push_back('\b'); return true;
            case 'f': out.push_back('\f'); return true;
            case 'n': out.push_back('\n'); return true;
            case 'r': out.push_back('\r'); return true;
            case 't': out.push_back('\t'); return true;
            case 'u': return code_point(out);
            default: return false;
        }
    }

    std::optional<std::uint32_t> code_unit() {
        if (text_.size() - at_ < code_unit_digits) return std::nullopt;
        std::uint32_t unit = 0;
        for (const char c : text_.substr(at_, code_unit_digits)) {
            const auto letter = static_cast<std::uint32_t>(lower(c) - 'a');
            if (!is_digit(c) && letter > 5) return std::nullopt;
            unit = unit * 16 + (is_digit(c) ? static_cast<std::uint32_t>(c - '0') : letter + 10);
        }
        at_ += code_unit_digits;
        return unit;
    }

    /// A surrogate stands for something only in a pair, the high one first (RFC 8259 §7).
    bool code_point(std::string& out) {
        const auto unit = code_unit();
        if (!unit) return false;
        if (!is_surrogate(*unit)) {
            append_utf8(out, *unit);
            return true;
        }
        if (*unit >= 0xDC00 || text_.substr(at_, 2) != "\\u") return false;
        at_ += 2;
        const auto low = code_unit();
        if (!low || !is_surrogate(*low) || *low < 0xDC00) return false;
        append_utf8(out, 0x10000 + ((*unit - 0xD800) << 10) + (*low - 0xDC00));
        return true;
    }

    JsonDocument& document_;
    std::string_view text_;
    std::size_t at_ = 0;
    Value value_ = Value::awaited;
    std::vector<Open> open_;
    std::vector<Name> names_;  ///< of all open objects, the innermost last
};

std::optional<JsonDocument> JsonDocument::read(std::string_view text) {
    if (text.size() > json_bytes_max || !is_utf8(text)) return std::nullopt;
    std::optional<JsonDocument> document(std::in_place);
    document->text_ = text;
    if (!Reader(*document).run()) return std::nullopt;
    return document;
}

std::string_view JsonDocument::text(Index node) const {
    const auto& found = nodes_[node];
    const auto whole = found.place == Place::text ? text_ : std::string_view(unescaped_);
    return whole.substr(found.at, found.size);
}

}  // namespace oncegate::core
