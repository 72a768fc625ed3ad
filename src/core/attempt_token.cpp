#include "core/attempt_token.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <vector>

namespace oncegate::core {

namespace {

/// Says how the rest is laid out, should that ever change: id, owner, attempt in big-endian.
constexpr std::uint8_t layout = 1;

}  // namespace

std::string attempt_token(const RecordId& id, const OwnerToken& owner, std::uint32_t attempt) {
    std::vector<std::uint8_t> bytes{layout};
    bytes.insert(bytes.end(), id.begin(), id.end());
    bytes.insert(bytes.end(), owner.begin(), owner.end());
    for (const unsigned shift : {24U, 16U, 8U, 0U})
        bytes.push_back(static_cast<std::uint8_t>(attempt >> shift & 0xFFU));

    std::vector<std::uint8_t> encoded((bytes.size() + 2) / 3 * 4 + 1);
    const int length = EVP_EncodeBlock(encoded.data(), bytes.data(), static_cast<int>(bytes.size()));
    std::string text(encoded.begin(), encoded.begin() + length);
    std::replace(text.begin(), text.end(), '+', '-');
    std::replace(text.begin(), text.end(), '/', '_');
    text.erase(text.find_last_not_of('=') + 1);
    return text;
}

}  // namespace oncegate::core
