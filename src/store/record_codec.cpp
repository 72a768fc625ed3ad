#include "store/record_codec.hpp"

#include <algorithm>
#include <concepts>
#include <cstdint>

namespace oncegate::store {
namespace {

constexpr char head_version = 1;
constexpr char fingerprint_version = 1;

template <std::unsigned_integral Integer>
void put(std::string& out, Integer value) {
    for (int shift = static_cast<int>(sizeof(Integer) - 1) * 8; shift >= 0; shift -= 8)
        out.push_back(static_cast<char>(static_cast<std::uint8_t>(value >> shift)));
}

void put_text(std::string& out, std::string_view text) {
    put(out, static_cast<std::uint32_t>(text.size()));
    out.append(text);
}

/// Takes values from the front; once one is missing, everything after it is too.
class Reader {
 public:
    explicit Reader(std::string_view bytes) : left_(bytes) {}

    template <std::unsigned_integral Integer>
    Integer take() {
        const auto raw = take_bytes(sizeof(Integer));
        std::uint64_t value = 0;
        for (const char byte : raw) value = value << 8 | static_cast<std::uint8_t>(byte);
        return static_cast<Integer>(value);
    }

    std::string_view take_bytes(std::size_t count) {
        if (count > left_.size()) {
            broken_ = true;
            left_ = {};
            return {};
        }
        const auto taken = left_.substr(0, count);
        left_.remove_prefix(count);
        return taken;
    }

    std::string_view take_text() { return take_bytes(take<std::uint32_t>()); }

    /// A count of items that each need at least `item_bytes`: a larger one than can follow is damage, not a reason to
    /// allocate.
    std::size_t take_count(std::size_t item_bytes) {
        const std::size_t count = take<std::uint32_t>();
        if (count > left_.size() / item_bytes) broken_ = true;
        return broken_ ? 0 : count;
    }

    std::size_t left() const { return left_.size(); }
    bool ended_well() const { return !broken_ && left_.empty(); }

 private:
    std::string_view left_;
    bool broken_ = false;
};

}  // namespace

std::string encode_head(const core::StoredResponse& response) {
    std::size_t bytes = 1 + 2 + 4 + response.reason.size() + 4;
    for (const auto line : response.fields) bytes += 8 + line.name.size() + line.value.size();
    std::string out;
    out.reserve(bytes);
    out.push_back(head_version);
    put(out, static_cast<std::uint16_t>(response.status));
    put_text(out, response.reason);
    put(out, static_cast<std::uint32_t>(response.fields.size()));
    for (const auto line : response.fields) {
        put_text(out, line.name);
        put_text(out, line.value);
    }
    return out;
}

std::optional<core::StoredResponse> decode_head(std::string_view bytes) {
    if (bytes.empty() || bytes.front() != head_version) return std::nullopt;
    Reader reader(bytes.substr(1));
    core::StoredResponse response;
    response.status = reader.take<std::uint16_t>();
    response.reason = reader.take_text();
    const auto lines = reader.take_count(8);
    response.fields.reserve(lines, reader.left());
    for (std::size_t index = 0; index < lines; ++index) {
        const auto name = reader.take_text();
        const auto value = reader.take_text();
        response.fields.add(name, value);
    }
    if (!reader.ended_well() || response.status < 100 || response.status > 999) return std::nullopt;
    return response;
}

std::string encode_fingerprint(const core::Fingerprint& fingerprint) {
    std::string out;
    out.reserve(1 + 4 + fingerprint.recipe.size() + fingerprint.digest.size() + 4 + 8 * fingerprint.parts.size());
    out.push_back(fingerprint_version);
    put_text(out, fingerprint.recipe);
    for (const auto byte : fingerprint.digest) out.push_back(static_cast<char>(byte));
    put(out, static_cast<std::uint32_t>(fingerprint.parts.size()));
    for (const auto part : fingerprint.parts) put(out, part);
    return out;
}

std::optional<core::Fingerprint> decode_fingerprint(std::string_view bytes) {
    if (bytes.empty() || bytes.front() != fingerprint_version) return std::nullopt;
    Reader reader(bytes.substr(1));
    core::Fingerprint fingerprint;
    fingerprint.recipe = reader.take_text();
    const auto digest = reader.take_bytes(fingerprint.digest.size());
    std::transform(digest.begin(), digest.end(), fingerprint.digest.begin(),
                   [](char byte) { return static_cast<std::uint8_t>(byte); });
    const auto parts = reader.take_count(8);
    fingerprint.parts.reserve(parts);
    for (std::size_t index = 0; index < parts; ++index) fingerprint.parts.push_back(reader.take<std::uint64_t>());
    if (!reader.ended_well()) return std::nullopt;
    return fingerprint;
}

}  // namespace oncegate::store
