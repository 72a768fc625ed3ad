#include "net/body_reader.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <optional>
#include <utility>

namespace oncegate::net {

namespace {

constexpr std::size_t piece_limit = 64U << 10;

using Kind = core::Framing::Kind;
using Piece = BodyReader::Piece;

BodyFault fault_of(const error_code& error) {
    BodyFault fault;
    fault.kind = error == asio::error::timed_out ? BodyFault::Kind::timed_out : BodyFault::Kind::cut_off;
    return fault;
}

}  // namespace

BodyReader::BodyReader(Connection& connection, core::Framing framing, milliseconds idle)
    : connection_(connection),
      kind_(framing.kind),
      finished_(framing.kind == Kind::none || (framing.kind == Kind::length && framing.bytes == 0)),
      left_(framing.bytes),
      idle_(idle) {}

BodyReader::Piece BodyReader::fail(BodyFault::Kind why) {
    broken_ = BodyFault{why};
    return *broken_;
}

std::optional<Piece> BodyReader::try_next() {
    if (finished_) return Piece(std::string_view());
    if (broken_) return Piece(*broken_);
    return kind_ == Kind::chunked ? take_chunked() : take_plain();
}

std::optional<Piece> BodyReader::take_plain() {
    std::string_view piece = connection_.buffered();
    if (piece.empty()) return std::nullopt;
    if (kind_ == Kind::length) {
        piece = piece.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(left_, piece.size())));
        left_ -= piece.size();
        finished_ = left_ == 0;
    }
    connection_.consume(piece.size());
    return Piece(piece);
}

std::optional<Piece> BodyReader::take_chunked() {
    const auto result = chunked_.next(connection_.buffered());
    connection_.consume(result.consumed);
    switch (result.step) {
        case ChunkedDecoder::Step::piece: look_ahead(); return Piece(result.piece);
        case ChunkedDecoder::Step::need_more: return std::nullopt;
        case ChunkedDecoder::Step::finished: finished_ = true; return Piece(std::string_view());
        case ChunkedDecoder::Step::malformed: return fail(BodyFault::Kind::malformed);
    }
    std::abort();
}

void BodyReader::look_ahead() {
    const auto result = chunked_.skip_framing(connection_.buffered());
    connection_.consume(result.consumed);
    finished_ = result.step == ChunkedDecoder::Step::finished;
    if (result.step == ChunkedDecoder::Step::malformed) broken_ = BodyFault{BodyFault::Kind::malformed};
}

asio::awaitable<Piece> BodyReader::next() {
    bool waiting = false;
    while (true) {
        if (auto piece = try_next()) co_return std::move(*piece);
        // One deadline for the whole piece: chunk lines that trickle in do not move it.
        if (!waiting) connection_.stream().deadline(idle_);
        waiting = true;
        const std::size_t held = connection_.buffered().size();
        const IoResult read = co_await connection_.fill(held + piece_limit);
        if (!read.error) continue;
        if (kind_ == Kind::until_close && read.error == asio::error::eof) {
            finished_ = true;
        } else {
            broken_ = fault_of(read.error);
        }
    }
}

}  // namespace oncegate::net
