#include "net/tls_identity.hpp"

#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace oncegate::net {

namespace {

/// Empty for a text that could be taken for another one: identities are compared, logged and hashed.
std::string printable(const ASN1_STRING* text) {
    const std::string_view bytes(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                                 static_cast<std::size_t>(ASN1_STRING_length(text)));
    const bool plain = std::all_of(bytes.begin(), bytes.end(), [](char c) { return c > 0x20 && c < 0x7f; });
    return plain ? std::string(bytes) : std::string();
}

std::string address_text(const ASN1_OCTET_STRING* octets) {
    const auto* bytes = ASN1_STRING_get0_data(octets);
    const int size = ASN1_STRING_length(octets);
    if (size == 4) {
        asio::ip::address_v4::bytes_type four;
        std::copy_n(bytes, 4, four.begin());
        return asio::ip::make_address_v4(four).to_string();
    }
    if (size != 16) return {};
    asio::ip::address_v6::bytes_type sixteen;
    std::copy_n(bytes, 16, sixteen.begin());
    return asio::ip::make_address_v6(sixteen).to_string();
}

std::string name_text(const GENERAL_NAME& name) {
    std::string prefix;
    std::string text;
    if (name.type == GEN_DNS) {
        prefix = "dns:";
        text = printable(name.d.dNSName);
    } else if (name.type == GEN_URI) {
        prefix = "uri:";
        text = printable(name.d.uniformResourceIdentifier);
    } else if (name.type == GEN_EMAIL) {
        prefix = "email:";
        text = printable(name.d.rfc822Name);
    } else if (name.type == GEN_IPADD) {
        prefix = "ip:";
        text = address_text(name.d.iPAddress);
    }
    return text.empty() ? text : prefix.append(text);
}

std::vector<std::string> alternative_names(X509* certificate) {
    std::vector<std::string> texts;
    const Openssl<GENERAL_NAMES> names(
        static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
    for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
        std::string text = name_text(*sk_GENERAL_NAME_value(names.get(), i));
        if (!text.empty()) texts.push_back(std::move(text));
    }
    return texts;
}

std::string subject_text(X509* certificate) {
    const Openssl<BIO> memory(BIO_new(BIO_s_mem()));
    if (!memory || X509_NAME_print_ex(memory.get(), X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253) < 0)
        return {};
    char* text = nullptr;
    const long size = BIO_get_mem_data(memory.get(), &text);
    return {text, static_cast<std::size_t>(size)};
}

std::string common_name(X509* certificate) {
    const X509_NAME* subject = X509_get_subject_name(certificate);
    const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
    return at < 0 ? std::string() : printable(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
}

std::string lower_case(std::string text) {
    for (char& c : text) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return text;
}

}  // namespace

PeerCertificate describe_certificate(X509* certificate) {
    PeerCertificate described;
    described.subject = subject_text(certificate);
    described.names = alternative_names(certificate);
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    if (X509_digest(certificate, EVP_sha256(), digest.data(), &size) != 1) size = 0;
    constexpr std::string_view digits = "0123456789abcdef";
    for (unsigned i = 0; i < size; ++i) {
        described.fingerprint += digits[digest[i] >> 4U];
        described.fingerprint += digits[digest[i] & 15U];
    }
    return described;
}

std::vector<std::string> host_names(X509* certificate) {
    constexpr std::string_view dns = "dns:";
    std::vector<std::string> hosts;
    for (const auto& name : alternative_names(certificate)) {
        if (name.compare(0, dns.size(), dns) == 0) hosts.push_back(lower_case(name.substr(dns.size())));
    }
    if (hosts.empty()) {
        std::string name = common_name(certificate);
        if (!name.empty()) hosts.push_back(lower_case(std::move(name)));
    }
    return hosts;
}

}  // namespace oncegate::net
