#include "net/body_spill.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

namespace oncegate::net {

namespace {

constexpr std::size_t read_piece = 64U << 10;

error_code last_error() { return {errno, boost::system::system_category()}; }

/// A file without a name, or -1 with errno. Not every file system has O_TMPFILE.
int open_nameless() {
    const char* configured = std::getenv("TMPDIR");
    const std::string folder = configured != nullptr && *configured != '\0' ? configured : "/tmp";
    int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return file;
    std::string name = folder + "/oncegate-body-XXXXXX";
    file = ::mkostemp(name.data(), O_CLOEXEC);
    if (file >= 0) ::unlink(name.c_str());
    return file;
}

error_code write_at(int file, std::uint64_t offset, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto taken = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (taken < 0 && errno == EINTR) continue;
        if (taken < 0) return last_error();
        bytes.remove_prefix(static_cast<std::size_t>(taken));
        offset += static_cast<std::uint64_t>(taken);
    }
    return {};
}

}  // namespace

boost::system::result<MappedBytes> MappedBytes::of(int file, std::size_t size) {
    void* at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (at == MAP_FAILED) return last_error();
    MappedBytes mapped;
    mapped.at_ = static_cast<const char*>(at);
    mapped.size_ = size;
    return mapped;
}

MappedBytes::MappedBytes(MappedBytes&& other) noexcept
    : at_(std::exchange(other.at_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedBytes& MappedBytes::operator=(MappedBytes&& other) noexcept {
    std::swap(at_, other.at_);
    std::swap(size_, other.size_);
    return *this;
}

MappedBytes::~MappedBytes() {
    if (at_ != nullptr) ::munmap(const_cast<char*>(at_), size_);
}

boost::system::result<std::string_view> BodySpill::whole(MappedBytes& mapped) const {
    if (in_memory()) return memory();
    auto pages = MappedBytes::of(file_, static_cast<std::size_t>(size_));
    if (pages.has_error()) return pages.error();
    mapped = std::move(*pages);
    return mapped.bytes();
}

BodySpill::~BodySpill() {
    if (file_ >= 0) ::close(file_);
}

BodySpill::BodySpill(BodySpill&& other) noexcept
    : memory_bytes_(other.memory_bytes_),
      memory_(std::move(other.memory_)),
      file_(std::exchange(other.file_, -1)),
      size_(std::exchange(other.size_, 0)) {
    other.memory_.clear();
}

error_code BodySpill::append(std::string_view piece) {
    if (file_ < 0 && piece.size() <= memory_bytes_ - memory_.size()) {
        memory_.append(piece);
        size_ = memory_.size();
        return {};
    }
    if (file_ < 0) {
        const int file = open_nameless();
        if (file < 0) return last_error();
        if (const auto error = write_at(file, 0, memory_)) {
            ::close(file);
            return error;
        }
        file_ = file;
        memory_ = std::string();  // gives the memory back, which clear() would not
    }
    if (const auto error = write_at(file_, size_, piece)) return error;
    size_ += piece.size();
    return {};
}

error_code BodySpill::read(std::uint64_t offset, std::string& into) const {
    into.clear();
    if (offset >= size_) return {};
    if (file_ < 0) {
        into.assign(memory_, static_cast<std::size_t>(offset), read_piece);
        return {};
    }
    into.resize(static_cast<std::size_t>(std::min<std::uint64_t>(size_ - offset, read_piece)));
    ssize_t got = 0;
    do {
        got = ::pread(file_, into.data(), into.size(), static_cast<off_t>(offset));
    } while (got < 0 && errno == EINTR);
    const auto error = got < 0 ? last_error() : error_code();
    into.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    if (!error && into.empty()) return boost::system::errc::make_error_code(boost::system::errc::io_error);
    return error;
}

}  // namespace oncegate::net
