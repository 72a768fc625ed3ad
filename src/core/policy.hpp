#pragma once
// The idempotency policy of one route, complete: every choice the configuration offers, as plain values with the
// documented defaults. `config/load` fills it once; after that no text is parsed again. Meaning of each key:
// config/README.md.

#include <bitset>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/error_template.hpp"

namespace oncegate::core {

using std::chrono::milliseconds;

/// A set of HTTP statuses, as `record.free_statuses` and its like write it.
class StatusSet {
 public:
    StatusSet() = default;
    StatusSet(std::initializer_list<int> statuses) {
        for (const int status : statuses) add(status, status);
    }
    /// Adds first..last; both within 100..599.
    StatusSet& add(int first, int last) {
        for (int status = first; status <= last; ++status) bits_.set(static_cast<std::size_t>(status));
        return *this;
    }
    bool contains(int status) const {
        return status >= 0 && status < 600 && bits_.test(static_cast<std::size_t>(status));
    }
    bool empty() const { return bits_.none(); }
    bool overlaps(const StatusSet& other) const { return (bits_ & other.bits_).any(); }
    /// "307, 308, 500-599": the shortest list of numbers and ranges.
    std::string describe() const;

    friend bool operator==(const StatusSet&, const StatusSet&) = default;

 private:
    std::bitset<600> bits_;
};

enum class Mode : std::uint8_t { enforce, shadow, off };

enum class KeySyntax : std::uint8_t { string, bare, any };

struct KeyLocation {
    enum class Kind : std::uint8_t { header, query, json, form };
    Kind kind = Kind::header;
    std::string name;  ///< field name, parameter name or JSON pointer

    friend bool operator==(const KeyLocation&, const KeyLocation&) = default;
};

/// A compiled `key.pattern`; matches the whole key in time linear in its length (RE2).
class KeyPattern;

struct KeyRule {
    enum class Required : std::uint8_t { yes, no, from_date };

    /// Alternatives in order of preference, each a compound of one or more locations that must all be there.
    /// `header:N` is {{N}}, `{all: [a, b]}` is {{a, b}}, `{any: [a, b]}` is {{a}, {b}}.
    std::vector<std::vector<KeyLocation>> from{{KeyLocation{KeyLocation::Kind::header, "Idempotency-Key"}}};
    Required required = Required::yes;
    std::chrono::sys_seconds required_from{};  ///< with Required::from_date
    KeySyntax syntax = KeySyntax::string;
    std::size_t min_length = 1;    ///< characters of the parsed key
    std::size_t max_length = 255;  ///< likewise
    std::string pattern_text;      ///< as written; empty: none
    std::shared_ptr<const KeyPattern> pattern;
    bool reject_personal_data = false;
    bool ignore_uuid_case = false;  ///< a key that has the form of a UUID counts as written in lower case
};

struct ScopePart {
    enum class Kind : std::uint8_t { route, method, host, path, header, jwt, client_cert, client_ip, auth };
    Kind kind = Kind::route;
    std::string name;       ///< header, claim or authorisation header
    bool optional = false;  ///< written with `?`: may be absent, which is a scope of its own

    friend bool operator==(const ScopePart&, const ScopePart&) = default;
};

struct FingerprintPart {
    enum class Kind : std::uint8_t { method, path, query, header, body, json };
    Kind kind = Kind::body;
    std::string name;       ///< header name or JSON pointer
    bool optional = false;  ///< written with `?`; absence is a value of its own either way

    friend bool operator==(const FingerprintPart&, const FingerprintPart&) = default;
};

enum class BodyComparison : std::uint8_t { bytes, json, form };

struct FingerprintRule {
    bool off = false;  ///< `fingerprint: off`: the key alone decides
    std::vector<FingerprintPart> include{{FingerprintPart::Kind::method, {}, false},
                                         {FingerprintPart::Kind::path, {}, false},
                                         {FingerprintPart::Kind::query, {}, false},
                                         {FingerprintPart::Kind::header, "Content-Type", true},
                                         {FingerprintPart::Kind::body, {}, false}};
    BodyComparison body = BodyComparison::bytes;
    std::vector<std::string> ignore;  ///< JSON pointers
    int mismatch_status = 422;
};

struct InFlightRule {
    enum class Action : std::uint8_t { reject, wait };
    Action action = Action::reject;
    milliseconds wait{0};       ///< with Action::wait
    std::size_t waiters = 100;  ///< with Action::wait: requests of one process that may wait for one key
    milliseconds retry_after{1000};
};

enum class UnknownOutcome : std::uint8_t { hold, ask, retry, fail };

struct AskRule {
    std::string get;  ///< path template with `{key}`
    StatusSet done{200};
    StatusSet not_done{404};
};

enum class AcceptEncoding : std::uint8_t { as_is, identity };

struct RecordRule {
    StatusSet free_statuses{307, 308, 401, 403, 407, 408, 409, 421, 423, 425, 429, 503};
    StatusSet unknown_statuses{502, 504};
    bool upstream_decides = false;
    std::uint64_t body_limit = 64ULL << 20;  ///< bytes
    std::vector<std::string> exclude_headers;
    bool respect_no_store = false;
    AcceptEncoding accept_encoding = AcceptEncoding::as_is;
};

struct ReplayRule {
    enum class Content : std::uint8_t { stored, refresh };
    enum class Date : std::uint8_t { original, now };
    Content mode = Content::stored;
    std::string marker = "Idempotent-Replayed";  ///< empty: none
    Date date = Date::original;
    std::vector<std::string> exclude_headers;
};

enum class AfterTtl : std::uint8_t { execute, reject };
enum class StoreDown : std::uint8_t { reject, pass };

struct Policy {
    std::string preset = "ietf";
    Mode mode = Mode::enforce;
    KeyRule key;
    std::vector<ScopePart> scope;
    FingerprintRule fingerprint;
    InFlightRule in_flight;
    milliseconds lease{60'000};
    UnknownOutcome unknown_outcome = UnknownOutcome::hold;
    AskRule ask;
    RecordRule record;
    ReplayRule replay;
    milliseconds ttl{24 * 3'600'000LL};
    AfterTtl after_ttl = AfterTtl::execute;
    milliseconds tombstone{0};
    StoreDown store_down = StoreDown::reject;
    ErrorTemplates errors;      ///< empty: problem documents
    std::string documentation;  ///< URL; empty: the built-in policy page
    milliseconds suspect_window{0};
    bool expose_token = false;
};

}  // namespace oncegate::core
