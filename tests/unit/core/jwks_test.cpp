// Key files: what is taken, what is left out, and what is refused with the reason.

#include "core/jwks.hpp"

#include <catch2/catch.hpp>

#include "token_signer.hpp"

using namespace oncegate::core;
using token_test::jwks;
using token_test::Signer;
using Type = TokenKey::Type;

namespace {

std::string fault(const std::string& text) {
    const auto keys = parse_token_keys(text);
    return keys.has_value() ? "taken" : keys.error();
}

std::vector<Type> types(const std::string& text) {
    const auto keys = parse_token_keys(text);
    UNSCOPED_INFO((keys.has_error() ? keys.error() : std::string()));
    REQUIRE(keys.has_value());
    std::vector<Type> out;
    for (const auto& key : *keys) out.push_back(key.type);
    return out;
}

}  // namespace

TEST_CASE("a PEM file may hold several public keys", "[R36]") {
    const auto text = "a comment\n" + Signer("RS256").public_pem() + Signer("ES384").public_pem() +
                      Signer("EdDSA").public_pem() + "\n";
    CHECK(types(text) == std::vector{Type::rsa, Type::p384, Type::ed25519});
}

TEST_CASE("a private key is refused and never taken for a public one", "[R36]") {
    const Signer signer("ES256");
    CHECK(fault(signer.private_pem()) == "it holds a private key; tokens are verified with the public one");
    CHECK(fault(signer.public_pem() + signer.private_pem()) ==
          "it holds a private key; tokens are verified with the public one");
    CHECK(fault(jwks({signer.jwk(R"(,"d":"AAAA")")})) ==
          "it holds a private key; tokens are verified with the public one");
}

TEST_CASE("a JWK Set holds keys of all types and those of other kinds are left out", "[R36]") {
    const auto text = jwks({Signer("RS256").jwk(), Signer("ES256").jwk(), Signer("ES384").jwk(), Signer("ES512").jwk(),
                            Signer("EdDSA").jwk(), Signer("HS256").jwk(), R"({"kty":"OKP","crv":"X25519","x":"AAAA"})",
                            R"({"kty":"EC","crv":"secp256k1","x":"AAAA","y":"AAAA"})", R"({"kty":"quantum"})",
                            Signer("RS256").jwk(R"(,"use":"enc")"), Signer("RS256").jwk(R"(,"key_ops":["wrapKey"])")});
    CHECK(types(text) == std::vector{Type::rsa, Type::p256, Type::p384, Type::p521, Type::ed25519, Type::secret});
    CHECK(types(Signer("ES256").jwk()) == std::vector{Type::p256});  // one key without a set around it
    CHECK(types(jwks({Signer("ES256").jwk(R"(,"key_ops":["verify"])")})) == std::vector{Type::p256});
}

TEST_CASE("a file without a usable key says what is wrong with it", "[R36]") {
    CHECK(fault("s3cr3t\n").starts_with("it is neither PEM nor JSON; an HMAC secret is written as a JWK Set"));
    CHECK(fault("").starts_with("it is neither PEM nor JSON"));
    CHECK(fault("{\"keys\":") == "it is not a JSON object, or names a member twice");
    CHECK(fault(R"({"keys":[],"keys":[]})") == "it is not a JSON object, or names a member twice");
    CHECK(fault(R"({"keys":{}})") == "its 'keys' is not a list");
    CHECK(fault(R"({"keys":[7]})") == "a key in it is not a JSON object");
    CHECK(fault(R"({"keys":[]})") == "there is no key in it that tokens could be verified with");
    CHECK(fault(R"({"keys":[{"kty":"oct","k":"c2hvcnQ"}]})") == "a secret in it has fewer than 32 bytes");
    CHECK(fault(R"({"keys":[{"kty":"oct","k":"="}]})") == "a secret in it is not base64url");
    CHECK(fault(R"({"keys":[{"kty":"EC","crv":"P-256","x":"AAAA","y":"AAAA"}]})") == "a key in it cannot be read");
    CHECK(fault(R"({"keys":[{"kty":"RSA","n":"AAAA"}]})") == "a key in it cannot be read");
    CHECK(fault(R"({"keys":[{"kty":"RSA","n":"u7s","e":"AQAB"}]})") == "an RSA key in it has fewer than 2048 bits");
    CHECK(fault("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n") ==
          "a key or certificate in it cannot be read");
    CHECK(fault("-----BEGIN PUBLIC KEY-----\nAAAA\n") == "its PEM form is broken");
    CHECK(fault("-----BEGIN DH PARAMETERS-----\nAAAA\n-----END DH PARAMETERS-----\n") ==
          "there is no public key and no certificate in it");
}

TEST_CASE("a point that is not on its curve is no key", "[R36]") {
    const std::string x(43, 'A');
    CHECK(fault(R"({"keys":[{"kty":"EC","crv":"P-256","x":")" + x + R"(","y":")" + x + R"("}]})") ==
          "a key in it cannot be read");
}

TEST_CASE("a key that cannot be used is no fault of the others", "[R36]") {
    const std::string weak = R"({"kty":"RSA","n":"u7s","e":"AQAB"})";
    const std::string short_secret = R"({"kty":"oct","k":"c2hvcnQ"})";
    CHECK(types(jwks({weak, Signer("ES256").jwk(), short_secret})) == std::vector{Type::p256});
    CHECK(fault(jwks({weak, short_secret})) == "an RSA key in it has fewer than 2048 bits");
}

TEST_CASE("an RSA exponent with which everybody signs is refused", "[R36]") {
    auto text = Signer("RS256").jwk();
    const auto at = text.find("\"e\":\"AQAB\"");
    REQUIRE(at != std::string::npos);
    for (const std::string exponent : {"AQ", "AA", "Ag"}) {  // 1, 0 and 2
        auto forged = text;
        forged.replace(at, 10, "\"e\":\"" + exponent + "\"");
        CHECK(fault(jwks({forged})) != "taken");
    }
    CHECK(fault(jwks({text})) == "taken");
}
