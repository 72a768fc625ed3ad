#pragma once
// One SQLite connection and its prepared statements, as owning values. Knows no table; the thread that opened it is the
// one that uses it.

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "store/store.hpp"

namespace oncegate::store {

/// What an SQLite result code means for the operation that met it. The transaction it was part of is the caller's to
/// end.
StoreFault sqlite_fault(int code, std::string detail);

/// A prepared statement that is run many times. Parameters count from 1, columns from 0. Bound texts and blobs are not
/// copied: they must stay until the statement has been reset.
class SqliteStatement {
 public:
    SqliteStatement() = default;
    explicit SqliteStatement(sqlite3_stmt* statement) : statement_(statement) {}

    void bind(int parameter, std::int64_t value) { sqlite3_bind_int64(statement_.get(), parameter, value); }
    void bind_text(int parameter, std::string_view value);
    void bind_blob(int parameter, std::string_view value);
    template <std::size_t size>
    void bind_blob(int parameter, const std::array<std::uint8_t, size>& value) {
        sqlite3_bind_blob(statement_.get(), parameter, value.data(), static_cast<int>(size), SQLITE_STATIC);
    }

    /// SQLITE_ROW, SQLITE_DONE or an error code.
    int step() { return sqlite3_step(statement_.get()); }
    void reset() {
        sqlite3_reset(statement_.get());
        sqlite3_clear_bindings(statement_.get());
    }

    std::int64_t integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
    bool is_null(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }
    /// The bytes of a text or blob column; valid until the next step or reset.
    std::string_view bytes(int column) const;

 private:
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

/// Resets a statement when the use of it ends, on every path.
class StatementUse {
 public:
    explicit StatementUse(SqliteStatement& statement) : statement_(statement) {}
    ~StatementUse() { statement_.reset(); }
    StatementUse(const StatementUse&) = delete;
    StatementUse& operator=(const StatementUse&) = delete;

 private:
    SqliteStatement& statement_;
};

class SqliteConnection {
 public:
    /// Opens or creates the file (mode 0600, as its log and index files will have) in WAL mode with `synchronous=FULL`:
    /// what is committed survives a power cut. Waits at most `busy` for another process's transaction.
    static Outcome<SqliteConnection> open(const std::string& path, milliseconds busy);

    Outcome<SqliteStatement> prepare(std::string_view sql);

    /// Runs a script whose rows, if any, do not matter.
    int run(const char* sql) { return sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr); }

    /// The last error in words.
    std::string message() const { return sqlite3_errmsg(handle_.get()); }
    StoreFault fault(int code) const { return sqlite_fault(code, message()); }
    /// How many rows the last statement changed.
    std::size_t changes() const { return static_cast<std::size_t>(sqlite3_changes64(handle_.get())); }
    bool in_transaction() const { return sqlite3_get_autocommit(handle_.get()) == 0; }

 private:
    struct Close {
        void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
    };
    explicit SqliteConnection(sqlite3* handle) : handle_(handle) {}
    std::unique_ptr<sqlite3, Close> handle_;
};

}  // namespace oncegate::store
