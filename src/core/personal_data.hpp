#pragma once
// Whether a key holds what should not lie in logs and stores (`key.reject_personal_data`). Looks for the spelling only:
// what is found may be a coincidence, and what is spelled otherwise is not found.

#include <cstdint>
#include <string_view>

namespace oncegate::core {

enum class PersonalData : std::uint8_t {
    none,
    email_address,
    card_number,          ///< 13 to 19 digits with the Luhn check digit (ISO/IEC 7812-1)
    us_social_security,   ///< with its dashes, of a number that can have been issued
    korean_registration,  ///< 13 digits with a date and the check digit, of residents and of foreigners
};

/// The first kind that is found anywhere in `text`. Numbers count only where no letter or digit touches them, so that
/// digits inside hexadecimal text are none. Linear time.
PersonalData find_personal_data(std::string_view text);

/// "an e-mail address"; empty for none.
std::string_view describe(PersonalData kind);

}  // namespace oncegate::core
