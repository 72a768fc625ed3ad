#pragma once
// Owning forms of libpq's objects.

#include <libpq-fe.h>

#include <memory>
#include <string>
#include <string_view>

namespace oncegate::store {

struct FinishPgConn {
    void operator()(PGconn* connection) const { PQfinish(connection); }
};
using PgConn = std::unique_ptr<PGconn, FinishPgConn>;

struct ClearPgResult {
    void operator()(PGresult* result) const { PQclear(result); }
};
using PgResult = std::unique_ptr<PGresult, ClearPgResult>;

/// A column's bytes, valid as long as the result. An SQL NULL is empty.
inline std::string_view pg_bytes(const PgResult& result, int row, int column) {
    return {PQgetvalue(result.get(), row, column), static_cast<std::size_t>(PQgetlength(result.get(), row, column))};
}

inline bool pg_is_null(const PgResult& result, int row, int column) {
    return PQgetisnull(result.get(), row, column) == 1;
}

/// libpq ends its messages with a line break, and may write several lines.
inline std::string pg_message(const char* text) {
    std::string message(text == nullptr ? "" : text);
    while (!message.empty() && (message.back() == '\n' || message.back() == ' ')) message.pop_back();
    for (char& letter : message)
        if (letter == '\n') letter = ' ';
    return message;
}

}  // namespace oncegate::store
