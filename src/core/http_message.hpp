#pragma once
// Message heads as they were received: field lines keep their order, their spelling and their repeats (R74), because a
// replay must equal the first delivery line by line. Nothing here is parsed or combined.

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ascii.hpp"

namespace oncegate::core {

/// One field line, seen in place. Valid until the Fields it came from is changed.
struct FieldView {
    std::string_view name;
    std::string_view value;  ///< without surrounding white space; otherwise the bytes as received, obs-text included

    friend bool operator==(const FieldView&, const FieldView&) = default;
};

/// An ordered list of field lines. Names are compared without case and stored as spelled.
/// All text lies in one buffer: a head costs two allocations however many lines it has.
class Fields {
 public:
    class const_iterator {
     public:
        using iterator_category = std::input_iterator_tag;
        using value_type = FieldView;
        using difference_type = std::ptrdiff_t;
        using pointer = const FieldView*;
        using reference = FieldView;

        const_iterator(const Fields* owner, std::size_t index) : owner_(owner), index_(index) {}
        FieldView operator*() const { return (*owner_)[index_]; }
        const_iterator& operator++() {
            ++index_;
            return *this;
        }
        const_iterator operator++(int) {
            auto old = *this;
            ++index_;
            return old;
        }
        friend bool operator==(const const_iterator& a, const const_iterator& b) { return a.index_ == b.index_; }

     private:
        const Fields* owner_;
        std::size_t index_;
    };

    Fields() = default;
    Fields(std::initializer_list<FieldView> lines) {
        for (const auto& line : lines) add(line.name, line.value);
    }

    void reserve(std::size_t lines, std::size_t bytes) {
        lines_.reserve(lines);
        text_.reserve(bytes);
    }

    /// Appends a line; an earlier line of the same name stays.
    void add(std::string_view name, std::string_view value);

    /// Removes every line called `name` and appends one.
    void set(std::string_view name, std::string_view value);

    /// Removes every line called `name`; how many there were.
    std::size_t remove(std::string_view name);

    /// Removes every line for which `unwanted(FieldView)` holds.
    template <class Predicate>
    std::size_t remove_if(Predicate unwanted) {
        return std::erase_if(lines_, [&](const Line& line) { return unwanted(view(line)); });
    }

    /// The value of the first line called `name`.
    std::optional<std::string_view> find(std::string_view name) const;

    std::size_t count(std::string_view name) const;
    bool contains(std::string_view name) const { return find(name).has_value(); }

    /// Every value of `name` in order, joined by ", " (RFC 9110 §5.3); nothing when there is no such line.
    std::optional<std::string> combined(std::string_view name) const;

    std::size_t size() const { return lines_.size(); }
    bool empty() const { return lines_.empty(); }
    FieldView operator[](std::size_t index) const { return view(lines_[index]); }
    const_iterator begin() const { return const_iterator(this, 0); }
    const_iterator end() const { return const_iterator(this, lines_.size()); }

    /// Same lines in the same order, byte for byte.
    friend bool operator==(const Fields& a, const Fields& b);

 private:
    struct Line {
        std::uint32_t name_at, name_bytes, value_at, value_bytes;
    };
    FieldView view(const Line& line) const {
        const std::string_view text(text_);
        return {text.substr(line.name_at, line.name_bytes), text.substr(line.value_at, line.value_bytes)};
    }

    std::string text_;
    std::vector<Line> lines_;
};

enum class HttpVersion : std::uint8_t { http10, http11 };

struct RequestHead {
    std::string method;
    std::string target;  ///< byte for byte as received (R126)
    HttpVersion version = HttpVersion::http11;
    Fields fields;
};

struct ResponseHead {
    HttpVersion version = HttpVersion::http11;
    int status = 0;
    std::string reason;
    Fields fields;
};

}  // namespace oncegate::core
