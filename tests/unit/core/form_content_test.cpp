// Form bodies (R46): which of them are the same, what they hold, and what is no form. Bodies are written as the WHATWG
// URL standard, RFC 7578 and RFC 2046 §5.1.1 define them.

#include "core/form_content.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>
#include <chrono>
#include <random>

using namespace oncegate::core;

namespace {

constexpr std::string_view urlencoded = "application/x-www-form-urlencoded";

std::optional<Digest> pairs(std::string_view body) { return form_digest(urlencoded, body); }

using Values = std::vector<std::string>;

std::string replaced(std::string text, std::string_view what, std::string_view with) {
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
        text.replace(at, what.size(), with);
    }
    return text;
}

/// `text` with its line feeds as CRLF.
std::string crlf(std::string text) { return replaced(std::move(text), "\n", "\r\n"); }

std::string multipart(std::string_view boundary) {
    return std::string("multipart/form-data; boundary=").append(boundary);
}

std::optional<Digest> parts(std::string_view body) { return form_digest(multipart("b"), crlf(std::string(body))); }

/// A part with one field, as every client writes it.
std::string field(std::string_view name, std::string_view value) {
    std::string text = "--b\nContent-Disposition: form-data; name=\"";
    return text.append(name).append("\"\n\n").append(value).append("\n");
}

const std::string two_fields = field("amount", "100") + field("currency", "EUR") + "--b--\n";

}  // namespace

TEST_CASE("urlencoded bodies are the same whatever their escaping", "[R46]") {
    using Pair = std::pair<std::string_view, std::string_view>;
    const auto same = GENERATE(values<Pair>({
        {"a=1&b=2", "%61=%31&b=2"},
        {"a=x+y", "a=x%20y"},
        {"a=%c3%a9", "a=%C3%A9"},
        {"a=\xC3\xA9", "a=%C3%A9"},
        {"a=1&&b=2&", "a=1&b=2"},
        {"a", "a="},
        {"a=%zz", "a=%25zz"},
        {"a=100%", "a=100%25"},
        {"a=b=c", "a=b%3Dc"},
    }));
    INFO(same.first << " and " << same.second);
    CHECK(pairs(same.first) == pairs(same.second));
    CHECK(pairs(same.first).has_value());
}

TEST_CASE("urlencoded bodies differ by names and values and order and number", "[R46]") {
    using Pair = std::pair<std::string_view, std::string_view>;
    const auto other = GENERATE(values<Pair>({
        {"a=1&b=2", "b=2&a=1"},
        {"a=1", "a=1&a=1"},
        {"a=1&b=2", "a=1%26b=2"},
        {"a=1", "A=1"},
        {"a=1", "a=1+"},
        {"a=+", "a=%2B"},
        {"ab=c", "a=bc"},
        {"a=%00", "a="},
        {"", "a="},
    }));
    INFO(other.first << " and " << other.second);
    CHECK(pairs(other.first) != pairs(other.second));
}

TEST_CASE("the type of a form is read without case and its parameters do not count", "[R46]") {
    CHECK(form_digest("Application/X-WWW-Form-URLencoded; charset=UTF-8", "a=1") == pairs("a=1"));
    CHECK_FALSE(form_digest("application/json", "a=1"));
    CHECK_FALSE(form_digest("", "a=1"));
    CHECK_FALSE(form_digest("multipart/form-data", "--b--"));
    CHECK_FALSE(form_digest("multipart/mixed; boundary=b", "--b--"));
}

TEST_CASE("multipart bodies are the same whatever the boundary", "[R46]") {
    const auto body = crlf(two_fields);
    const auto one = form_digest(multipart("b"), body);
    REQUIRE(one);
    CHECK(form_digest(multipart("----WebKitFormBoundaryAbC"), replaced(body, "--b", "------WebKitFormBoundaryAbC")) ==
          one);
    CHECK(form_digest(multipart("\"with space: 'x'\""), replaced(body, "--b", "--with space: 'x'")) == one);
    CHECK(form_digest("Multipart/Form-Data;BOUNDARY=b; charset=utf-8", body) == one);
}

TEST_CASE("what lies outside of the parts and their spelling does not count", "[R46]") {
    const auto one = parts(two_fields);
    REQUIRE(one);
    CHECK(parts("This is a multipart message.\n" + two_fields) == one);
    CHECK(parts(two_fields + "epilogue") == one);
    CHECK(parts(two_fields.substr(0, two_fields.size() - 1)) == one);
    CHECK(parts(replaced(two_fields, "--b\n", "--b \t\n")) == one);
    CHECK(parts(replaced(two_fields, "Content-Disposition: form-data; name=\"amount\"",
                         "content-disposition:FORM-DATA;name=amount")) == one);
}

TEST_CASE("multipart bodies differ by fields and files and their types", "[R46]") {
    const std::string file =
        "--b\nContent-Disposition: form-data; name=\"f\"; filename=\"a.txt\"\nContent-Type: "
        "text/plain\n\nhello\n--b--\n";
    const auto one = parts(file);
    REQUIRE(one);
    CHECK(parts(replaced(file, "hello", "hello ")) != one);
    CHECK(parts(replaced(file, "a.txt", "b.txt")) != one);
    CHECK(parts(replaced(file, "; filename=\"a.txt\"", "")) != one);
    CHECK(parts(replaced(file, "text/plain", "text/html")) != one);
    CHECK(parts(replaced(file, "Content-Type: text/plain\n", "")) != one);
    CHECK(parts(replaced(file, "Content-Type: text/plain\n",
                         "Content-Type: text/plain\nContent-Transfer-Encoding: base64\n")) != one);
    CHECK(parts(field("a", "1") + field("b", "2") + "--b--") != parts(field("b", "2") + field("a", "1") + "--b--"));
    CHECK(parts(field("a", "1") + "--b--") != parts(field("a", "1") + field("a", "1") + "--b--"));
    CHECK(parts(field("ab", "c") + "--b--") != parts(field("a", "bc") + "--b--"));
    CHECK(parts(field("a", "1") + "--b--") != pairs("a=1"));
}

TEST_CASE("names in quotes are the same in either spelling that clients have for a quote", "[R46]") {
    const auto one = parts(field("a\\\"b", "1") + "--b--");
    REQUIRE(one);
    CHECK(parts(field("a%22b", "1") + "--b--") == one);
    CHECK(parts(field("a%20b", "1") + "--b--") != parts(field("a b", "1") + "--b--"));
    CHECK(form_values(multipart("b"), crlf(field("a%22b", "1") + "--b--"), "a\"b") == Values{"1"});
}

TEST_CASE("content may hold everything but its delimiter", "[R46]") {
    const std::string body =
        "--b\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\n"
        "\r\n--a\r\n--\r\n-b\r--b\n--b" +
        std::string(1, '\0') + "\r\n\r\n--b--\r\n";
    const auto values = form_values(multipart("b"), body, "f");
    REQUIRE(values.size() == 1);
    CHECK(values.front() == std::string("\r\n--a\r\n--\r\n-b\r--b\n--b") + std::string(1, '\0') + "\r\n");
    CHECK(form_values(multipart("b"), "--b\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\n\r\n--b--", "f") ==
          Values{""});
}

TEST_CASE("a form without fields is a form", "[R46]") {
    CHECK(parts("--b--"));
    CHECK(parts("--b--\n"));
    CHECK(pairs(""));
}

TEST_CASE("a malformed multipart body is no form", "[R46]") {
    const auto body = GENERATE_COPY(values<std::string>({
        "",
        "no delimiter at all",
        field("a", "1"),                                             // the closing delimiter is missing
        field("a", "1") + "--b-",                                    // or cut off
        field("a", "1") + "--b--x",                                  // or something else
        field("a", "1") + "--bc\n" + field("a", "2") + "--b--",      // a line that only begins like the delimiter
        "--b\nContent-Disposition: form-data; name=\"a\"\n\n--b--",  // no line end before the delimiter
        "--b\nContent-Disposition: form-data; name=\"a\"\n",         // no empty line
        "--b\n\n1\n--b--",                                           // no Content-Disposition
        "--b\nContent-Type: text/plain\n\n1\n--b--",
        "--b\nContent-Disposition: form-data\n\n1\n--b--",  // no name
        "--b\nContent-Disposition: attachment; name=\"a\"\n\n1\n--b--",
        "--b\nContent-Disposition: form-data; name=\"a\"; name=\"b\"\n\n1\n--b--",
        "--b\nContent-Disposition: form-data; name=\"a\nContent-Type: x/y\n\n1\n--b--",
        "--b\nContent-Disposition: form-data; name=\"a\"\nContent-Disposition: form-data; name=\"b\"\n\n1\n--b--",
        "--b\nContent-Disposition: form-data;\n name=\"a\"\n\n1\n--b--",  // folded
        "--b\nContent-Disposition : form-data; name=\"a\"\n\n1\n--b--",
        "--b\nno field line\nContent-Disposition: form-data; name=\"a\"\n\n1\n--b--",
    }));
    INFO(body);
    CHECK_FALSE(parts(body));
    CHECK(form_values(multipart("b"), crlf(body), "a").empty());
}

TEST_CASE("headers and parameters without end make no form and cost nothing", "[R46]") {
    const std::string disposition = "--b\nContent-Disposition: form-data; name=\"a\"";
    const auto with = [&](std::string more) { return parts(disposition + more + "\n\n1\n--b--"); };
    const auto repeated = [](const std::string& text, int times) {
        std::string all;
        for (int i = 0; i < times; ++i) all += replaced(text, "#", std::to_string(i));
        return all;
    };
    CHECK(with(repeated("; p#=1", 20)));
    CHECK(with(repeated("\nX-#: 1", 20)));
    CHECK(with("\nX: " + std::string(8000, 'x')));
    CHECK_FALSE(with(repeated("; p#=1", 1000)));
    CHECK_FALSE(with(repeated("\nX-#: 1", 1000)));
    CHECK_FALSE(with("\nX: " + std::string(20000, 'x')));
}

TEST_CASE("lines that end in a bare line feed make no form", "[R46]") {
    CHECK_FALSE(form_digest(multipart("b"), two_fields));
}

TEST_CASE("a boundary that RFC 2046 does not allow makes no form", "[R46]") {
    const auto body = crlf(two_fields);
    const std::string longest(70, 'x');
    CHECK(form_digest(multipart(longest), replaced(body, "--b", "--" + longest)));
    const auto boundary = GENERATE_COPY(
        values<std::string>({"\"\"", "\"b \"", std::string(71, 'x'), "\"a\\\"b\"", "b; boundary=c", "\"b"}));
    INFO(boundary);
    CHECK_FALSE(form_digest(multipart(boundary), replaced(body, "--b", "--" + boundary)));
    CHECK_FALSE(form_digest(multipart(boundary), body));
}

TEST_CASE("values are found by the decoded name in both kinds of form", "[R8]") {
    CHECK(form_values(urlencoded, "x=1&Client%54oken=a+b%2B&y", "ClientToken") == Values{"a b+"});
    CHECK(form_values(urlencoded, "x=1", "ClientToken").empty());
    CHECK(form_values(urlencoded, "clienttoken=1", "ClientToken").empty());
    CHECK(form_values(urlencoded, "ClientToken", "ClientToken") == Values{""});
    CHECK(form_values(multipart("b"), crlf(two_fields), "currency") == Values{"EUR"});
    CHECK(form_values("application/json", "ClientToken=1", "ClientToken").empty());
    CHECK(query_values("a=1&ClientToken=x%2Fy", "ClientToken") == Values{"x/y"});
    CHECK(query_values("", "ClientToken").empty());
}

TEST_CASE("a repeated field is told as such without gathering all of it", "[R13]") {
    std::string many;
    for (int i = 0; i < 1000; ++i) many += "k=v&";
    CHECK(form_values(urlencoded, many, "k").size() == form_values_max);
    CHECK(
        form_values(multipart("b"), crlf(field("k", "1") + field("k", "1") + field("k", "2") + "--b--"), "k").size() ==
        form_values_max);
    CHECK(form_values(urlencoded, "k=" + std::string((1 << 20) - 2, 'v'), "k").front().size() == form_value_bytes_max);
}

TEST_CASE("only the boundary is taken out of a content type", "[R46]") {
    CHECK(without_boundary("multipart/form-data; boundary=x") == "multipart/form-data");
    CHECK(without_boundary("multipart/form-data; boundary=\"x y\"; charset=utf-8") ==
          "multipart/form-data; charset=utf-8");
    CHECK(without_boundary("Multipart/Form-Data;charset=utf-8;Boundary=x") == "Multipart/Form-Data;charset=utf-8");
    CHECK(without_boundary("multipart/mixed; boundary=x") == "multipart/mixed; boundary=x");
    CHECK(without_boundary("application/json; charset=utf-8") == "application/json; charset=utf-8");
    CHECK(without_boundary("multipart/form-data; boundary=\"x") == "multipart/form-data; boundary=\"x");
    CHECK(without_boundary("") == "");
}

TEST_CASE("forms that are meant to be slow are read in one pass", "[R46]") {
    // A quadratic reader would need minutes for these eight megabytes.
    constexpr std::size_t bytes = 8U << 20;
    std::string near_delimiters = crlf("--b\nContent-Disposition: form-data; name=\"f\"\n\n");
    while (near_delimiters.size() < bytes) near_delimiters += "\r\n-\r\n--\r\n--x\r";
    const auto start = std::chrono::steady_clock::now();
    CHECK(form_digest(multipart("b"), near_delimiters + "\r\n--b--"));
    CHECK_FALSE(form_digest(multipart("b"), near_delimiters));
    CHECK(form_digest(multipart("b"), crlf("--b\nContent-Disposition: form-data; name=\"f\"\n\n") +
                                          std::string(bytes, '\r') + "\r\n--b--"));
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(60));
}

TEST_CASE("more pairs or parts than any form has make none", "[R46]") {
    const auto repeated = [](std::string_view text, std::size_t times) {
        std::string all;
        for (; times > 0; --times) all += text;
        return all;
    };
    CHECK(pairs(repeated("a&", 9'999)));
    CHECK_FALSE(pairs(repeated("a&", 10'001)));
    CHECK_FALSE(pairs(repeated("&", 10'001)));
    CHECK(pairs("a=" + std::string((1U << 20) - 2, 'x')));
    CHECK_FALSE(pairs("a=" + std::string(1U << 20, 'x')));
    CHECK(form_values("application/x-www-form-urlencoded", "k=1&" + repeated("&", 10'001), "k").empty());

    const auto part = crlf("--b\nContent-Disposition: form-data; name=\"f\"\n\nx\n");
    CHECK(form_digest(multipart("b"), repeated(part, 1'000) + "--b--"));
    CHECK_FALSE(form_digest(multipart("b"), repeated(part, 1'001) + "--b--"));
}

namespace {

using Form = std::vector<std::pair<std::string, std::string>>;

/// Names, no two alike, and values of any bytes, the special ones more often than chance would have them.
Form random_form(std::mt19937& random) {
    constexpr std::string_view special = "&=%+ \"\\\r\n-;b";
    const auto text = [&](std::size_t most) {
        std::string bytes;
        for (auto left = random() % (most + 1); left > 0; --left) {
            bytes += random() % 2 == 0 ? special[random() % special.size()] : static_cast<char>(random() % 256);
        }
        return bytes;
    };
    Form form(1 + random() % 4);
    for (std::size_t i = 0; i < form.size(); ++i) form[i] = {std::to_string(i) + text(6), text(20)};
    return form;
}

/// In one of the many spellings: everything may be escaped, letters and digits need not be.
std::string spell_urlencoded(const Form& form, std::mt19937& random) {
    constexpr std::string_view upper = "0123456789ABCDEF";
    constexpr std::string_view lower = "0123456789abcdef";
    std::string body;
    const auto spell = [&](const std::string& text) {
        for (const char c : text) {
            const auto byte = static_cast<unsigned char>(c);
            const auto digits = random() % 2 == 0 ? upper : lower;
            if (std::isalnum(byte) != 0 && random() % 3 != 0) {
                body += c;
            } else if (c == ' ' && random() % 2 == 0) {
                body += '+';
            } else {
                body.append({'%', digits[byte >> 4U], digits[byte & 15U]});
            }
        }
    };
    for (const auto& [name, value] : form) {
        body.append(random() % 4 == 0 ? "&" : "");
        spell(name);
        body += '=';
        spell(value);
        body += '&';
    }
    return body;
}

std::string spell_multipart(const Form& form, const std::string& boundary, std::mt19937& random) {
    std::string body = random() % 2 == 0 ? "" : "a preamble\r\n";
    for (const auto& [name, value] : form) {
        auto quoted = replaced(replaced(name, "\r", "%0D"), "\n", "%0A");
        quoted = replaced(quoted, "\\", "\\\\");
        quoted = replaced(quoted, "\"", random() % 2 == 0 ? "%22" : "\\\"");
        body.append("--").append(boundary).append("\r\nContent-Disposition: form-data; name=\"");
        body.append(quoted).append("\"\r\n\r\n").append(value).append("\r\n");
    }
    return body.append("--").append(boundary).append("--\r\n");
}

}  // namespace

TEST_CASE("random urlencoded forms stay the same however they are escaped and differ when a value does", "[R46]") {
    std::mt19937 random(20261203);
    for (int i = 0; i < 2000; ++i) {
        auto form = random_form(random);
        const auto body = spell_urlencoded(form, random);
        INFO(body);
        const auto digest = pairs(body);
        REQUIRE(digest);
        REQUIRE(pairs(spell_urlencoded(form, random)) == digest);
        REQUIRE(form_values(urlencoded, body, form.back().first).back() == form.back().second);
        form[random() % form.size()].second += 'x';
        REQUIRE(pairs(spell_urlencoded(form, random)) != digest);
    }
}

TEST_CASE("random multipart forms stay the same under any boundary and differ when a value does", "[R46]") {
    std::mt19937 random(20261204);
    for (int i = 0; i < 2000; ++i) {
        auto form = random_form(random);
        for (auto& [name, value] : form) {
            // What a quoted-string cannot hold; clients drop or replace it.
            name.erase(std::remove_if(name.begin(), name.end(),
                                      [](char c) {
                                          const auto byte = static_cast<unsigned char>(c);
                                          return (byte < 0x20 && c != '\r' && c != '\n') || byte == 0x7F || c == '%';
                                      }),
                       name.end());
        }
        const std::string one = "----boundary" + std::to_string(random());
        const std::string other = "'" + std::to_string(random()) + "'";
        const auto digest = form_digest(multipart(one), spell_multipart(form, one, random));
        REQUIRE(digest);
        const auto again = spell_multipart(form, other, random);
        INFO(again);
        REQUIRE(form_digest(multipart(other), again) == digest);
        REQUIRE(form_values(multipart(other), again, form.back().first).back() == form.back().second);
        form[random() % form.size()].second += 'x';
        REQUIRE(form_digest(multipart(one), spell_multipart(form, one, random)) != digest);
    }
}
