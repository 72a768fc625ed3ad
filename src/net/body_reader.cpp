#include "net/body_reader.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <optional>
#include <utility>

#include "net/chunked_decoder.hpp"

namespace oncegate::net {

namespace {

constexpr std::size_t piece_limit = 64U << 10;

using Kind = core::Framing::Kind;
using Piece = boost::system::result<std::string_view, BodyFault>;

BodyFault fault_of(const error_code& error) {
    BodyFault fault;
    fault.kind = error == asio::error::timed_out ? BodyFault::Kind::timed_out : BodyFault::Kind::cut_off;
    return fault;
}

}  // namespace

struct BodyReader::Decoder {
    Decoder(Connection& from, core::Framing framing, milliseconds idle_limit)
        : connection(from), kind(framing.kind), left(framing.bytes), idle(idle_limit) {
        finished = kind == Kind::none || (kind == Kind::length && left == 0);
        if (kind == Kind::chunked) chunked.emplace();
    }

    /// What the bytes that are there give: a piece, a fault, the end (empty), or nothing yet.
    std::optional<Piece> take();
    std::optional<Piece> take_plain();
    std::optional<Piece> take_chunked();
    /// After a piece: does the message end right behind it? Then finished() says so with the last piece.
    void look_ahead();
    Piece fail(BodyFault::Kind why) {
        broken = BodyFault{why};
        return *broken;
    }

    Connection& connection;
    Kind kind;
    std::uint64_t left;  ///< with Kind::length
    milliseconds idle;
    std::optional<ChunkedDecoder> chunked;
    std::optional<BodyFault> broken;  ///< sticks: a broken body never ends well
    core::Fields no_trailers;
    bool finished = false;
};

std::optional<Piece> BodyReader::Decoder::take() {
    if (finished) return Piece(std::string_view());
    if (broken) return Piece(*broken);
    return kind == Kind::chunked ? take_chunked() : take_plain();
}

std::optional<Piece> BodyReader::Decoder::take_plain() {
    std::string_view piece = connection.buffered();
    if (piece.empty()) return std::nullopt;
    if (kind == Kind::length) {
        piece = piece.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(left, piece.size())));
        left -= piece.size();
        finished = left == 0;
    }
    connection.consume(piece.size());
    return Piece(piece);
}

std::optional<Piece> BodyReader::Decoder::take_chunked() {
    const auto result = chunked->next(connection.buffered());
    connection.consume(result.consumed);
    switch (result.step) {
        case ChunkedDecoder::Step::piece: look_ahead(); return Piece(result.piece);
        case ChunkedDecoder::Step::need_more: return std::nullopt;
        case ChunkedDecoder::Step::finished: finished = true; return Piece(std::string_view());
        case ChunkedDecoder::Step::malformed: return fail(BodyFault::Kind::malformed);
    }
    std::abort();
}

void BodyReader::Decoder::look_ahead() {
    const auto result = chunked->skip_framing(connection.buffered());
    connection.consume(result.consumed);
    finished = result.step == ChunkedDecoder::Step::finished;
    if (result.step == ChunkedDecoder::Step::malformed) broken = BodyFault{BodyFault::Kind::malformed};
}

BodyReader::BodyReader(Connection& connection, core::Framing framing, milliseconds idle)
    : decoder_(std::make_unique<Decoder>(connection, framing, idle)) {}
BodyReader::~BodyReader() = default;
BodyReader::BodyReader(BodyReader&&) noexcept = default;

asio::awaitable<Piece> BodyReader::next() {
    Decoder& decoder = *decoder_;
    bool waiting = false;
    while (true) {
        if (auto piece = decoder.take()) co_return std::move(*piece);
        // One deadline for the whole piece: chunk lines that trickle in do not move it.
        if (!waiting) decoder.connection.stream().deadline(decoder.idle);
        waiting = true;
        const std::size_t held = decoder.connection.buffered().size();
        const IoResult read = co_await decoder.connection.fill(held + piece_limit);
        if (!read.error) continue;
        if (decoder.kind == Kind::until_close && read.error == asio::error::eof) {
            decoder.finished = true;
        } else {
            decoder.broken = fault_of(read.error);
        }
    }
}

bool BodyReader::finished() const { return decoder_->finished; }

const core::Fields& BodyReader::trailers() const {
    return decoder_->chunked ? decoder_->chunked->trailers() : decoder_->no_trailers;
}

}  // namespace oncegate::net
