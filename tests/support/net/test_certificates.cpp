#include "support/net/test_certificates.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace oncegate::test {

namespace {

struct Free {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
    void operator()(X509* certificate) const { X509_free(certificate); }
    void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
    void operator()(std::FILE* file) const { std::fclose(file); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

void need(bool fine, const char* what) {
    if (!fine) throw std::runtime_error(std::string("test certificates: ").append(what));
}

EVP_PKEY* make_key(CertificateWish::Key kind) {
    if (kind == CertificateWish::Key::rsa) return EVP_RSA_gen(2048);
    if (kind == CertificateWish::Key::ed25519) return EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
    return EVP_EC_gen("P-256");
}

void add_extension(X509* certificate, X509* issuer, int kind, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    const Owned<X509_EXTENSION> extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
    need(extension && X509_add_ext(certificate, extension.get(), -1) == 1, "extension");
}

void name_it(X509* certificate, const std::string& common_name) {
    X509_NAME* subject = X509_get_subject_name(certificate);
    const auto add = [&](const char* field, const std::string& value) {
        X509_NAME_add_entry_by_txt(subject, field, MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(value.data()),
                                   static_cast<int>(value.size()), -1, 0);
    };
    add("O", "Example");
    if (!common_name.empty()) add("CN", common_name);
}

std::string joined(const std::vector<std::string>& names) {
    std::string all;
    for (const auto& name : names) all.append(all.empty() ? "" : ",").append(name);
    return all;
}

Owned<std::FILE> create(const std::string& path) {
    Owned<std::FILE> file(std::fopen(path.c_str(), "w"));
    need(file != nullptr, "file");
    return file;
}

}  // namespace

struct TestAuthority::Signer {
    enum class Use { authority, leaf };

    /// `issuer` null: signed by itself.
    Signer(const CertificateWish& wish, const Signer* issuer, Use use)
        : key(make_key(wish.key)), certificate(X509_new()) {
        static std::atomic<long> serial{1};
        X509* made = certificate.get();
        need(key && made != nullptr, "memory");
        X509_set_version(made, X509_VERSION_3);
        ASN1_INTEGER_set(X509_get_serialNumber(made), ::getpid() * 1000L + serial++);
        X509_gmtime_adj(X509_getm_notBefore(made), std::chrono::seconds(wish.valid_from).count());
        X509_gmtime_adj(X509_getm_notAfter(made), std::chrono::seconds(wish.valid_to).count());
        X509_set_pubkey(made, key.get());
        name_it(made, wish.common_name);
        X509* parent = issuer != nullptr ? issuer->certificate.get() : made;
        X509_set_issuer_name(made, X509_get_subject_name(parent));
        add_extension(made, parent, NID_basic_constraints, use == Use::authority ? "critical,CA:TRUE" : "CA:FALSE");
        add_extension(made, parent, NID_subject_key_identifier, "hash");
        if (!wish.names.empty()) add_extension(made, parent, NID_subject_alt_name, joined(wish.names));
        EVP_PKEY* signing = issuer != nullptr ? issuer->key.get() : key.get();
        const bool hashes_itself = EVP_PKEY_get_base_id(signing) == EVP_PKEY_ED25519;
        need(X509_sign(made, signing, hashes_itself ? nullptr : EVP_sha256()) > 0, "signature");
    }

    Owned<EVP_PKEY> key;
    Owned<X509> certificate;
};

TestAuthority::TestAuthority(const std::string& common_name) {
    std::string name = (std::filesystem::temp_directory_path() / "oncegate-certificates-XXXXXX").string();
    need(::mkdtemp(name.data()) != nullptr, "directory");
    directory_ = name;
    CertificateWish wish;
    wish.common_name = common_name;
    root_ = std::make_unique<Signer>(wish, nullptr, Signer::Use::authority);
    certificate_ = next_path(".crt");
    PEM_write_X509(create(certificate_).get(), root_->certificate.get());
}

TestAuthority::~TestAuthority() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
}

std::string TestAuthority::next_path(const std::string& ending) const {
    return (directory_ / std::to_string(files_++).append(ending)).string();
}

CertificateFiles TestAuthority::write(const Signer& leaf, const Signer* intermediate) const {
    CertificateFiles files{next_path(".crt"), next_path(".key")};
    const auto certificates = create(files.certificate);
    PEM_write_X509(certificates.get(), leaf.certificate.get());
    if (intermediate != nullptr) PEM_write_X509(certificates.get(), intermediate->certificate.get());
    PEM_write_PrivateKey(create(files.private_key).get(), leaf.key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    return files;
}

CertificateFiles TestAuthority::issue(const CertificateWish& wish) const {
    const Signer leaf(wish, root_.get(), Signer::Use::leaf);
    return write(leaf, nullptr);
}

CertificateFiles TestAuthority::issue_by_intermediate(const CertificateWish& wish) const {
    CertificateWish between;
    between.common_name = "Intermediate";
    const Signer intermediate(between, root_.get(), Signer::Use::authority);
    const Signer leaf(wish, &intermediate, Signer::Use::leaf);
    return write(leaf, &intermediate);
}

std::string TestAuthority::encrypted_key(const CertificateFiles& files) const {
    const Owned<std::FILE> plain(std::fopen(files.private_key.c_str(), "r"));
    const Owned<EVP_PKEY> key(PEM_read_PrivateKey(plain.get(), nullptr, nullptr, nullptr));
    need(key != nullptr, "key");
    const std::string path = next_path(".key");
    std::string password = "secret";
    PEM_write_PKCS8PrivateKey(create(path).get(), key.get(), EVP_aes_256_cbc(), password.data(),
                              static_cast<int>(password.size()), nullptr, nullptr);
    return path;
}

std::string TestAuthority::write_file(const std::string& content) const {
    const std::string path = next_path(".pem");
    std::ofstream(path) << content;
    return path;
}

std::string content_of(const std::string& path) {
    std::ostringstream all;
    all << std::ifstream(path).rdbuf();
    return all.str();
}

std::string fingerprint_of(const std::string& path) {
    const Owned<std::FILE> file(std::fopen(path.c_str(), "r"));
    const Owned<X509> certificate(PEM_read_X509(file.get(), nullptr, nullptr, nullptr));
    need(certificate != nullptr, "certificate");
    unsigned char* der = nullptr;
    const int size = i2d_X509(certificate.get(), &der);
    unsigned char digest[32];
    EVP_Q_digest(nullptr, "SHA256", nullptr, der, static_cast<std::size_t>(size), digest, nullptr);
    OPENSSL_free(der);
    std::string text;
    for (const unsigned char byte : digest) {
        char two[3];
        std::snprintf(two, sizeof two, "%02x", byte);
        text += two;
    }
    return text;
}

}  // namespace oncegate::test
