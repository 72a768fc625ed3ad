#pragma once
// A strict reader of JSON texts (RFC 8259) that keeps numbers as they are written: a general parser would make doubles
// of them. Whatever two parsers could read differently is refused as a whole (R49). Time is linear in the text but for
// the sorting of names; no recursion.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace oncegate::core {

/// Arrays and objects inside each other. What is deeper has no value, so that depth is no way to spend memory.
inline constexpr std::size_t json_depth_max = 128;

/// A text that was read: its values in the order of the text, each a node with an index. Of an object's member the name
/// is a node and its value the next one. Refers to the text, which must live as long.
class JsonDocument {
 public:
    using Index = std::uint32_t;
    enum class Kind : std::uint8_t { null, falsehood, truth, number, string, array, object };

    /// Nothing when the text is not JSON, not UTF-8, begins with a byte order mark, has a lone surrogate or two members
    /// of one name in an object, or is larger or deeper than the limits.
    static std::optional<JsonDocument> read(std::string_view text);

    static constexpr Index root = 0;
    Kind kind(Index node) const { return nodes_[node].kind; }

    /// A number as it was written, or a string's or name's characters, unescaped.
    std::string_view text(Index node) const;

    /// The index behind a value and all that is in it. An array's first element has the next index after its own.
    Index end(Index node) const { return nodes_[node].end; }

    /// An object's names, sorted by their bytes.
    std::span<const Index> names(Index object) const {
        return {sorted_names_.data() + nodes_[object].at, nodes_[object].size};
    }

 private:
    class Reader;
    enum class Place : std::uint8_t { text, unescaped };
    struct Node {
        Index end = 0;
        std::uint32_t at = 0;    ///< where its characters begin, or an object's names
        std::uint32_t size = 0;  ///< bytes of its characters, or the number of names
        Kind kind = Kind::null;
        Place place = Place::text;
    };

    std::string_view text_;
    std::vector<Node> nodes_;
    std::vector<Index> sorted_names_;
    std::string unescaped_;  ///< of the strings that are not written as they are
};

}  // namespace oncegate::core
