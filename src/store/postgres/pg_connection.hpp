#pragma once
// One connection to PostgreSQL in libpq's pipeline mode, driven by an io_context. Sends several statements at once,
// each a transaction of its own, and says for each what came of it. Knows nothing of records.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "store/postgres/pg_fault.hpp"
#include "store/postgres/pg_handle.hpp"
#include "store/postgres/pg_queries.hpp"
#include "store/postgres/pg_socket.hpp"
#include "store/postgres/pg_target.hpp"
#include "store/store.hpp"

namespace oncegate::store {

using PgDeadline = std::chrono::steady_clock::time_point;

/// What came of one statement: its rows, or the error that undid it.
struct PgReply {
    PgResult rows;
    std::optional<PgError> error;
};

/// What came of a pipeline: a reply for each statement that is known to have been committed or undone, in order. When
/// `broken` is set the connection is of no more use, and what became of the statements beyond the replies is not known.
struct PgReplies {
    std::vector<PgReply> known;
    std::optional<StoreFault> broken;
};

/// The prepared form of one statement on one connection. Planning costs as much as running, so a statement is prepared
/// under a name; but a plan made for an empty table would be kept while the table grows by millions, so it is made anew
/// every so often.
struct PgPrepared {
    std::string name;
    unsigned uses = 0;
    std::chrono::steady_clock::time_point made_at;
};

class PgConnection {
 public:
    /// Tries the servers in order until one serves; each gets its share of the time.
    static boost::asio::awaitable<Outcome<PgConnection>> connect(const std::vector<PgServer>& servers,
                                                                 PgDeadline deadline);

    /// Runs the queries, each in a transaction of its own: when a reply without error is there, the commit is durable.
    boost::asio::awaitable<PgReplies> exchange(const std::vector<PgQuery>& queries, PgDeadline deadline);

    /// False when the server has hung up while nothing was asked of it.
    bool still_there();

 private:
    PgConnection(PgConn handle, PgSocket socket) : handle_(std::move(handle)), socket_(std::move(socket)) {}

    static boost::asio::awaitable<Outcome<PgConnection>> connect_one(const PgKeywords& keywords, PgDeadline deadline);
    bool send(const std::vector<PgQuery>& queries);
    bool send_one(const PgQuery& query);
    /// The name to run the statement under, or nothing when it cannot be prepared.
    std::optional<std::string> prepare(const PgQuery& query);
    void note_error(const PgQuery& query, const PgReply& reply);
    boost::asio::awaitable<std::optional<StoreFault>> read_reply(PgReply& reply, PgDeadline deadline);
    boost::asio::awaitable<std::optional<StoreFault>> wait_for_result(PgDeadline deadline);
    StoreFault broken(StoreFault::Kind kind) const;

    // The socket's duplicate is closed before libpq closes the original.
    PgConn handle_;
    PgSocket socket_;
    std::map<const std::string*, PgPrepared> prepared_;  ///< by the text's place: texts outlive the connection
    unsigned names_made_ = 0;
    unsigned sessions_lost_ = 0;  ///< how often a pooler gave us another session than the one we prepared in
};

}  // namespace oncegate::store
