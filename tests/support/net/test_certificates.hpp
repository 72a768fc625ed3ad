#pragma once
// Certificates made when a test runs, in a directory that goes with the object: no key is ever kept. Made with
// OpenSSL's own functions, so that the code under test is not checked by itself.

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace oncegate::test {

/// Paths of PEM files.
struct CertificateFiles {
    std::string certificate;
    std::string private_key;
};

/// What a certificate is to say.
struct CertificateWish {
    enum class Key { ecdsa, rsa, ed25519 };
    std::string common_name;
    std::vector<std::string> names{};  ///< "DNS:a.example", "IP:127.0.0.1", "URI:spiffe://x/y", "email:a@b.example"
    Key key = Key::ecdsa;
    std::chrono::hours valid_from{-1};  ///< from now
    std::chrono::hours valid_to{24};
};

class TestAuthority {
 public:
    explicit TestAuthority(const std::string& common_name = "Test Authority");
    ~TestAuthority();
    TestAuthority(const TestAuthority&) = delete;
    TestAuthority& operator=(const TestAuthority&) = delete;

    /// PEM file of the authority's own certificate.
    const std::string& certificate() const { return certificate_; }

    CertificateFiles issue(const CertificateWish& wish) const;

    /// The same with an intermediate authority between: the file holds the leaf and then the intermediate.
    CertificateFiles issue_by_intermediate(const CertificateWish& wish) const;

    /// The private key of `files` in a new file that needs a password.
    std::string encrypted_key(const CertificateFiles& files) const;

    /// A new file in the directory with this content.
    std::string write_file(const std::string& content) const;

 private:
    struct Signer;
    std::string next_path(const std::string& ending) const;
    CertificateFiles write(const Signer& leaf, const Signer* intermediate) const;

    std::filesystem::path directory_;
    mutable int files_ = 0;
    std::unique_ptr<Signer> root_;
    std::string certificate_;
};

/// What a file holds.
std::string content_of(const std::string& path);

/// Of the first certificate in the file: lower-case hex of the SHA-256 of its DER form.
std::string fingerprint_of(const std::string& path);

}  // namespace oncegate::test
