#pragma once
// A hash over JSON values: equal for equal values, however they are spelled, and for no others (R47, R48). It is
// SHA-256 over one unambiguous spelling of the value, which is nowhere kept.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/digest.hpp"
#include "core/json_reader.hpp"

namespace oncegate::core {

/// Digests of one document's values, of which what some JSON pointers lead to is left out. A member that is left out is
/// as if it were not there. An element that is left out keeps its place: the array has its length, the other elements
/// theirs. Pointers that lead nowhere mean nothing. Refers to the document.
class JsonDigest {
 public:
    JsonDigest(const JsonDocument& document, const std::vector<std::string>& ignore);

    /// Of the value that the pointer leads to; "" is the whole document. Nothing when there is none, or when it is left
    /// out itself or as a part of something.
    std::optional<Digest> at(std::string_view pointer) const;

 private:
    const JsonDocument& document_;
    std::vector<JsonDocument::Index> ignored_;  ///< sorted
};

}  // namespace oncegate::core
