// Signed tokens: what the RFCs give as examples, every algorithm, and each way in which a token has been forged or
// misread before (RFC 8725 §2).

#include "core/jwt.hpp"

#include <array>
#include <catch2/catch.hpp>

#include "core/jwt_algorithm.hpp"
#include "core/jwt_text.hpp"
#include "token_signer.hpp"

using namespace oncegate::core;
using token_test::base64url;
using token_test::jwks;
using token_test::Signer;

namespace {

constexpr std::int64_t now = 1'300'819'000;  // before the `exp` of RFC 7515's examples, 1300819380

/// RFC 7515 appendix A: the payload of its examples.
const std::string rfc_payload =
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";

TokenRules rules_of(const std::string& file) {
    auto keys = parse_token_keys(file);
    UNSCOPED_INFO((keys.has_error() ? keys.error() : std::string()));
    REQUIRE(keys.has_value());
    TokenRules rules;
    rules.keys = std::move(*keys);
    return rules;
}

/// "good", or why it is refused.
std::string verdict(const std::string& token, const TokenRules& rules, std::int64_t at = now) {
    const auto claims = verify_token(token, rules, at);
    return claims.has_value() ? "good" : claims.error();
}

bool is_refused(const std::string& token, const TokenRules& rules) { return verdict(token, rules) != "good"; }

}  // namespace

TEST_CASE("the examples of RFC 7515 appendix A are verified", "[R36]") {
    const auto secret = rules_of(jwks(
        {R"({"kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"})"}));
    const std::string hs256 =
        "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9." + rfc_payload + ".dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    const auto claims = verify_token(hs256, secret, now);
    REQUIRE(claims.has_value());
    CHECK(claims->at("iss") == "joe");
    CHECK(claims->at("http://example.com/is_root") == true);

    const auto rsa = rules_of(
        R"({"kty":"RSA","e":"AQAB","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"})");
    const std::string rs256 =
        "eyJhbGciOiJSUzI1NiJ9." + rfc_payload +
        ".cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUA"
        "r7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--"
        "x"
        "i12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_"
        "IoypG"
        "lUPQGe77Rw";
    CHECK(verdict(rs256, rsa) == "good");

    const auto ec = rules_of(
        R"({"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"})");
    const std::string es256 = "eyJhbGciOiJFUzI1NiJ9." + rfc_payload +
                              ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
    CHECK(verdict(es256, ec) == "good");
    CHECK(verdict(es256, rsa) == "The signature algorithm of the token is not accepted here");

    CHECK(is_refused("eyJhbGciOiJub25lIn0." + rfc_payload + ".", secret));  // A.5, without any signature
}

TEST_CASE("the example of RFC 8037 appendix A is verified", "[R36]") {
    const auto keys =
        parse_token_keys(R"({"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"})");
    REQUIRE(keys.has_value());
    const auto signature =
        decode_base64url("hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg");
    REQUIRE(signature);
    const auto* algorithm = find_jwt_algorithm("EdDSA");
    REQUIRE(algorithm != nullptr);
    // Its payload is no JSON, so that the signature alone can be looked at.
    const std::string message = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc";
    CHECK(verify_signature(*algorithm, keys->front(), message, *signature));
    CHECK_FALSE(verify_signature(*algorithm, keys->front(), message + "A", *signature));
}

TEST_CASE("every algorithm verifies what a key of its own signed and nothing else", "[R36]") {
    const auto name = GENERATE(as<std::string>(), "HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "PS256",
                               "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA");
    CAPTURE(name);
    const Signer signer(name);
    const Signer stranger(name);
    const auto rules = rules_of(jwks({signer.jwk()}));
    CHECK(verdict(signer.sign(R"({"sub":"alice"})"), rules) == "good");
    CHECK(is_refused(stranger.sign(R"({"sub":"alice"})"), rules));

    auto changed = signer.sign(R"({"sub":"alice"})");
    const auto dot = changed.find('.');
    changed.replace(dot + 1, changed.rfind('.') - dot - 1, base64url(R"({"sub":"malory"})"));
    CHECK(is_refused(changed, rules));
    auto cut = signer.sign(R"({"sub":"alice"})");
    cut.resize(cut.rfind('.') + 1);
    CHECK(is_refused(cut, rules));

    auto pem_rules = rules_of(name.starts_with("HS") ? jwks({signer.jwk()}) : signer.public_pem());
    CHECK(verdict(signer.sign(R"({"sub":"alice"})"), pem_rules) == "good");
    pem_rules.algorithms = {name == "RS256" ? "PS256" : "RS256"};
    CHECK(verdict(signer.sign(R"({"sub":"alice"})"), pem_rules) ==
          "The signature algorithm of the token is not accepted here");
}

TEST_CASE("a public key is never taken for a secret", "[R36]") {
    const Signer rsa("RS256");
    const auto pem = rsa.public_pem();
    const auto rules = rules_of(pem);
    const auto jwk = std::string(R"({"kty":"oct","k":")").append(base64url(pem)).append("\"}");
    // What the forger does: HMAC with the text of the public key, which everybody has.
    const auto* hs256 = find_jwt_algorithm("HS256");
    CHECK_FALSE(fits(rules.keys.front(), *hs256));
    const auto message = base64url(R"({"alg":"HS256"})").append(".").append(base64url(R"({"sub":"alice"})"));
    std::array<unsigned char, 32> mac{};
    std::size_t size = 0;
    REQUIRE(EVP_Q_mac(nullptr, "HMAC", nullptr, "SHA256", nullptr, pem.data(), pem.size(),
                      reinterpret_cast<const unsigned char*>(message.data()), message.size(), mac.data(), mac.size(),
                      &size) != nullptr);
    const std::string signature(reinterpret_cast<const char*>(mac.data()), size);
    const auto token = std::string(message).append(".").append(base64url(signature));
    CHECK(verdict(token, rules_of(jwks({jwk}))) == "good");  // the forgery itself is well made
    CHECK(verdict(token, rules) == "The signature algorithm of the token is not accepted here");
}

TEST_CASE("a token without signature is refused however none is written", "[R36]") {
    const Signer signer("HS256");
    const auto rules = rules_of(jwks({signer.jwk()}));
    for (const auto* alg : {"none", "None", "NONE", "nOnE", "hs256", ""}) {
        CAPTURE(alg);
        const auto header = std::string("{\"alg\":\"").append(alg).append("\"}");
        CHECK(is_refused(base64url(header).append(".").append(base64url("{}")).append("."), rules));
        CHECK(is_refused(signer.sign(header, "{}"), rules));
    }
    CHECK(is_refused(signer.sign(R"({"typ":"JWT"})", "{}"), rules));
    CHECK(is_refused(signer.sign(R"({"alg":["HS256"]})", "{}"), rules));
}

TEST_CASE("extensions that must be understood are refused", "[R36]") {
    const Signer signer("HS256");
    const auto rules = rules_of(jwks({signer.jwk()}));
    CHECK(verdict(signer.sign(R"({"alg":"HS256","crit":["b64"],"b64":false})", "{}"), rules) ==
          "The token asks for an extension that is not known here");
    CHECK(is_refused(signer.sign(R"({"alg":"HS256","crit":[]})", "{}"), rules));
}

TEST_CASE("what two readers could take for two things is no token", "[R36]") {
    const Signer signer("HS256");
    const auto rules = rules_of(jwks({signer.jwk()}));
    const auto good = signer.sign(R"({"sub":"alice"})");
    REQUIRE(verdict(good, rules) == "good");
    CHECK(is_refused(signer.sign(R"({"sub":"alice","sub":"malory"})"), rules));
    CHECK(is_refused(signer.sign(R"({"a":{"b":1,"b":2}})"), rules));
    CHECK(is_refused(signer.sign(R"({"alg":"none","alg":"HS256"})", "{}"), rules));
    CHECK(is_refused(signer.sign(R"({"\u0061lg":"none","alg":"HS256"})", "{}"), rules));
    CHECK(is_refused(signer.sign(R"({"sub":"alice"} x)"), rules));
    CHECK(is_refused(signer.sign(R"(["sub"])"), rules));
    CHECK(is_refused(signer.sign("{'sub':1}"), rules));
    CHECK(is_refused(signer.sign("{\"sub\":\"\xff\"}"), rules));
    CHECK(is_refused(good + "=", rules));
    CHECK(is_refused(good + ".", rules));
    CHECK(is_refused(" " + good, rules));
    CHECK(is_refused(good.substr(0, good.rfind('.')), rules));
    CHECK(is_refused(good.substr(0, good.find('.')), rules));
    CHECK(is_refused("", rules));
    CHECK(is_refused("..", rules));
    CHECK(is_refused(good + std::string(token_bytes_max, 'A'), rules));
    std::string deep(2'000, '[');
    CHECK(is_refused(signer.sign("{\"a\":" + deep + "}"), rules));
}

TEST_CASE("base64url is read in one spelling only", "[R36]") {
    CHECK(decode_base64url("") == "");
    CHECK(decode_base64url("Zg") == "f");
    CHECK(decode_base64url("Zm9v") == "foo");
    CHECK(decode_base64url("-_8") == "\xfb\xff");
    // Too short, padded, of the other alphabet, with white space, with bits set that belong to no byte.
    for (const auto* text : {"Z", "Zg==", "Zm9v=", "+/8", "Zm9v\n", "Zm 9", "Zh", "Zm9"}) {
        CAPTURE(text);
        CHECK_FALSE(decode_base64url(text).has_value());
    }
}

TEST_CASE("a token holds between its times with a minute of tolerance", "[R36]") {
    const Signer signer("HS256");
    const auto rules = rules_of(jwks({signer.jwk()}));
    const auto token = signer.sign(R"({"nbf":1000000,"exp":1000600})");
    CHECK(verdict(token, rules, 1'000'300) == "good");
    CHECK(verdict(token, rules, 1'000'659) == "good");
    CHECK(verdict(token, rules, 1'000'660) == "The token has expired");
    CHECK(verdict(token, rules, 999'940) == "good");
    CHECK(verdict(token, rules, 999'939) == "The token is not valid yet");
    CHECK(verdict(signer.sign(R"({"exp":1000600.5})"), rules, 1'000'660) == "good");
    CHECK(verdict(signer.sign(R"({"sub":"forever"})"), rules, 1LL << 40) == "good");
    CHECK(verdict(signer.sign(R"({"exp":"1000600"})"), rules, 0) == "The token is malformed");
    CHECK(verdict(signer.sign(R"({"exp":null})"), rules, 0) == "The token is malformed");
    CHECK(verdict(signer.sign(R"({"exp":-1})"), rules) == "The token has expired");
    CHECK(verdict(signer.sign(R"({"exp":1e400})"), rules) == "The token is malformed");
}

TEST_CASE("issuer and audience are compared when they are asked for", "[R36]") {
    const Signer signer("HS256");
    auto rules = rules_of(jwks({signer.jwk()}));
    rules.issuers = {"https://a.example", "https://b.example"};
    rules.audiences = {"payments", "orders"};
    const auto of = [&](const std::string& claims) { return verdict(signer.sign(claims), rules); };
    CHECK(of(R"({"iss":"https://b.example","aud":"payments"})") == "good");
    CHECK(of(R"({"iss":"https://a.example","aud":["other","orders"]})") == "good");
    CHECK(of(R"({"iss":"https://c.example","aud":"payments"})") ==
          "The token was not issued by one that is accepted here");
    CHECK(of(R"({"aud":"payments"})") == "The token was not issued by one that is accepted here");
    CHECK(of(R"({"iss":["https://a.example"],"aud":"payments"})") != "good");
    CHECK(of(R"({"iss":"https://a.example","aud":"other"})") == "The token is for another audience");
    CHECK(of(R"({"iss":"https://a.example","aud":[]})") == "The token is for another audience");
    CHECK(of(R"({"iss":"https://a.example","aud":[7]})") == "The token is for another audience");
    CHECK(of(R"({"iss":"https://a.example"})") == "The token is for another audience");
}

TEST_CASE("a key is chosen by its name and without one every key that fits is tried", "[R36]") {
    const Signer one("ES256");
    const Signer two("ES256");
    const auto rules = rules_of(jwks({one.jwk(R"(,"kid":"one")"), two.jwk(R"(,"kid":"two","use":"sig")")}));
    const auto named = [](const Signer& signer, const std::string& kid) {
        return signer.sign(std::string(R"({"alg":"ES256","kid":")").append(kid).append("\"}"), "{}");
    };
    CHECK(verdict(named(one, "one"), rules) == "good");
    CHECK(verdict(named(two, "two"), rules) == "good");
    CHECK(is_refused(named(one, "two"), rules));
    CHECK(is_refused(named(one, "three"), rules));
    CHECK(verdict(two.sign("{}"), rules) == "good");
    CHECK(verdict(named(two, "whatever"), rules_of(two.public_pem())) == "good");
    CHECK(is_refused(two.sign(R"({"alg":"ES256","kid":2})", "{}"), rules));
}

TEST_CASE("a key that is kept for one algorithm serves no other", "[R36]") {
    const Signer signer("RS256");
    const auto rules = rules_of(jwks({signer.jwk(R"(,"alg":"RS512")")}));
    CHECK(verdict(signer.sign("{}"), rules) == "The signature algorithm of the token is not accepted here");
    TokenRules narrow = rules_of(signer.public_pem());
    CHECK(can_verify(narrow));
    narrow.algorithms = {"ES256"};
    CHECK_FALSE(can_verify(narrow));
}

TEST_CASE("a number that no integer holds keeps its digits among the claims", "[R36]") {
    const Signer signer("HS256");
    const auto rules = rules_of(jwks({signer.jwk()}));
    const auto claims = verify_token(
        signer.sign(R"({"a":{"sub":1.5},"tenant":123456789012345678901234567890,"n":7,"big":18446744073709551615})"),
        rules, now);
    REQUIRE(claims.has_value());
    CHECK(claims->at("tenant") == "123456789012345678901234567890");
    CHECK(claims->at("n") == 7);
    CHECK(claims->at("big") == 18446744073709551615ULL);
}
