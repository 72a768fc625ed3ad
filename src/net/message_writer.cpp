#include "net/message_writer.hpp"

#include <array>
#include <charconv>
#include <utility>

#include "core/ascii.hpp"

namespace oncegate::net {

namespace {

using Kind = core::Framing::Kind;

constexpr std::string_view crlf = "\r\n";
constexpr std::string_view last_chunk = "0\r\n";

bool is_framing(std::string_view name) {
    return core::iequals(name, "Content-Length") || core::iequals(name, "Transfer-Encoding");
}

std::size_t bytes_of(const core::Fields& fields) {
    std::size_t bytes = 0;
    for (const auto field : fields) bytes += field.name.size() + field.value.size() + 4;
    return bytes;
}

void append_line(std::string& out, std::string_view name, std::string_view value) {
    out.append(name).append(": ").append(value).append(crlf);
}

void append_number(std::string& out, std::uint64_t number) {
    std::array<char, 20> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out.append(digits.data(), end);
}

/// The field lines, framing last. Framing that came with the head is left out: two statements of it would be a
/// smuggling hole.
void append_fields(std::string& out, const core::Fields& fields, const core::Framing& framing) {
    for (const auto field : fields) {
        if (!is_framing(field.name)) append_line(out, field.name, field.value);
    }
    if (framing.kind == Kind::length) {
        out.append("Content-Length: ");
        append_number(out, framing.bytes);
        out.append(crlf);
    } else if (framing.kind == Kind::chunked) {
        append_line(out, "Transfer-Encoding", "chunked");
    }
}

/// Up to six pieces of one gather write.
class Pieces {
 public:
    void add(std::string_view text) {
        if (!text.empty()) all_[used_++] = asio::const_buffer(text.data(), text.size());
    }
    std::span<const asio::const_buffer> span() const { return {all_.data(), used_}; }

 private:
    std::array<asio::const_buffer, 6> all_;
    std::size_t used_ = 0;
};

/// The line before a chunk; the text lives as long as the object.
class ChunkLine {
 public:
    explicit ChunkLine(std::size_t bytes) {
        auto* end = std::to_chars(text_.data(), text_.data() + 16, bytes, 16).ptr;
        *end++ = '\r';
        *end++ = '\n';
        used_ = static_cast<std::size_t>(end - text_.data());
    }
    std::string_view view() const { return {text_.data(), used_}; }

 private:
    std::array<char, 18> text_;
    std::size_t used_;
};

}  // namespace

std::string request_head_bytes(const core::RequestHead& head, const core::Framing& framing) {
    std::string out;
    out.reserve(head.method.size() + head.target.size() + bytes_of(head.fields) + 64);
    out.append(head.method).append(" ").append(head.target).append(" HTTP/1.1\r\n");
    append_fields(out, head.fields, framing);
    out.append(crlf);
    return out;
}

std::string response_head_bytes(const core::ResponseHead& head, const core::Framing& framing, core::HttpVersion client,
                                Persistence persistence) {
    std::string out;
    out.reserve(head.reason.size() + bytes_of(head.fields) + 96);
    out.append("HTTP/1.1 ");
    append_number(out, static_cast<std::uint64_t>(head.status));
    out.append(" ").append(head.reason).append(crlf);
    append_fields(out, head.fields, framing);
    const bool closes = persistence == Persistence::close || framing.kind == Kind::until_close;
    if (client == core::HttpVersion::http11 && closes) append_line(out, "Connection", "close");
    if (client == core::HttpVersion::http10 && !closes) append_line(out, "Connection", "keep-alive");
    out.append(crlf);
    return out;
}

asio::awaitable<IoResult> BodyWriter::write(std::string_view piece) {
    const std::string head = std::exchange(pending_head_, {});
    const ChunkLine line(piece.size());
    const bool chunk = framing_.kind == Kind::chunked && !piece.empty();
    Pieces pieces;
    pieces.add(head);
    if (chunk) pieces.add(line.view());
    pieces.add(piece);
    if (chunk) pieces.add(crlf);
    co_return co_await stream_.write(pieces.span());
}

asio::awaitable<IoResult> BodyWriter::finish(const core::Fields& trailers) {
    const std::string head = std::exchange(pending_head_, {});
    std::string end;
    if (framing_.kind == Kind::chunked) {
        end.append(last_chunk);
        for (const auto field : trailers) append_line(end, field.name, field.value);
        end.append(crlf);
    }
    Pieces pieces;
    pieces.add(head);
    pieces.add(end);
    co_return co_await stream_.write(pieces.span());
}

asio::awaitable<IoResult> BodyWriter::write_last(std::string_view piece) {
    const std::string head = std::exchange(pending_head_, {});
    const ChunkLine line(piece.size());
    const bool chunked = framing_.kind == Kind::chunked;
    Pieces pieces;
    pieces.add(head);
    if (chunked && !piece.empty()) pieces.add(line.view());
    pieces.add(piece);
    if (chunked && !piece.empty()) pieces.add(crlf);
    if (chunked) pieces.add("0\r\n\r\n");
    co_return co_await stream_.write(pieces.span());
}

}  // namespace oncegate::net
