#include "store/batch_plan.hpp"

namespace oncegate::store {
namespace {

struct BytesOf {
    static constexpr std::size_t fixed = 128;  // ids, numbers, and what a row costs in any case

    std::size_t operator()(const Claim& operation) const {
        return fixed + operation.route.size() + operation.fingerprint.recipe.size();
    }
    std::size_t operator()(const Complete& operation) const {
        return fixed + operation.reason.size() + (operation.response ? operation.response->body.size() : 0);
    }
    std::size_t operator()(const MarkUnknown& operation) const { return fixed + operation.reason.size(); }
    std::size_t operator()(const PutChunk& operation) const { return fixed + operation.bytes.size(); }
    std::size_t operator()(const Release&) const { return fixed; }
    std::size_t operator()(const Renew&) const { return fixed; }
    std::size_t operator()(const Lookup&) const { return fixed; }
    std::size_t operator()(const GetChunk&) const { return fixed; }
};

}  // namespace

std::size_t bytes_of(const Operation& operation) { return std::visit(BytesOf{}, operation); }

}  // namespace oncegate::store
