#include "store/sqlite/sqlite_connection.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

namespace oncegate::store {
namespace {

/// SQLite would create the file readable for everybody whom the umask allows. O_EXCL: a file that is there already may
/// be open in this process, and closing another descriptor of it would drop SQLite's locks (POSIX).
std::string create_private_file(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor >= 0) {
        ::close(descriptor);
        return {};
    }
    if (errno == EEXIST) return {};
    const int code = errno;
    const auto folder = std::filesystem::path(path).parent_path();
    std::error_code ignored;
    if (code == ENOENT && !folder.empty() && !std::filesystem::exists(folder, ignored))
        return "cannot create " + path + ": the folder " + folder.string() + " does not exist";
    return "cannot create " + path + ": " + std::strerror(code);
}

/// A new file becomes WAL by an upgrade of a lock, for which SQLite does not wait when several processes try it at
/// once.
int use_settings(SqliteConnection& connection, std::chrono::steady_clock::time_point until) {
    constexpr int pause_ms = 2;
    for (;;) {
        const int code = connection.run(
            "PRAGMA journal_mode = WAL;"
            "PRAGMA synchronous = FULL;"
            "PRAGMA cache_size = -16384;"
            "PRAGMA journal_size_limit = 67108864;");
        if ((code & 0xFF) != SQLITE_BUSY || std::chrono::steady_clock::now() >= until) return code;
        sqlite3_sleep(pause_ms);
    }
}

}  // namespace

StoreFault sqlite_fault(int code, std::string detail) {
    StoreFault fault;
    fault.certainty = StoreFault::Certainty::not_applied;
    fault.detail = std::move(detail);
    switch (code & 0xFF) {
        case SQLITE_TOOBIG:
        case SQLITE_CONSTRAINT:
        case SQLITE_MISMATCH: fault.kind = StoreFault::Kind::refused; break;
        case SQLITE_BUSY:
        case SQLITE_LOCKED: fault.kind = StoreFault::Kind::timeout; break;
        default: fault.kind = StoreFault::Kind::unreachable; break;
    }
    return fault;
}

void SqliteStatement::bind_text(int parameter, std::string_view value) {
    const char* data = value.empty() ? "" : value.data();
    sqlite3_bind_text64(statement_.get(), parameter, data, value.size(), SQLITE_STATIC, SQLITE_UTF8);
}

void SqliteStatement::bind_blob(int parameter, std::string_view value) {
    // A null pointer would bind NULL, which is not the same as no bytes.
    const char* data = value.empty() ? "" : value.data();
    sqlite3_bind_blob64(statement_.get(), parameter, data, value.size(), SQLITE_STATIC);
}

std::string_view SqliteStatement::bytes(int column) const {
    const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
    const auto size = sqlite3_column_bytes(statement_.get(), column);
    return data == nullptr ? std::string_view() : std::string_view(data, static_cast<std::size_t>(size));
}

Outcome<SqliteConnection> SqliteConnection::open(const std::string& path, milliseconds busy) {
    if (auto complaint = create_private_file(path); !complaint.empty()) return sqlite_fault(SQLITE_CANTOPEN, complaint);
    sqlite3* handle = nullptr;
    const int code = sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
    SqliteConnection connection(handle);
    if (code != SQLITE_OK) return sqlite_fault(code, "cannot open " + path + ": " + connection.message());
    sqlite3_extended_result_codes(handle, 1);
    sqlite3_busy_timeout(handle, static_cast<int>(busy.count()));
    const int set = use_settings(connection, std::chrono::steady_clock::now() + busy);
    if (set != SQLITE_OK) return sqlite_fault(set, "cannot use " + path + ": " + connection.message());
    return connection;
}

Outcome<SqliteStatement> SqliteConnection::prepare(std::string_view sql) {
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    if (code != SQLITE_OK) return fault(code);
    return SqliteStatement(statement);
}

}  // namespace oncegate::store
