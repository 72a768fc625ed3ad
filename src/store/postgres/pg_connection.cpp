#include "store/postgres/pg_connection.hpp"

#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/this_coro.hpp>
#include <memory>
#include <utility>

#include "async/one_shot.hpp"

namespace oncegate::store {
namespace {

namespace asio = boost::asio;
using std::chrono::steady_clock;

StoreFault not_connected(StoreFault::Kind kind, std::string detail) {
    return StoreFault{kind, StoreFault::Certainty::not_applied, std::move(detail)};
}

milliseconds left_until(PgDeadline deadline) {
    return std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now());
}

/// libpq would print notices to standard error.
void ignore_notice(void*, const PGresult*) {}

using Addresses = std::vector<std::string>;

/// The addresses of a name. The look-up runs on Asio's own thread and cannot be stopped there; its answer is shared, so
/// that it may come when nobody waits any more.
asio::awaitable<Addresses> resolve(std::string host, std::string port, PgDeadline deadline) {
    const asio::any_io_executor executor = co_await asio::this_coro::executor;
    const auto answer = std::make_shared<async::OneShot<Addresses>>(executor);
    asio::ip::tcp::resolver resolver(executor);
    resolver.async_resolve(host, port, [answer](const boost::system::error_code& error, auto found) {
        Addresses addresses;
        if (!error)
            for (const auto& one : found) addresses.push_back(one.endpoint().address().to_string());
        answer->set(std::move(addresses));
    });
    auto addresses = co_await answer->get_within(std::max(left_until(deadline), milliseconds(0)));
    co_return addresses ? std::move(*addresses) : Addresses();
}

/// The keywords of every address to try, in order.
asio::awaitable<std::vector<PgKeywords>> resolve_all(const std::vector<PgServer>& servers, PgDeadline deadline) {
    std::vector<PgKeywords> targets;
    for (const auto& server : servers) {
        if (server.resolve.empty()) {
            targets.push_back(server.keywords);
            continue;
        }
        const auto port = server.port.empty() ? std::string("5432") : server.port;
        const auto addresses = co_await resolve(server.resolve, port, deadline);
        for (const auto& address : addresses) {
            targets.push_back(server.keywords);
            targets.back().emplace_back("hostaddr", address);
        }
    }
    co_return targets;
}

/// How long a prepared statement's plan is trusted.
constexpr unsigned prepared_uses_max = 100;
constexpr std::chrono::seconds prepared_age_max{1};
constexpr unsigned sessions_lost_max = 3;

PgError error_of(const PgResult& result) {
    const char* sqlstate = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
    PgError error;
    error.sqlstate = sqlstate == nullptr ? "" : sqlstate;
    error.message = pg_message(PQresultErrorField(result.get(), PG_DIAG_MESSAGE_PRIMARY));
    if (error.message.empty()) error.message = pg_message(PQresultErrorMessage(result.get()));
    return error;
}

PgConn start(const PgKeywords& keywords) {
    std::vector<const char*> names;
    std::vector<const char*> values;
    for (const auto& [name, value] : keywords) {
        names.push_back(name.c_str());
        values.push_back(value.c_str());
    }
    names.push_back(nullptr);
    values.push_back(nullptr);
    PgConn handle(PQconnectStartParams(names.data(), values.data(), 0));
    if (handle) PQsetNoticeReceiver(handle.get(), ignore_notice, nullptr);
    return handle;
}

}  // namespace

asio::awaitable<Outcome<PgConnection>> PgConnection::connect(const std::vector<PgServer>& servers,
                                                             PgDeadline deadline) {
    const auto targets = co_await resolve_all(servers, deadline);
    auto last = not_connected(StoreFault::Kind::unreachable, "the store's host name cannot be resolved");
    for (std::size_t index = 0; index < targets.size(); ++index) {
        const auto now = steady_clock::now();
        if (now >= deadline) break;
        const auto share = (deadline - now) / static_cast<int>(targets.size() - index);
        auto connected = co_await connect_one(targets[index], now + share);
        if (connected) co_return connected;
        last = connected.error();
    }
    co_return last;
}

asio::awaitable<Outcome<PgConnection>> PgConnection::connect_one(const PgKeywords& keywords, PgDeadline deadline) {
    const asio::any_io_executor executor = co_await asio::this_coro::executor;
    PgConnection connection(start(keywords), PgSocket(executor));
    auto* handle = connection.handle_.get();
    if (handle == nullptr) co_return not_connected(StoreFault::Kind::unreachable, "out of memory");
    auto state = PQstatus(handle) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING;
    while (state == PGRES_POLLING_READING || state == PGRES_POLLING_WRITING) {
        // Every step may have opened another socket, possibly under the same number.
        if (!connection.socket_.watch(PQsocket(handle))) {
            co_return not_connected(StoreFault::Kind::unreachable, "no descriptor left to watch the connection");
        }
        const auto wait = state == PGRES_POLLING_READING ? PgWait::read : PgWait::write;
        const bool ready = co_await connection.socket_.wait(wait, deadline);
        if (!ready)
            co_return not_connected(StoreFault::Kind::timeout, "the database did not answer the connection in time");
        state = PQconnectPoll(handle);
    }
    if (state != PGRES_POLLING_OK)
        co_return not_connected(StoreFault::Kind::unreachable, pg_message(PQerrorMessage(handle)));
    const bool usable = connection.socket_.watch(PQsocket(handle)) && PQsetnonblocking(handle, 1) == 0 &&
                        PQenterPipelineMode(handle) == 1;
    if (!usable) co_return not_connected(StoreFault::Kind::unreachable, "the connection cannot be used for a pipeline");
    co_return std::move(connection);
}

bool PgConnection::still_there() {
    // Twice: the first read may bring the server's farewell, and only the second its end.
    auto* handle = handle_.get();
    return PQconsumeInput(handle) == 1 && PQconsumeInput(handle) == 1 && PQstatus(handle) == CONNECTION_OK;
}

asio::awaitable<PgReplies> PgConnection::exchange(const std::vector<PgQuery>& queries, PgDeadline deadline) {
    PgReplies replies;
    if (!send(queries)) {
        replies.broken = broken(StoreFault::Kind::unreachable);
        co_return replies;
    }
    replies.known.reserve(queries.size());
    for (std::size_t index = 0; index < queries.size(); ++index) {
        PgReply reply;
        auto fault = co_await read_reply(reply, deadline);
        if (fault) {
            // A dying server's last words say more than that it has hung up.
            if (reply.error && fault->kind == StoreFault::Kind::unreachable) fault->detail = reply.error->message;
            replies.broken = std::move(fault);
            co_return replies;
        }
        if (reply.error) note_error(queries[index], reply);
        replies.known.push_back(std::move(reply));
    }
    co_return replies;
}

bool PgConnection::send(const std::vector<PgQuery>& queries) {
    for (const auto& query : queries)
        if (!send_one(query) || PQpipelineSync(handle_.get()) != 1) return false;
    return true;
}

bool PgConnection::send_one(const PgQuery& query) {
    std::vector<Oid> types;
    std::vector<const char*> values;
    std::vector<int> lengths;
    for (std::size_t index = 0; index < query.values.size(); ++index) {
        types.push_back(static_cast<Oid>(query.types[index]));
        values.push_back(query.values[index].data());
        lengths.push_back(static_cast<int>(query.values[index].size()));
    }
    const std::vector<int> formats(values.size(), 1);
    const auto count = static_cast<int>(values.size());
    if (sessions_lost_ >= sessions_lost_max) {
        return PQsendQueryParams(handle_.get(), query.sql->c_str(), count, types.data(), values.data(), lengths.data(),
                                 formats.data(), 1) == 1;
    }
    const auto name = prepare(query);
    return name && PQsendQueryPrepared(handle_.get(), name->c_str(), count, values.data(), lengths.data(),
                                       formats.data(), 1) == 1;
}

std::optional<std::string> PgConnection::prepare(const PgQuery& query) {
    auto& prepared = prepared_[query.sql];
    const auto now = steady_clock::now();
    const bool fresh =
        !prepared.name.empty() && prepared.uses < prepared_uses_max && now - prepared.made_at < prepared_age_max;
    if (fresh) {
        ++prepared.uses;
        return prepared.name;
    }
    // All in the transaction that uses it: a pooler sends a transaction to one session.
    if (!prepared.name.empty()) {
        const auto forget = "DEALLOCATE " + prepared.name;
        if (PQsendQueryParams(handle_.get(), forget.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 1) != 1)
            return std::nullopt;
    }
    // The process's number and the backend's make it unlikely that a pooler's session knows the name from somebody
    // else.
    prepared.name = "oncegate_" + std::to_string(::getpid()) + "_" + std::to_string(PQbackendPID(handle_.get())) + "_" +
                    std::to_string(++names_made_);
    prepared.uses = 1;
    prepared.made_at = now;
    std::vector<Oid> types;
    for (const auto type : query.types) types.push_back(static_cast<Oid>(type));
    const int sent = PQsendPrepare(handle_.get(), prepared.name.c_str(), query.sql->c_str(),
                                   static_cast<int>(types.size()), types.data());
    return sent == 1 ? std::optional<std::string>(prepared.name) : std::nullopt;
}

/// A statement that we prepared is not there, or one that we did not prepare is: the sessions behind us change (a
/// pooler in transaction mode). The batch tries again and prepares anew, which always works; when it happens again and
/// again, plain statements are cheaper.
void PgConnection::note_error(const PgQuery& query, const PgReply& reply) {
    if (reply.error->sqlstate == "26000" || reply.error->sqlstate == "42P05") {
        ++sessions_lost_;
        prepared_.clear();
        return;
    }
    const auto prepared = prepared_.find(query.sql);
    const bool was_not_prepared = prepared != prepared_.end() && prepared->second.uses == 1 && !reply.rows;
    if (was_not_prepared) prepared_.erase(prepared);
}

/// A statement's results end with a null, its transaction with the sync; an error may come instead of rows or between
/// the two (a commit that failed). A dying server sends no sync: then consuming input fails.
asio::awaitable<std::optional<StoreFault>> PgConnection::read_reply(PgReply& reply, PgDeadline deadline) {
    while (true) {
        auto fault = co_await wait_for_result(deadline);
        if (fault) co_return fault;
        PgResult result(PQgetResult(handle_.get()));
        if (!result) {
            if (PQstatus(handle_.get()) == CONNECTION_BAD) co_return broken(StoreFault::Kind::unreachable);
            continue;
        }
        const auto status = PQresultStatus(result.get());
        if (status == PGRES_PIPELINE_SYNC) co_return std::nullopt;
        if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) {
            reply.rows = std::move(result);
        } else if (status != PGRES_PIPELINE_ABORTED) {
            reply.error = error_of(result);
            if (PQstatus(handle_.get()) == CONNECTION_BAD) co_return broken(StoreFault::Kind::unreachable);
        }
    }
}

/// Until PQgetResult would not block. While libpq has something to send it must be fed too, or both sides could wait
/// for the other.
asio::awaitable<std::optional<StoreFault>> PgConnection::wait_for_result(PgDeadline deadline) {
    while (true) {
        const int unsent = PQflush(handle_.get());
        if (unsent < 0) co_return broken(StoreFault::Kind::unreachable);
        if (PQisBusy(handle_.get()) == 0) co_return std::nullopt;
        const bool ready = co_await socket_.wait(unsent == 1 ? PgWait::read_or_write : PgWait::read, deadline);
        if (!ready) co_return broken(StoreFault::Kind::timeout);
        if (PQconsumeInput(handle_.get()) != 1) co_return broken(StoreFault::Kind::unreachable);
    }
}

StoreFault PgConnection::broken(StoreFault::Kind kind) const {
    StoreFault fault;
    fault.kind = kind;
    fault.certainty = StoreFault::Certainty::uncertain;
    fault.detail = kind == StoreFault::Kind::timeout ? "the database did not answer in time"
                                                     : pg_message(PQerrorMessage(handle_.get()));
    if (fault.detail.empty()) fault.detail = "the connection to the database is lost";
    return fault;
}

}  // namespace oncegate::store
