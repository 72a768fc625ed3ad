#include "net/head_reader.hpp"

#include <boost/asio/error.hpp>
#include <optional>
#include <utility>

#include "core/ascii.hpp"

namespace oncegate::net {

namespace {

using core::HeadFault;

constexpr int empty_lines_skipped = 4;

NoHead no_head(NoHead::Kind kind, bool started) {
    NoHead none;
    none.kind = kind;
    none.started = started;
    return none;
}

NoHead malformed(int status, const char* detail) {
    NoHead none = no_head(NoHead::Kind::malformed, true);
    none.fault.status = status;
    none.fault.detail = detail;
    return none;
}

NoHead after(const error_code& error, bool started) {
    if (error == asio::error::timed_out) return no_head(NoHead::Kind::timed_out, started);
    return no_head(started ? NoHead::Kind::broken : NoHead::Kind::closed, started);
}

/// Looks for the empty line in bytes that grow, each byte once.
class EndFinder {
 public:
    /// Length of the head, 0: not there yet. Sets `bare_line_feed` when a line ends without CR: nothing after it
    /// counts.
    std::size_t look(std::string_view head) {
        for (auto feed = head.find('\n', scanned_); feed != std::string_view::npos; feed = head.find('\n', line_)) {
            if (feed == 0 || head[feed - 1] != '\r') {
                bare_line_feed_ = true;
                return 0;
            }
            if (feed == line_ + 1) return feed + 1;
            line_ = feed + 1;
            scanned_ = line_;
        }
        scanned_ = head.size();
        return 0;
    }

    bool bare_line_feed() const { return bare_line_feed_; }
    bool in_first_line() const { return line_ == 0; }

 private:
    std::size_t scanned_ = 0;
    std::size_t line_ = 0;  ///< where the present line begins
    bool bare_line_feed_ = false;
};

/// Takes the empty lines off the front; whether more than allowed were there.
bool too_many_empty_lines(Connection& connection, int& skipped) {
    while (connection.buffered().starts_with("\r\n")) {
        if (++skipped > empty_lines_skipped) return true;
        connection.consume(2);
    }
    return false;
}

/// The fault of what has come so far, when it cannot become a head any more.
std::optional<NoHead> hopeless(const EndFinder& finder, std::string_view head, std::size_t limit) {
    if (finder.bare_line_feed()) return malformed(400, "A line of the head does not end with CR LF.");
    if (head.size() < limit) return std::nullopt;
    if (finder.in_first_line()) return malformed(414, "The request line is longer than this server accepts.");
    return malformed(431, "The head is longer than this server accepts.");
}

}  // namespace

asio::awaitable<HeadOr<core::RequestHead>> read_request_head(Connection& connection, std::size_t limit,
                                                             milliseconds rest) {
    EndFinder finder;
    bool started = false;
    int skipped = 0;
    if (connection.buffered().empty()) {
        const auto error = co_await connection.idle();
        if (error) co_return after(error, false);
    }
    while (true) {
        if (!connection.buffered().empty() && !started) {
            started = true;
            connection.stream().deadline(rest);
        }
        if (too_many_empty_lines(connection, skipped))
            co_return malformed(400, "There are empty lines where a request was expected.");
        const std::string_view head = connection.buffered().substr(0, limit);
        if (!head.empty() && head[0] != '\r' && !core::is_tchar(head[0]))
            co_return malformed(400, "The request line does not begin with a method.");
        if (const std::size_t length = finder.look(head)) {
            auto parsed = core::parse_request_head(head.substr(0, length));
            if (!parsed) {
                NoHead none = no_head(NoHead::Kind::malformed, true);
                none.fault = std::move(parsed).error();
                co_return none;
            }
            connection.consume(length);
            co_return std::move(*parsed);
        }
        if (auto none = hopeless(finder, head, limit)) co_return std::move(*none);
        IoResult read = connection.try_fill(limit);
        if (read.error == asio::error::would_block) read = co_await connection.fill(limit);
        if (read.error) co_return after(read.error, started && !(skipped != 0 && connection.buffered().empty()));
    }
}

asio::awaitable<HeadOr<core::ResponseHead>> read_response_head(Connection& connection, std::size_t limit) {
    EndFinder finder;
    if (connection.buffered().empty()) {
        const auto error = co_await connection.idle();
        if (error) co_return after(error, false);
    }
    while (true) {
        const std::string_view head = connection.buffered().substr(0, limit);
        if (!head.empty() && head[0] != 'H')
            co_return malformed(400, "The response does not begin with a status line.");
        if (const std::size_t length = finder.look(head)) {
            auto parsed = core::parse_response_head(head.substr(0, length));
            if (!parsed) {
                NoHead none = no_head(NoHead::Kind::malformed, true);
                none.fault = std::move(parsed).error();
                co_return none;
            }
            connection.consume(length);
            co_return std::move(*parsed);
        }
        if (auto none = hopeless(finder, head, limit)) co_return std::move(*none);
        IoResult read = connection.try_fill(limit);
        if (read.error == asio::error::would_block) read = co_await connection.fill(limit);
        if (read.error) co_return after(read.error, !connection.buffered().empty());
    }
}

}  // namespace oncegate::net
