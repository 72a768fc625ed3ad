#include "core/json_digest.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "core/json_number.hpp"
#include "core/json_pointer.hpp"

namespace oncegate::core {

namespace {

using Index = JsonDocument::Index;
using Kind = JsonDocument::Kind;

/// Bytes on their way into the hash, gathered: feeding it costs more than the few bytes of most values.
class Gathered {
 public:
    void put(char c) {
        if (size_ == buffer_.size()) flush();
        buffer_[size_++] = c;
    }
    void put(std::string_view bytes) {
        if (bytes.size() > buffer_.size() - size_) flush();
        if (bytes.size() > buffer_.size()) return hash_.update(bytes);
        std::copy(bytes.begin(), bytes.end(), buffer_.begin() + static_cast<std::ptrdiff_t>(size_));
        size_ += bytes.size();
    }
    /// Seven bits a byte, the last with the eighth clear: no length is the beginning of another.
    void put_length(std::size_t length) {
        for (; length > 0x7F; length >>= 7) put(static_cast<char>(0x80 | (length & 0x7F)));
        put(static_cast<char>(length));
    }
    void put_prefixed(std::string_view bytes) {
        put_length(bytes.size());
        put(bytes);
    }
    Digest finish() {
        flush();
        return hash_.finish();
    }

 private:
    void flush() {
        hash_.update({buffer_.data(), size_});
        size_ = 0;
    }

    Sha256 hash_;
    std::array<char, 1024> buffer_;
    std::size_t size_ = 0;
};

/// Each value begins with a byte of its own and is a prefix of no other, so that different values cannot meet.
namespace tag {
constexpr char null = 'n';
constexpr char falsehood = 'f';
constexpr char truth = 't';
constexpr char zero = '0';
constexpr char positive = '+';
constexpr char negative = '-';
constexpr char string = '"';
constexpr char array = '[';
constexpr char array_end = ']';
constexpr char object = '{';
constexpr char object_end = '}';
constexpr char left_out = '_';
}  // namespace tag

void put_number(Gathered& out, std::string_view number) {
    const auto decimal = exact_decimal(number);
    if (decimal.sign == Decimal::Sign::zero) return out.put(tag::zero);
    out.put(decimal.sign == Decimal::Sign::negative ? tag::negative : tag::positive);
    out.put_prefixed(decimal.exponent);
    out.put_length(decimal.first_digits.size() + decimal.second_digits.size());
    out.put(decimal.first_digits);
    out.put(decimal.second_digits);
}

/// Walks over a value and what is in it. Its own list of what is open takes the place of recursion.
class Walk {
 public:
    Walk(const JsonDocument& document, const std::vector<Index>& ignored) : document_(document), ignored_(ignored) {}

    Digest digest(Index value) {
        put(value);
        while (!open_.empty()) go_on();
        return out_.finish();
    }

 private:
    struct Open {
        Index node;
        Index next;  ///< of an array: the next element's node; of an object: the number of the next member
    };

    bool is_ignored(Index value) const {
        return !ignored_.empty() && std::binary_search(ignored_.begin(), ignored_.end(), value);
    }

    void put(Index value) {
        switch (document_.kind(value)) {
            case Kind::null: return out_.put(tag::null);
            case Kind::falsehood: return out_.put(tag::falsehood);
            case Kind::truth: return out_.put(tag::truth);
            case Kind::number: return put_number(out_, document_.text(value));
            case Kind::string: return put_string(value);
            case Kind::array: out_.put(tag::array); return open_.push_back({value, value + 1});
            case Kind::object: out_.put(tag::object); return open_.push_back({value, 0});
        }
        std::abort();
    }

    void put_string(Index value) {
        out_.put(tag::string);
        out_.put_prefixed(document_.text(value));
    }

    void go_on() {
        Open& open = open_.back();
        if (document_.kind(open.node) == Kind::array) {
            const Index element = open.next;
            if (element == document_.end(open.node)) return close(tag::array_end);
            open.next = document_.end(element);
            return is_ignored(element) ? out_.put(tag::left_out) : put(element);
        }
        const auto names = document_.names(open.node);
        if (open.next == names.size()) return close(tag::object_end);
        const Index name = names[open.next++];
        if (is_ignored(name + 1)) return;
        put_string(name);
        put(name + 1);
    }

    void close(char end) {
        out_.put(end);
        open_.pop_back();
    }

    const JsonDocument& document_;
    const std::vector<Index>& ignored_;
    Gathered out_;
    std::vector<Open> open_;
};

}  // namespace

JsonDigest::JsonDigest(const JsonDocument& document, const std::vector<std::string>& ignore) : document_(document) {
    for (const auto& pointer : ignore) {
        if (const auto found = json_find(document, pointer)) ignored_.push_back(*found);
    }
    std::sort(ignored_.begin(), ignored_.end());
}

std::optional<Digest> JsonDigest::at(std::string_view pointer) const {
    const auto value = json_find(document_, pointer);
    if (!value) return std::nullopt;
    const bool left_out = std::any_of(ignored_.begin(), ignored_.end(), [&](Index ignored) {
        return ignored <= *value && *value < document_.end(ignored);
    });
    if (left_out) return std::nullopt;
    return Walk(document_, ignored_).digest(*value);
}

}  // namespace oncegate::core
