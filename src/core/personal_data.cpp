#include "core/personal_data.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <vector>

#include "core/ascii.hpp"

namespace oncegate::core {

namespace {

bool is_word(char c) { return is_alpha(c) || is_digit(c) || static_cast<unsigned char>(c) >= 0x80; }

int number(std::string_view digits) {
    int value = 0;
    for (const char c : digits) value = value * 10 + (c - '0');
    return value;
}

// An e-mail address is something, an at sign, and a host name whose last label is letters.

bool is_local(char c) {
    return is_word(c) || std::string_view("!#$%&'*+/=?^_`{|}~.-\"").find(c) != std::string_view::npos;
}

/// The host name at the start of `text`: labels, of which the last is two letters or more ("example.com", not "1.2").
bool begins_with_host(std::string_view text) {
    std::size_t labels = 0;
    std::size_t length = 0;
    bool letters = true;
    const auto ends_in_letters = [&] { return labels > 0 && length >= 2 && letters; };
    for (const char c : text) {
        if (c == '-' && ends_in_letters()) return true;
        if (is_word(c) || c == '-') {
            ++length;
            letters = letters && !is_digit(c) && c != '-';
        } else if (c == '.' && length > 0) {
            if (ends_in_letters()) return true;
            ++labels;
            length = 0;
            letters = true;
        } else {
            break;
        }
    }
    return ends_in_letters();
}

bool holds_email(std::string_view text) {
    for (auto at = text.find('@'); at != std::string_view::npos; at = text.find('@', at + 1)) {
        if (at == 0 || !is_local(text[at - 1])) continue;
        const auto next = std::min(text.find('@', at + 1), text.size());
        if (begins_with_host(text.substr(at + 1, next - at - 1))) return true;
    }
    return false;
}

// Numbers are groups of digits, joined by single spaces or dashes.

using Groups = std::vector<std::string_view>;

/// The groups from `at` on as far as each is joined to the next; `at` is moved behind them. A group that a letter
/// touches ends the run and is no part of it.
Groups take_run(std::string_view text, std::size_t& at) {
    Groups groups;
    while (at < text.size()) {
        const auto begin = at;
        while (at < text.size() && is_digit(text[at])) ++at;
        const bool touched = (begin > 0 && is_word(text[begin - 1])) || (at < text.size() && is_word(text[at]));
        if (at == begin || touched) {
            while (at < text.size() && is_word(text[at])) ++at;
            if (at == begin) ++at;
            break;
        }
        groups.push_back(text.substr(begin, at - begin));
        const bool joined = at + 1 < text.size() && (text[at] == '-' || text[at] == ' ') && is_digit(text[at + 1]);
        if (!joined) break;
        ++at;
    }
    return groups;
}

/// Only of a group that another one follows.
char joint_after(std::string_view group) { return group.data()[group.size()]; }

constexpr std::size_t shortest_card = 13;
constexpr std::size_t longest_card = 19;

bool has_luhn_digit(const std::string& digits) {
    int sum = 0;
    bool doubled = false;
    for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, doubled = !doubled) {
        const int value = *digit - '0';
        sum += !doubled ? value : value < 5 ? value * 2 : value * 2 - 9;
    }
    return sum % 10 == 0;
}

/// A card number is written in one group, or in groups of three to six digits (4-4-4-4, 4-6-5) with one joint
/// throughout; the last may be shorter. The groups of a UUID are never written so.
bool card_begins_at(const Groups& groups, std::size_t first) {
    constexpr std::size_t longest_group = 6;
    constexpr std::size_t shortest_group = 3;
    std::string digits(groups[first]);
    if (digits.size() >= shortest_card && digits.size() <= longest_card && has_luhn_digit(digits)) return true;
    for (std::size_t next = first + 1; next < groups.size() && digits.size() <= longest_card; ++next) {
        const auto before = groups[next - 1].size();
        if (before < shortest_group || before > longest_group || groups[next].size() > longest_group) return false;
        if (joint_after(groups[next - 1]) != joint_after(groups[first])) return false;
        digits.append(groups[next]);
        if (digits.size() >= shortest_card && digits.size() <= longest_card && has_luhn_digit(digits)) return true;
    }
    return false;
}

/// 3-2-4 digits with dashes, in the ranges that were ever issued (SSA, "Social Security Number Randomization").
bool social_security_at(const Groups& groups, std::size_t first) {
    if (first + 2 >= groups.size()) return false;
    const auto area = groups[first];
    const auto group = groups[first + 1];
    const auto serial = groups[first + 2];
    if (area.size() != 3 || group.size() != 2 || serial.size() != 4) return false;
    if (joint_after(area) != '-' || joint_after(group) != '-') return false;
    const int issued = number(area);
    return issued != 0 && issued != 666 && issued < 900 && number(group) != 0 && number(serial) != 0;
}

bool is_date(int year, int month, int day) {
    constexpr std::array<int, 12> lengths{31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (month < 1 || month > 12 || day < 1 || day > lengths.at(static_cast<std::size_t>(month - 1))) return false;
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month != 2 || day != 29 || leap;
}

/// YYMMDD and a digit for century and sex (0, 9: 1800s; 1, 2, 5, 6: 1900s; 3, 4, 7, 8: 2000s; 5 to 8 are foreigners,
/// whose check digit is two further), weights 2 to 9 and 2 to 5, modulo 11.
bool is_korean_registration(const std::string& digits) {
    const int kind = digits[6] - '0';
    const int century = kind == 0 || kind == 9 ? 1800 : kind == 3 || kind == 4 || kind == 7 || kind == 8 ? 2000 : 1900;
    const std::string_view text(digits);
    if (!is_date(century + number(text.substr(0, 2)), number(text.substr(2, 2)), number(text.substr(4, 2))))
        return false;
    int sum = 0;
    for (std::size_t i = 0; i < 12; ++i) sum += (digits[i] - '0') * static_cast<int>(i % 8 + 2);
    const bool foreigner = kind >= 5 && kind <= 8;
    return ((foreigner ? 13 : 11) - sum % 11) % 10 == digits[12] - '0';
}

bool korean_registration_at(const Groups& groups, std::size_t first) {
    std::string digits(groups[first]);
    if (digits.size() == 6 && first + 1 < groups.size() && groups[first + 1].size() == 7 &&
        joint_after(groups[first]) == '-') {
        digits.append(groups[first + 1]);
    }
    return digits.size() == 13 && is_korean_registration(digits);
}

PersonalData in_groups(const Groups& groups) {
    for (std::size_t first = 0; first < groups.size(); ++first) {
        if (korean_registration_at(groups, first)) return PersonalData::korean_registration;
        if (social_security_at(groups, first)) return PersonalData::us_social_security;
        if (card_begins_at(groups, first)) return PersonalData::card_number;
    }
    return PersonalData::none;
}

}  // namespace

PersonalData find_personal_data(std::string_view text) {
    if (holds_email(text)) return PersonalData::email_address;
    for (std::size_t at = 0; at < text.size();) {
        const auto kind = in_groups(take_run(text, at));
        if (kind != PersonalData::none) return kind;
    }
    return PersonalData::none;
}

std::string_view describe(PersonalData kind) {
    switch (kind) {
        case PersonalData::none: return {};
        case PersonalData::email_address: return "an e-mail address";
        case PersonalData::card_number: return "a payment card number";
        case PersonalData::us_social_security: return "a US social security number";
        case PersonalData::korean_registration: return "a Korean resident registration number";
    }
    std::abort();
}

}  // namespace oncegate::core
