#pragma once
// The key of a request: found in the places that the policy names (R7-R9) and read by its syntax (R11-R33, R141, R142).
// Checked before any store or upstream work.

#include <boost/system/result.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/http_message.hpp"
#include "core/policy.hpp"

namespace oncegate::core {

/// A compiled pattern that must match the whole key. Immutable; any thread.
class KeyPattern {
 public:
    /// Nothing when the expression is not valid RE2 syntax; `why` then says what is wrong.
    static std::shared_ptr<const KeyPattern> compile(std::string_view expression, std::string& why);
    ~KeyPattern();
    bool matches(std::string_view key) const;

 private:
    struct Compiled;
    explicit KeyPattern(std::unique_ptr<Compiled> compiled);
    std::unique_ptr<Compiled> compiled_;
};

struct KeyFault {
    enum class Kind : std::uint8_t { missing, invalid };
    Kind kind = Kind::invalid;
    std::string detail;  ///< what is wrong and what to send; never holds the key
};

/// Whether a key can lie in the content: read_key() needs it then.
bool reads_content(const KeyRule& rule);

/// What a request without a key gets.
enum class Keyless : std::uint8_t {
    refused,
    forwarded,
    announced,  ///< forwarded, but only until the date from which the key is required
};
Keyless when_missing(const KeyRule& rule, std::chrono::sys_seconds now);

/// The key of a request under `rule`; `content` is the whole body when reads_content(rule). A compound key joins its
/// parts, each length-prefixed; syntax, limits and pattern hold for each part. The first alternative whose places all
/// hold something gives the key. A place that is there and malformed or repeated is a fault whatever the others hold,
/// and so are two alternatives of as many parts that disagree. Of an event in the binary mode of CloudEvents, only the
/// head is read. Read it from the head as received, before hop-by-hop fields are removed (R121).
boost::system::result<std::string, KeyFault> read_key(const KeyRule& rule, const RequestHead& head,
                                                      std::string_view content = {});

/// The parts of a compound key, in their order; a plain key alone. Views into `key`.
std::vector<std::string_view> key_parts(std::string_view key);

/// One raw field value, without the white space around it, by one syntax, limits of `rule` applied. Exposed for the
/// explain command and for tests.
boost::system::result<std::string, KeyFault> parse_key(const KeyRule& rule, std::string_view field_value);

}  // namespace oncegate::core
