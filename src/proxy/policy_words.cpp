#include "proxy/policy_words.hpp"

#include <cstdlib>

#include "core/scope.hpp"

namespace oncegate::proxy {

bool is_published(const config::Route& route) { return route.policy && route.policy->mode != core::Mode::off; }

std::string_view word(core::Mode mode) {
    switch (mode) {
        case core::Mode::enforce: return "enforce";
        case core::Mode::shadow: return "shadow";
        case core::Mode::off: return "off";
    }
    std::abort();
}

std::string_view word(core::KeySyntax syntax) {
    switch (syntax) {
        case core::KeySyntax::string: return "string";
        case core::KeySyntax::bare: return "bare";
        case core::KeySyntax::any: return "any";
    }
    std::abort();
}

std::string_view word(core::BodyComparison comparison) {
    switch (comparison) {
        case core::BodyComparison::bytes: return "bytes";
        case core::BodyComparison::json: return "json";
        case core::BodyComparison::form: return "form";
    }
    std::abort();
}

std::string_view word(core::InFlightRule::Action action) {
    return action == core::InFlightRule::Action::wait ? "wait" : "reject";
}

std::string_view word(core::UnknownOutcome rule) {
    switch (rule) {
        case core::UnknownOutcome::hold: return "hold";
        case core::UnknownOutcome::ask: return "ask";
        case core::UnknownOutcome::retry: return "retry";
        case core::UnknownOutcome::fail: return "fail";
    }
    std::abort();
}

std::string_view word(core::ReplayRule::Content mode) {
    return mode == core::ReplayRule::Content::refresh ? "refresh" : "stored";
}

std::string_view word(core::ReplayRule::Date date) { return date == core::ReplayRule::Date::now ? "now" : "original"; }

std::string_view word(core::AfterTtl rule) { return rule == core::AfterTtl::reject ? "reject" : "execute"; }

std::string_view word(core::StoreDown rule) { return rule == core::StoreDown::pass ? "pass" : "reject"; }

std::string word(const core::KeyLocation& location) {
    switch (location.kind) {
        case core::KeyLocation::Kind::header: return "header:" + location.name;
        case core::KeyLocation::Kind::query: return "query:" + location.name;
        case core::KeyLocation::Kind::json: return "json:" + location.name;
        case core::KeyLocation::Kind::form: return "form:" + location.name;
    }
    std::abort();
}

std::string word(const core::FingerprintPart& part) {
    const std::string end = part.optional ? "?" : "";
    switch (part.kind) {
        case core::FingerprintPart::Kind::method: return "method";
        case core::FingerprintPart::Kind::path: return "path";
        case core::FingerprintPart::Kind::query: return "query";
        case core::FingerprintPart::Kind::header: return "header:" + part.name + end;
        case core::FingerprintPart::Kind::body: return "body";
        case core::FingerprintPart::Kind::json: return "json:" + part.name + end;
    }
    std::abort();
}

std::string word(const core::ScopePart& part) { return core::name_of(part) + (part.optional ? "?" : ""); }

}  // namespace oncegate::proxy
