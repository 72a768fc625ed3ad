// key.pattern, by RE2: time linear in the key, whatever the expression (R26).

#include <re2/re2.h>

#include "core/idempotency_key.hpp"

namespace oncegate::core {

namespace {
constexpr std::int64_t pattern_memory_bytes = 1 << 20;
}  // namespace

struct KeyPattern::Compiled {
    Compiled(std::string_view text, const re2::RE2::Options& options)
        : expression(re2::StringPiece(text.data(), text.size()), options) {}
    re2::RE2 expression;
};

std::shared_ptr<const KeyPattern> KeyPattern::compile(std::string_view expression, std::string& why) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_never_capture(true);
    options.set_max_mem(pattern_memory_bytes);
    auto compiled = std::make_unique<Compiled>(expression, options);
    if (!compiled->expression.ok()) {
        why = compiled->expression.error();
        return nullptr;
    }
    return std::shared_ptr<const KeyPattern>(new KeyPattern(std::move(compiled)));
}

KeyPattern::KeyPattern(std::unique_ptr<Compiled> compiled) : compiled_(std::move(compiled)) {}

KeyPattern::~KeyPattern() = default;

bool KeyPattern::matches(std::string_view key) const {
    return re2::RE2::FullMatch(re2::StringPiece(key.data(), key.size()), compiled_->expression);
}

}  // namespace oncegate::core
