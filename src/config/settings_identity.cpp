// The rows of `scope` and `fingerprint.*`: whose key it is, and what makes two requests the same.

#include <algorithm>

#include "config/addresses.hpp"
#include "config/policy_settings.hpp"
#include "config/readers.hpp"
#include "config/section.hpp"
#include "config/yaml_text.hpp"
#include "core/ascii.hpp"

namespace oncegate::config {

namespace {

using core::BodyComparison;
using core::FingerprintPart;
using core::Policy;
using core::ScopePart;

/// `KIND`, `KIND:NAME`, either with a `?` behind it.
struct Written {
    std::string kind;
    std::string name;
    bool has_name = false;
    bool optional = false;
};

Written split(std::string text) {
    Written out;
    if (text.ends_with('?')) {
        out.optional = true;
        text.pop_back();
    }
    const auto colon = text.find(':');
    out.has_name = colon != std::string::npos;
    out.kind = text.substr(0, colon);
    if (out.has_name) out.name = text.substr(colon + 1);
    return out;
}

template <class Kind>
struct Word {
    const char* word;
    Kind kind;
    enum class Name : std::uint8_t { none, header, claim, pointer } name = Name::none;
    enum class Absence : std::uint8_t { impossible, possible } absence = Absence::impossible;
};

using ScopeWord = Word<ScopePart::Kind>;
const std::vector<ScopeWord> scope_words{
    {"route", ScopePart::Kind::route},
    {"method", ScopePart::Kind::method},
    {"host", ScopePart::Kind::host, ScopeWord::Name::none, ScopeWord::Absence::possible},
    {"path", ScopePart::Kind::path},
    {"header", ScopePart::Kind::header, ScopeWord::Name::header, ScopeWord::Absence::possible},
    {"jwt", ScopePart::Kind::jwt, ScopeWord::Name::claim, ScopeWord::Absence::possible},
    {"client_cert", ScopePart::Kind::client_cert, ScopeWord::Name::none, ScopeWord::Absence::possible},
    {"client_ip", ScopePart::Kind::client_ip},
    {"auth", ScopePart::Kind::auth, ScopeWord::Name::header, ScopeWord::Absence::possible},
};

using FingerprintWord = Word<FingerprintPart::Kind>;
const std::vector<FingerprintWord> fingerprint_words{
    {"method", FingerprintPart::Kind::method},
    {"path", FingerprintPart::Kind::path},
    {"query", FingerprintPart::Kind::query},
    {"header", FingerprintPart::Kind::header, FingerprintWord::Name::header, FingerprintWord::Absence::possible},
    {"body", FingerprintPart::Kind::body},
    {"json", FingerprintPart::Kind::json, FingerprintWord::Name::pointer},
};

template <class Kind>
std::string name_fault(const Word<Kind>& word, const Written& written) {
    using Name = typename Word<Kind>::Name;
    switch (word.name) {
        case Name::none: return written.has_name ? "takes no name" : "";
        case Name::header:
            return core::is_token(written.name) ? no_identity_of(written.name) : "does not name a header";
        case Name::claim: return written.name.empty() ? "does not name a claim" : "";
        case Name::pointer:
            if (written.has_name && written.name.empty()) return "is the whole body; write body";
            return written.has_name && is_json_pointer(written.name)
                       ? ""
                       : "does not hold a JSON pointer; write json:/amount";
    }
    return {};
}

/// Why a word takes no `?`.
template <class Kind>
std::string absence_fault(const Word<Kind>& word) {
    if (word.name != Word<Kind>::Name::pointer) return "is always there; leave the '?' out";
    return "may be absent, which is a value of its own; leave the '?' out";
}

/// Field names are equal whatever their case; names of claims and members are not.
bool names_a_field(const ScopePart& part) {
    return part.kind == ScopePart::Kind::header || part.kind == ScopePart::Kind::auth;
}
bool names_a_field(const FingerprintPart& part) { return part.kind == FingerprintPart::Kind::header; }

template <class Part>
bool is_same(const Part& a, const Part& b) {
    return a.kind == b.kind && (names_a_field(a) ? core::iequals(a.name, b.name) : a.name == b.name);
}

/// How a word is written with its name.
template <class Kind>
std::string shown(const Word<Kind>& word) {
    using Name = typename Word<Kind>::Name;
    if (word.name == Name::header) return std::string(word.word).append(":NAME");
    if (word.name == Name::claim) return std::string(word.word).append(":CLAIM");
    return word.name == Name::pointer ? std::string(word.word).append(":/POINTER") : word.word;
}

/// `Authorization` is a header's name, and none of the words is spelled like one.
bool looks_like_a_field(const Written& written) {
    return !written.has_name && core::is_token(written.kind) &&
           std::any_of(written.kind.begin(), written.kind.end(),
                       [](char c) { return c == '-' || (c >= 'A' && c <= 'Z'); });
}

/// `known`: the words; `offered`: as they are shown to someone who looks for one.
std::string part_hint(const Written& written, const std::string& whole, const std::vector<std::string>& known,
                      const std::vector<std::string>& offered) {
    std::string underscored = core::to_lower(written.kind);
    std::replace(underscored.begin(), underscored.end(), '-', '_');
    if (std::find(known.begin(), known.end(), underscored) != known.end()) {
        return "; did you mean '" + underscored + "'?";
    }
    if (looks_like_a_field(written)) return "; did you mean 'header:" + whole + "'?";
    auto hint = name_hint(written.kind, known);
    return hint.starts_with("; did you mean") ? hint : name_hint(written.kind, offered);
}

template <class Part, class Kind>
std::optional<Part> read_part(const Node& node, Problems& problems, const std::vector<Word<Kind>>& words) {
    const auto whole = text(node, problems);
    if (!whole) return std::nullopt;
    const Written written = split(*whole);
    std::vector<std::string> known;
    std::vector<std::string> offered;
    for (const auto& word : words) {
        known.emplace_back(word.word);
        offered.push_back(shown(word));
        if (written.kind != word.word) continue;
        std::string fault = name_fault(word, written);
        if (fault.empty() && written.optional && word.absence == Word<Kind>::Absence::impossible) {
            fault = absence_fault(word);
        }
        if (fault.empty()) return Part{word.kind, written.name, written.optional};
        problems.add(node, "'" + *whole + "' " + fault);
        return std::nullopt;
    }
    problems.add(node, "'" + *whole + "' is not known" + part_hint(written, *whole, known, offered));
    return std::nullopt;
}

/// The parts of a list, nothing after any problem. Repeats are refused: they promise something that is not there.
template <class Part, class Kind>
std::optional<std::vector<Part>> read_parts(const Node& node, Problems& problems,
                                            const std::vector<Word<Kind>>& words) {
    if (node.kind == Node::Kind::scalar) {
        problems.add(node, "a list is expected here; write " + yaml_texts({node.text}));
        return std::nullopt;
    }
    const auto before = problems.count();
    std::vector<Part> parts;
    for (const Node* item : items_of(node, problems)) {
        auto part = read_part<Part>(*item, problems, words);
        if (!part) continue;
        const bool repeated =
            std::any_of(parts.begin(), parts.end(), [&](const Part& other) { return is_same(other, *part); });
        if (repeated) problems.add(*item, "'" + item->text + "' is already in this list");
        parts.push_back(std::move(*part));
    }
    if (problems.count() != before) return std::nullopt;
    return parts;
}

/// Claims that are new with each token: a retry under a refreshed one would be somebody else's (R36).
bool changes_with_the_token(std::string_view claim) {
    return claim == "exp" || claim == "iat" || claim == "nbf" || claim == "jti";
}

void read_scope(const Node& node, Problems& problems, Policy& policy) {
    auto parts = read_parts<ScopePart>(node, problems, scope_words);
    if (!parts) return;
    for (const auto& part : *parts) {
        if (part.kind != ScopePart::Kind::jwt || !changes_with_the_token(part.name)) continue;
        return problems.add(node, std::string("jwt:").append(part.name).append(
                                      " is another with each token, so that no retry would find its first request; "
                                      "take one that stays, such as jwt:sub"));
    }
    if (parts->empty())
        return problems.add(node, "must name at least one part; [route] when all clients share one scope");
    policy.scope = std::move(*parts);
}

template <class Part>
std::string show_parts(const std::vector<Part>& parts) {
    std::vector<std::string> texts;
    for (const auto& part : parts) texts.push_back(yaml_text(part));
    return yaml_list(texts);
}

/// `off` as a whole, or a mapping, whose keys are rows of their own.
void read_fingerprint(const Node& node, Problems& problems, Policy& policy) {
    if (node.kind == Node::Kind::mapping) {
        policy.fingerprint.off = false;
    } else if (node.kind == Node::Kind::scalar && node.text == "off") {
        policy.fingerprint.off = true;
    } else {
        problems.add(node, "must be off, or a mapping with include, body, ignore, mismatch_status");
    }
}

void read_include(const Node& node, Problems& problems, Policy& policy) {
    auto parts = read_parts<FingerprintPart>(node, problems, fingerprint_words);
    if (!parts) return;
    if (parts->empty())
        return problems.add(node, "must name at least one part; write fingerprint: off to compare nothing");
    policy.fingerprint.include = std::move(*parts);
}

void read_ignore(const Node& node, Problems& problems, Policy& policy) {
    const auto before = problems.count();
    std::vector<std::string> pointers;
    for (const Node* item : items_of(node, problems)) {
        auto pointer = json_pointer(*item, problems);
        if (!pointer) continue;
        if (pointer->empty()) {
            problems.add(*item, "is the whole body; leave body out of fingerprint.include instead");
        } else if (std::find(pointers.begin(), pointers.end(), *pointer) != pointers.end()) {
            problems.add(*item, "'" + item->text + "' is already in this list");
        }
        pointers.push_back(std::move(*pointer));
    }
    if (problems.count() == before) policy.fingerprint.ignore = std::move(pointers);
}

const Choice<BodyComparison> comparisons{
    {{"bytes", BodyComparison::bytes}, {"json", BodyComparison::json}, {"form", BodyComparison::form}}};
const Choice<int> mismatch_statuses{{{"422", 422}, {"400", 400}, {"409", 409}}};

std::string show_body(const Policy& policy) {
    switch (policy.fingerprint.body) {
        case BodyComparison::bytes: return "bytes";
        case BodyComparison::json: return "json";
        case BodyComparison::form: return "form";
    }
    return {};
}

/// Rows that mean nothing while the fingerprint is off are not shown then.
template <std::string (*show)(const Policy&)>
std::string while_on(const Policy& policy) {
    return policy.fingerprint.off ? std::string() : show(policy);
}

std::string show_include(const Policy& policy) { return show_parts(policy.fingerprint.include); }
std::string show_ignore(const Policy& policy) { return yaml_texts(policy.fingerprint.ignore); }
std::string show_mismatch(const Policy& policy) { return std::to_string(policy.fingerprint.mismatch_status); }

}  // namespace

std::vector<Setting> scope_settings() {
    return {{"scope", read_scope, [](const Policy& p) { return show_parts(p.scope); }}};
}

std::vector<Setting> fingerprint_settings() {
    return {
        {"fingerprint", read_fingerprint, [](const Policy& p) { return std::string(p.fingerprint.off ? "off" : ""); }},
        {"fingerprint.include", read_include, while_on<show_include>},
        {"fingerprint.body",
         [](const Node& n, Problems& e, Policy& p) { read_into(p.fingerprint.body, n, e, comparisons); },
         while_on<show_body>},
        {"fingerprint.ignore", read_ignore, while_on<show_ignore>},
        {"fingerprint.mismatch_status",
         [](const Node& n, Problems& e, Policy& p) {
             read_into(p.fingerprint.mismatch_status, n, e, mismatch_statuses);
         },
         while_on<show_mismatch>},
    };
}

}  // namespace oncegate::config
