#include "core/json_text.hpp"

#include "core/json_digest.hpp"
#include "core/json_pointer.hpp"

namespace oncegate::core {

JsonText json_text_at(std::string_view json, std::string_view pointer) {
    const auto document = JsonDocument::read(json);
    if (!document) return {JsonText::Kind::not_json, {}};
    const auto found = json_find(*document, pointer);
    if (!found) return {JsonText::Kind::absent, {}};
    if (document->kind(*found) != JsonDocument::Kind::string) return {JsonText::Kind::other, {}};
    return {JsonText::Kind::string, std::string(document->text(*found))};
}

std::optional<Digest> json_digest(std::string_view json, const std::vector<std::string>& ignore) {
    const auto document = JsonDocument::read(json);
    if (!document) return std::nullopt;
    return JsonDigest(*document, ignore).at("");
}

}  // namespace oncegate::core
