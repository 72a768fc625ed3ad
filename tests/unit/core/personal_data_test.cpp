// What counts as personal data in a key. Numbers are the public test numbers of card networks and of the authorities'
// own examples; none belongs to anybody.

#include "core/personal_data.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <string>

using namespace oncegate::core;

namespace {

std::string random_uuid(std::mt19937& random) {
    constexpr std::string_view hex = "0123456789abcdef";
    std::string text;
    for (int i = 0; i < 36; ++i) {
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        text += dash ? '-' : hex[random() % 16];
    }
    text[14] = '4';
    text[19] = "89ab"[random() % 4];
    return text;
}

}  // namespace

TEST_CASE("e-mail addresses are found wherever they stand") {
    const auto text = GENERATE(values<std::string_view>({
        "jane.doe@example.com",
        "order-17-jane@example.com",
        "pay:jane+tag@mail.example.co.kr:2026-01-31",
        "JANE@EXAMPLE.COM",
        "<jane@example.org>",
        "a@b@example.net",
        "j\xC3\xBCrgen@example.de",
        "jane@example.com.",
        "jane@example.com-2",
    }));
    INFO(text);
    CHECK(find_personal_data(text) == PersonalData::email_address);
}

TEST_CASE("an at sign alone makes no e-mail address") {
    const auto text =
        GENERATE(values<std::string_view>({"@example.com", "user@", "user@host", "v1@1.2.3", "user@example.c", "a@.com",
                                           "@1659578233", "user@10.0.0.1", "a @ b.com"}));
    INFO(text);
    CHECK(find_personal_data(text) == PersonalData::none);
}

TEST_CASE("payment card numbers are found with and without spaces and dashes") {
    const auto text = GENERATE(values<std::string_view>({
        "4242424242424242",
        "4242 4242 4242 4242",
        "4242-4242-4242-4242",
        "5555555555554444",
        "2223003122003222",
        "378282246310005",
        "3782 822463 10005",
        "6011111111111117",
        "3566002020360505",
        "30569309025904",
        "3056-930902-5904",
        "6200000000000005",
        "4222222222222",
        "6304000000000000000",
        "order-4111111111111111-1",
        "card_4111111111111111",
        "2026-01-31-4111-1111-1111-1111",
        "pay:4111111111111111:100",
    }));
    INFO(text);
    CHECK(find_personal_data(text) == PersonalData::card_number);
}

TEST_CASE("other digits make no payment card number") {
    const auto text = GENERATE(values<std::string_view>({
        "4242424242424241",      // the check digit
        "424242424242",          // 12 digits
        "42424242424242424242",  // 20 digits
        "a4242424242424242",     // digits inside of a word
        "4242424242424242f",
        "00004242424242424242",
        "4242-4242 4242-4242",  // two kinds of joints
        "4242--4242-4242-4242",
        "42424242-4242-4242",  // grouped like part of a UUID
        "20260131-120000",
        "1",
        "",
    }));
    INFO(text);
    CHECK(find_personal_data(text) == PersonalData::none);
}

TEST_CASE("US social security numbers are found with their dashes only and in ranges that were issued") {
    for (const auto* text : {"123-45-6789", "ssn:078-05-1120", "001-01-0001", "899-99-9999", "a 123-45-6789 b"}) {
        INFO(text);
        CHECK(find_personal_data(text) == PersonalData::us_social_security);
    }
    for (const auto* text : {"123456789", "123 45 6789", "000-45-6789", "666-45-6789", "900-45-6789", "123-00-6789",
                             "123-45-0000", "1234-45-6789", "123-45-67890", "x123-45-6789", "123-45-6789x"}) {
        INFO(text);
        CHECK(find_personal_data(text) == PersonalData::none);
    }
}

TEST_CASE("Korean registration numbers are found by date and check digit") {
    // Weighted sums by hand: 000101-300000? is 0*2+0*3+0*4+1*5+0*6+1*7+3*8 = 36, 36 mod 11 = 3, so the digit is 8.
    // 900101-100000?: 9*2+0+0+1*5+0+1*7+1*8 = 38, mod 11 = 5, digit 6. A foreigner's, 900101-500000?: 9*2+5+7+5*8 = 70,
    // mod 11 = 4, digit (13 - 4) mod 10 = 9. 000229-300000?: 2*5+2*6+... = 0+0+0+2*5+2*6+9*7+3*8 = 109, mod 11 = 10,
    // digit 1.
    for (const auto* text :
         {"000101-3000008", "0001013000008", "id_900101-1000006", "900101-5000009", "000229-3000001"}) {
        INFO(text);
        CHECK(find_personal_data(text) == PersonalData::korean_registration);
    }
    for (const auto* text : {"000101-3000007", "001301-3000008", "000132-3000008", "000101 3000008", "x000101-3000008",
                             "000101-30000081"}) {
        INFO(text);
        CHECK(find_personal_data(text) != PersonalData::korean_registration);
    }
    // 29 February: 2001 has none. 0*2+1*3+0*4+2*5+2*6+9*7+3*8 = 112, mod 11 = 2, digit 9.
    CHECK(find_personal_data("010229-3000009") == PersonalData::none);
}

TEST_CASE("random UUIDs never look like personal data", "[R33]") {
    std::mt19937 random(20261201);
    for (int i = 0; i < 10'000; ++i) {
        const auto uuid = random_uuid(random);
        INFO(uuid);
        REQUIRE(find_personal_data(uuid) == PersonalData::none);
    }
}

TEST_CASE("UUIDs of nothing but digits never look like personal data", "[R33]") {
    std::mt19937 random(20261202);
    for (int i = 0; i < 10'000; ++i) {
        auto uuid = random_uuid(random);
        for (auto& c : uuid) {
            if (c != '-') c = static_cast<char>('0' + static_cast<int>(random() % 10));
        }
        INFO(uuid);
        REQUIRE(find_personal_data(uuid) == PersonalData::none);
    }
}

TEST_CASE("every kind has words of its own and none has no words") {
    CHECK(describe(PersonalData::none).empty());
    CHECK(describe(PersonalData::email_address) == "an e-mail address");
    CHECK(describe(PersonalData::card_number) == "a payment card number");
    CHECK(describe(PersonalData::us_social_security) == "a US social security number");
    CHECK(describe(PersonalData::korean_registration) == "a Korean resident registration number");
}
