#pragma once
// The places of a request where a key can lie: header fields, query parameters, members of a JSON body, form fields.

#include <string>
#include <string_view>

#include "core/http_message.hpp"
#include "core/policy.hpp"

namespace oncegate::core {

/// What is found at one place.
struct KeyReading {
    enum class Kind : std::uint8_t {
        absent,
        not_json,    ///< absent: the content is no JSON that could be read
        not_string,  ///< absent: there is something else (R8)
        repeated,    ///< twice or more, which is a fault even when all are alike (R13)
        found,
    };
    Kind kind = Kind::absent;
    std::string text;  ///< decoded as its place has it; of a header field, the bytes of its line

    bool is_absent() const { return kind != Kind::repeated && kind != Kind::found; }
};

/// `content`: the whole body, whose Content-Type says whether it is a form. JSON is what parses as JSON, whatever its
/// Content-Type: senders of webhooks are careless with it. Trailers are no place (R9): `head` has none of them.
KeyReading read_place(const KeyLocation& location, const RequestHead& head, std::string_view content);

/// Whether the body of a request with CloudEvents attributes in its head is the event's data (binary mode) and not the
/// event itself (HTTP binding 1.0.2 §3).
bool content_is_event_data(const RequestHead& head);

}  // namespace oncegate::core
