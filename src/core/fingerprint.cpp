#include "core/fingerprint.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/ascii.hpp"
#include "core/form_content.hpp"
#include "core/head_rules.hpp"
#include "core/json_digest.hpp"

namespace oncegate::core {

namespace {

/// Absence and an empty value are different values.
Digest hash_of(const std::optional<std::string_view>& value) {
    Sha256 hash;
    hash.update(value ? std::string_view("\1", 1) : std::string_view("\0", 1));
    if (value) hash.update(*value);
    return hash.finish();
}

/// What was made of the content says how, so that a hash of bytes is never one of a value.
Digest tagged(std::string_view how, const Digest& digest) {
    Sha256 hash;
    hash.update_prefixed(how);
    hash.update(digest);
    return hash.finish();
}

bool has_part(const FingerprintRule& rule, FingerprintPart::Kind kind) {
    return std::any_of(rule.include.begin(), rule.include.end(),
                       [&](const FingerprintPart& part) { return part.kind == kind; });
}

bool reads_json(const FingerprintRule& rule) {
    return has_part(rule, FingerprintPart::Kind::json) ||
           (has_part(rule, FingerprintPart::Kind::body) && rule.body == BodyComparison::json);
}

/// The parts of one request, hashed by a rule. However many of them are JSON, the content is read once.
class Parts {
 public:
    Parts(const FingerprintRule& rule, const RequestHead& head, const Content& content)
        : rule_(rule), head_(head), content_(content), target_(split_target(head.target)) {
        if (!reads_json(rule)) return;
        document_ = JsonDocument::read(content.bytes);
        if (document_) values_.emplace(*document_, rule.ignore);
    }
    Parts(const Parts&) = delete;
    Parts& operator=(const Parts&) = delete;

    Digest hash(const FingerprintPart& part) const {
        switch (part.kind) {
            case FingerprintPart::Kind::method: return hash_of(head_.method);
            case FingerprintPart::Kind::path: return hash_of(target_.path);
            case FingerprintPart::Kind::query: return hash_of(target_.query);
            case FingerprintPart::Kind::header: return header(part.name);
            case FingerprintPart::Kind::body: return body();
            case FingerprintPart::Kind::json: return value_at(part.name);
        }
        std::abort();
    }

 private:
    /// Each try of a form's sender makes a boundary of its own (R46).
    Digest header(std::string_view name) const {
        auto value = head_.fields.combined(name);
        if (value && rule_.body == BodyComparison::form && iequals(name, "Content-Type")) {
            value = without_boundary(*value);
        }
        return hash_of(value ? std::optional<std::string_view>(*value) : std::nullopt);
    }

    Digest body() const {
        switch (rule_.body) {
            case BodyComparison::bytes: return content_.digest;
            case BodyComparison::json: return value_at("");
            case BodyComparison::form: {
                const auto fields = form_digest(head_.fields.combined("Content-Type").value_or(""), content_.bytes);
                return fields ? tagged("form", *fields) : tagged("bytes", content_.digest);
            }
        }
        std::abort();
    }

    /// A value, none, and a content that has no values are three things; the last is compared as bytes (R49, R50).
    Digest value_at(std::string_view pointer) const {
        if (!values_) return tagged("bytes", content_.digest);
        const auto value = values_->at(pointer);
        return value ? tagged("json", *value) : tagged("absent", {});
    }

    const FingerprintRule& rule_;
    const RequestHead& head_;
    const Content& content_;
    TargetParts target_;
    std::optional<JsonDocument> document_;
    std::optional<JsonDigest> values_;  ///< of the document
};

std::uint64_t first_bytes(const Digest& digest) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 8; ++i) value = (value << 8) | digest[i];
    return value;
}

}  // namespace

bool reads_content(const FingerprintRule& rule) {
    if (rule.off) return false;
    const bool whole = has_part(rule, FingerprintPart::Kind::body) && rule.body != BodyComparison::bytes;
    return whole || reads_json(rule);
}

Fingerprint fingerprint(const FingerprintRule& rule, const RequestHead& head, const Content& content) {
    Fingerprint made;
    made.recipe = recipe_of(rule);
    if (rule.off) return made;
    const Parts parts(rule, head, content);
    Sha256 whole;
    whole.update_prefixed(made.recipe);
    made.parts.reserve(rule.include.size());
    for (const auto& part : rule.include) {
        const Digest digest = parts.hash(part);
        whole.update(digest);
        made.parts.push_back(first_bytes(digest));
    }
    made.digest = whole.finish();
    return made;
}

}  // namespace oncegate::core
