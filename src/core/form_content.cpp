#include "core/form_content.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "core/field_parameters.hpp"
#include "core/multipart.hpp"
#include "core/urlencoded.hpp"

namespace oncegate::core {

namespace {

constexpr std::string_view urlencoded_type = "application/x-www-form-urlencoded";
constexpr std::string_view multipart_type = "multipart/form-data";

/// Length-prefixed texts into one hash, gathered first: a form may be millions of texts of one byte each.
class FieldsHash {
 public:
    explicit FieldsHash(std::string_view kind) { text(kind); }

    void number(std::uint64_t value) {
        for (int shift = 56; shift >= 0; shift -= 8) byte(static_cast<char>((value >> shift) & 0xFFU));
    }

    void text(std::string_view bytes) {
        number(bytes.size());
        if (bytes.size() >= gathered_.size()) {
            flush();
            hash_.update(bytes);
            return;
        }
        for (const char c : bytes) byte(c);
    }

    /// Decoded twice, for its length and for its bytes, rather than copied.
    void urlencoded(std::string_view encoded) {
        std::uint64_t length = 0;
        for (UrlencodedBytes bytes(encoded); !bytes.at_end(); bytes.next()) ++length;
        number(length);
        for (UrlencodedBytes bytes(encoded); !bytes.at_end();) byte(bytes.next());
    }

    Digest finish() {
        flush();
        return hash_.finish();
    }

 private:
    void byte(char c) {
        if (used_ == gathered_.size()) flush();
        gathered_[used_++] = c;
    }

    void flush() {
        hash_.update({gathered_.data(), used_});
        used_ = 0;
    }

    Sha256 hash_;
    std::array<char, 4096> gathered_{};
    std::size_t used_ = 0;
};

std::optional<Digest> urlencoded_digest(std::string_view body) {
    if (body.size() > urlencoded_bytes_max) return std::nullopt;
    FieldsHash hash("urlencoded");
    UrlencodedReader reader(body);
    for (UrlencodedPair pair; reader.next(pair);) {
        hash.urlencoded(pair.name);
        hash.urlencoded(pair.value);
    }
    if (reader.too_many()) return std::nullopt;
    return hash.finish();
}

std::optional<Digest> multipart_digest(std::string_view boundary, std::string_view body) {
    FieldsHash hash("multipart");
    MultipartReader reader(boundary, body);
    MultipartPart part;
    for (;;) {
        const auto step = reader.next(part);
        if (step == MultipartReader::Step::malformed) return std::nullopt;
        if (step == MultipartReader::Step::end) return hash.finish();
        hash.number(part.disposition.size());
        for (const auto& parameter : part.disposition) {
            hash.text(parameter.name);
            hash.text(parameter.value);
        }
        hash.number(part.headers.size());
        for (const auto& [name, value] : part.headers) {
            hash.text(name);
            hash.text(value);
        }
        hash.text(part.content);
    }
}

std::vector<std::string> urlencoded_values(std::string_view text, std::string_view name) {
    std::vector<std::string> values;
    if (text.size() > urlencoded_bytes_max) return values;
    UrlencodedReader reader(text);
    for (UrlencodedPair pair; values.size() < form_values_max && reader.next(pair);) {
        if (urlencoded_equals(pair.name, name)) values.push_back(decode_urlencoded(pair.value, form_value_bytes_max));
    }
    if (reader.too_many()) values.clear();
    return values;
}

/// A body that turns out to be malformed further on is no form, and its fields are none.
std::vector<std::string> multipart_values(std::string_view boundary, std::string_view body, std::string_view name) {
    std::vector<std::string> values;
    MultipartReader reader(boundary, body);
    MultipartPart part;
    for (auto step = reader.next(part); step != MultipartReader::Step::end; step = reader.next(part)) {
        if (step == MultipartReader::Step::malformed) return {};
        if (part.name() != name || values.size() == form_values_max) continue;
        values.emplace_back(part.content.substr(0, form_value_bytes_max));
    }
    return values;
}

}  // namespace

std::optional<Digest> form_digest(std::string_view content_type, std::string_view body) {
    const auto type = parse_parameters(content_type);
    if (!type) return std::nullopt;
    if (type->value == urlencoded_type) return urlencoded_digest(body);
    const auto* boundary = type->value == multipart_type ? type->find("boundary") : nullptr;
    return boundary == nullptr ? std::nullopt : multipart_digest(boundary->value, body);
}

std::vector<std::string> form_values(std::string_view content_type, std::string_view body, std::string_view name) {
    const auto type = parse_parameters(content_type);
    if (!type) return {};
    if (type->value == urlencoded_type) return urlencoded_values(body, name);
    const auto* boundary = type->value == multipart_type ? type->find("boundary") : nullptr;
    return boundary == nullptr ? std::vector<std::string>() : multipart_values(boundary->value, body, name);
}

std::vector<std::string> query_values(std::string_view query, std::string_view name) {
    return urlencoded_values(query, name);
}

std::string without_boundary(std::string_view content_type) {
    const auto type = parse_parameters(content_type);
    const auto* boundary = type && type->value == multipart_type ? type->find("boundary") : nullptr;
    std::string text(content_type);
    if (boundary != nullptr) text.erase(boundary->begin, boundary->end - boundary->begin);
    return text;
}

}  // namespace oncegate::core
