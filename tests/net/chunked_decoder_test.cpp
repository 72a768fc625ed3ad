#include "net/chunked_decoder.hpp"

#include <catch2/catch.hpp>
#include <optional>
#include <string>

using namespace oncegate;
using net::ChunkedDecoder;
using Step = ChunkedDecoder::Step;

namespace {

struct Decoded {
    Step end = Step::need_more;  ///< finished, malformed, or need_more when the input ran out first
    std::string content;
    std::string left;  ///< what follows the message
};

/// Feeds `input` in pieces of `piece` bytes, as a connection's buffer grows.
Decoded decode(ChunkedDecoder& decoder, std::string_view input, std::size_t piece) {
    Decoded decoded;
    std::string buffer;
    while (true) {
        const auto result = decoder.next(buffer);
        decoded.content += result.piece;
        buffer.erase(0, result.consumed);
        decoded.end = result.step;
        if (result.step == Step::piece) continue;
        if (result.step != Step::need_more || input.empty()) break;
        buffer += input.substr(0, piece);
        input.remove_prefix(std::min(piece, input.size()));
    }
    decoded.left = buffer + std::string(input);
    return decoded;
}

Decoded decode(std::string_view input, std::size_t piece) {
    ChunkedDecoder decoder;
    return decode(decoder, input, piece);
}

const std::string nul(1, '\0');

}  // namespace

TEST_CASE("chunked messages decode however they are cut", "[R117]") {
    struct Case {
        const char* what;
        std::string input;
        std::string content;
    };
    // RFC 9112 §7.1
    const auto& [what, input, content] = GENERATE(values<Case>({
        {"one chunk", "5\r\nhello\r\n0\r\n\r\n", "hello"},
        {"no content", "0\r\n\r\n", ""},
        {"several chunks", "1\r\na\r\n2\r\nbc\r\n3\r\ndef\r\n0\r\n\r\n", "abcdef"},
        {"upper and lower case digits", "A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789"},
        {"leading zeros", "0005\r\nhello\r\n000\r\n\r\n", "hello"},
        {"content that looks like framing", "9\r\n\r\n0\r\n\r\n\r\n\r\n0\r\n\r\n", "\r\n0\r\n\r\n\r\n"},
        {"bare LF and NUL in content", "3\r\n\n" + nul + "\n\r\n0\r\n\r\n", "\n" + nul + "\n"},
        {"more zeros than a number has digits",
         std::string(40, '0') + "5\r\nhello\r\n" + std::string(40, '0') + "\r\n\r\n", "hello"},
        {"an escape and obs-text in a quoted extension", "5;a=\"\\\\\xE9\\\"\"\r\nhello\r\n0\r\n\r\n", "hello"},
        {"tabs around extensions", "5\t;\ta\t=\tb\t;\tc\r\nhello\r\n0\r\n\r\n", "hello"},
        {"extensions", "5;name\r\nhello\r\n0;a=b\r\n\r\n", "hello"},
        {"quoted extension", "5;a=\"x;\\\"y\"\r\nhello\r\n0\r\n\r\n", "hello"},
        {"white space around extensions", "5 ; a = b\r\nhello\r\n0\r\n\r\n", "hello"},
        {"trailers", "5\r\nhello\r\n0\r\nX-Sum: 1\r\nX-Other: 2\r\n\r\n", "hello"},
    }));
    const std::size_t piece = GENERATE(1U, 2U, 3U, 7U, 1000U);
    INFO(what << " in pieces of " << piece);
    const Decoded decoded = decode(input + "NEXT", piece);
    CHECK(decoded.end == Step::finished);
    CHECK(decoded.content == content);
    CHECK(decoded.left == "NEXT");
}

TEST_CASE("bad chunked messages are refused however they are cut", "[R117][R119]") {
    struct Case {
        const char* what;
        std::string input;
    };
    const auto& [what, input] = GENERATE(values<Case>({
        {"no size", "\r\nhello\r\n0\r\n\r\n"},
        {"not hexadecimal", "g\r\nhello\r\n0\r\n\r\n"},
        {"sign", "+5\r\nhello\r\n0\r\n\r\n"},
        {"negative", "-5\r\nhello\r\n0\r\n\r\n"},
        {"prefix", "0x5\r\nhello\r\n0\r\n\r\n"},
        {"white space first", " 5\r\nhello\r\n0\r\n\r\n"},
        {"white space after the size", "5 \r\nhello\r\n0\r\n\r\n"},
        {"tab after the size", "5\t\r\nhello\r\n0\r\n\r\n"},
        {"overflow by one digit", "10000000000000000\r\nhello"},
        {"overflow", "fffffffffffffffff\r\nhello"},
        {"bare LF after the size", "5\nhello\r\n0\r\n\r\n"},
        {"bare CR after the size", "5\rhello\r\n0\r\n\r\n"},
        {"content longer than the size", "5\r\nhello!\r\n0\r\n\r\n"},
        {"no CR LF after content", "5\r\nhello0\r\n\r\n"},
        {"bare LF after content", "5\r\nhello\n0\r\n\r\n"},
        {"bare LF after the last chunk", "5\r\nhello\r\n0\n\r\n"},
        {"bare LFs only", "5\nhello\n0\n\n"},
        {"bare LF ends the trailer section", "0\r\nX: y\r\n\n"},
        {"bare LF after a trailer", "0\r\nX: y\n\r\n"},
        {"white space behind an extension", "5;a=b \r\nhello\r\n0\r\n\r\n"},
        {"control character behind an escape", "5;a=\"\\\x01\"\r\nhello\r\n0\r\n\r\n"},
        {"DEL in a trailer", "0\r\nX: y\x7F\r\n\r\n"},
        {"extension without name", "5;\r\nhello\r\n0\r\n\r\n"},
        {"extension without semicolon", "5 a\r\nhello\r\n0\r\n\r\n"},
        {"extension without value", "5;a=\r\nhello\r\n0\r\n\r\n"},
        {"quoted value without end", "5;a=\"x\r\nhello\r\n0\r\n\r\n"},
        {"quoted value without end in the last chunk", "0;a=\"x\r\n\r\n"},
        {"bare LF in a quoted value", "5;a=\"x\ny\"\r\nhello\r\n0\r\n\r\n"},
        {"CR LF in a quoted value", "5;a=\"x\r\ny\"\r\nhello\r\n0\r\n\r\n"},
        {"NUL in a quoted value", "5;a=\"x" + nul + "\"\r\nhello\r\n0\r\n\r\n"},
        {"NUL after the size", "5" + nul + "\r\nhello\r\n0\r\n\r\n"},
        {"folded trailer", "0\r\nX: y\r\n z\r\n\r\n"},
        {"trailer without colon", "0\r\nX y\r\n\r\n"},
        {"white space before a trailer's colon", "0\r\nX : y\r\n\r\n"},
        {"white space before a trailer", "0\r\n X: y\r\n\r\n"},
        {"NUL in a trailer", "0\r\nX: y" + nul + "\r\n\r\n"},
        {"bare CR in a trailer", "0\r\nX: y\rz\r\n\r\n"},
        {"length in the trailer section", "0\r\nContent-Length: 5\r\n\r\n"},
        {"coding in the trailer section", "0\r\nTransfer-Encoding: chunked\r\n\r\n"},
    }));
    const std::size_t piece = GENERATE(1U, 2U, 5U, 1000U);
    INFO(what << " in pieces of " << piece);
    CHECK(decode(input, piece).end == Step::malformed);
}

TEST_CASE("a chunked message cut short anywhere is never finished", "[R65][R87]") {
    const std::string whole = "5;a=\"b\"\r\nhello\r\n3\r\nabc\r\n0\r\nX: y\r\n\r\n";
    for (std::size_t cut = 0; cut < whole.size(); ++cut) {
        INFO("after " << cut << " bytes");
        CHECK(decode(whole.substr(0, cut), 1).end == Step::need_more);
        CHECK(decode(whole.substr(0, cut), 1000).end == Step::need_more);
    }
}

TEST_CASE("extensions, zeros and trailers are bounded, in one line and over many", "[R117]") {
    const std::string much(20U << 10, 'x');
    const std::size_t piece = GENERATE(1000U, 1U << 20);
    CHECK(decode("5;a=" + much + "\r\nhello\r\n0\r\n\r\n", piece).end == Step::malformed);
    CHECK(decode("5;a=" + much, piece).end == Step::malformed);
    CHECK(decode(std::string(20U << 10, '0') + "5\r\nhello\r\n0\r\n\r\n", piece).end == Step::malformed);
    CHECK(decode("0\r\nX: " + much + "\r\n\r\n", piece).end == Step::malformed);

    std::string many;
    for (int i = 0; i < 2000; ++i) many += "1;extension=ten-bytes-more\r\nx\r\n";
    CHECK(decode(many + "0\r\n\r\n", piece).end == Step::malformed);
    std::string trailers = "0\r\n";
    for (int i = 0; i < 2000; ++i) trailers += "X-Trailer: value\r\n";
    CHECK(decode(trailers + "\r\n", piece).end == Step::malformed);
}

TEST_CASE("many small chunks without extensions have no bound") {
    std::string many;
    for (int i = 0; i < 50000; ++i) many += "1\r\nx\r\n";
    const Decoded decoded = decode(many + "0\r\n\r\n", 4096);
    CHECK(decoded.end == Step::finished);
    CHECK(decoded.content.size() == 50000);
}

TEST_CASE("trailers are set apart and kept as received", "[R9][R78]") {
    ChunkedDecoder decoder;
    const Decoded decoded =
        decode(decoder, "1\r\nx\r\n0\r\nIdempotency-Key: late\r\nx-SUM:  1 \r\nx-sum: 2\r\n\r\n", 3);
    REQUIRE(decoded.end == Step::finished);
    const core::Fields& trailers = decoder.trailers();
    REQUIRE(trailers.size() == 3);
    CHECK(trailers[0] == core::FieldView{"Idempotency-Key", "late"});
    CHECK(trailers[1] == core::FieldView{"x-SUM", "1"});
    CHECK(trailers[2] == core::FieldView{"x-sum", "2"});
}

TEST_CASE("skipping the framing tells of the end without taking content") {
    ChunkedDecoder decoder;
    const std::string first = "5\r\nhello\r\n3\r\nabc";
    auto step = decoder.next(first);
    REQUIRE(step.step == Step::piece);
    CHECK(step.piece == "hello");
    auto rest = first.substr(step.consumed);
    step = decoder.skip_framing(rest);
    CHECK(step.step == Step::piece);
    rest.erase(0, step.consumed);
    CHECK(rest == "abc");
    CHECK(decoder.skip_framing(rest).consumed == 0);
    step = decoder.next(rest);
    CHECK(step.piece == "abc");
    std::string end = "\r\n0\r\n\r";
    step = decoder.skip_framing(end);
    CHECK(step.step == Step::need_more);
    end.erase(0, step.consumed);
    CHECK(decoder.skip_framing(end + "\n").step == Step::finished);
    CHECK(decoder.finished());
}
