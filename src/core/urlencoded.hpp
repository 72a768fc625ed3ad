#pragma once
// application/x-www-form-urlencoded, as the WHATWG URL standard (§5.1) parses it: nothing is malformed, an escape that
// is none stands for itself. Text is read where it lies and decoded byte by byte; bytes need not be UTF-8.

#include <string>
#include <string_view>

namespace oncegate::core {

/// The bytes that an encoded name or value stands for, one by one.
class UrlencodedBytes {
 public:
    enum class Plus : bool { is_plus, is_space };

    explicit UrlencodedBytes(std::string_view encoded, Plus plus = Plus::is_space) : rest_(encoded), plus_(plus) {}

    bool at_end() const { return rest_.empty(); }

    /// The next one; not at the end.
    char next() {
        const char c = rest_.front();
        if (c == '%' && rest_.size() > 2) {
            const int high = digit(rest_[1]);
            const int low = digit(rest_[2]);
            if (high >= 0 && low >= 0) {
                rest_.remove_prefix(3);
                return static_cast<char>(high * 16 + low);
            }
        }
        rest_.remove_prefix(1);
        return c == '+' && plus_ == Plus::is_space ? ' ' : c;
    }

 private:
    static constexpr int digit(char c) {
        if (c >= '0' && c <= '9') return c - '0';
        if (c >= 'a' && c <= 'f') return c - 'a' + 10;
        return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
    }

    std::string_view rest_;
    Plus plus_;
};

/// One pair, as it is written.
struct UrlencodedPair {
    std::string_view name;
    std::string_view value;
};

/// Goes through the pairs of a text in their order; empty ones are skipped, and counted.
class UrlencodedReader {
 public:
    /// More pairs than any form has cost more time than a request may take from others.
    static constexpr std::size_t pairs_max = 10'000;

    explicit UrlencodedReader(std::string_view text) : rest_(text) {}

    /// False when there is no further pair, or there are too many.
    bool next(UrlencodedPair& pair);

    bool too_many() const { return pairs_ > pairs_max; }

 private:
    std::string_view rest_;
    std::size_t pairs_ = 0;
};

/// Whether `encoded` stands for `text`.
bool urlencoded_equals(std::string_view encoded, std::string_view text);

/// What `encoded` stands for, no more than `most` bytes of it.
std::string decode_urlencoded(std::string_view encoded, std::size_t most,
                              UrlencodedBytes::Plus plus = UrlencodedBytes::Plus::is_space);

}  // namespace oncegate::core
