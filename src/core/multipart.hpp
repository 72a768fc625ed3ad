#pragma once
// multipart/form-data (RFC 7578, framed as RFC 2046 §5.1.1 says), read strictly: what two servers might cut into parts
// differently is malformed here, and so are headers of a part that are longer than anybody's. One pass over the bytes;
// contents are not copied.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/field_parameters.hpp"

namespace oncegate::core {

struct MultipartPart {
    /// Of Content-Disposition, in their order; `name` is among them. %22, %0D and %0A in `name` and `filename`, by
    /// which browsers write what may not stand in quotes, are decoded.
    std::vector<FieldParameter> disposition;
    /// The other header fields in their order, names in lower case.
    std::vector<std::pair<std::string, std::string_view>> headers;
    std::string_view content;

    std::string_view name() const;
};

/// Goes through the parts of a body. Views live as long as the body.
class MultipartReader {
 public:
    /// `boundary`: the value of that parameter.
    MultipartReader(std::string_view boundary, std::string_view body);

    enum class Step : std::uint8_t { part, end, malformed };

    /// `part` is filled for Step::part. After anything else there is nothing more to ask for.
    Step next(MultipartPart& part);

 private:
    enum class Line : std::uint8_t { another_part, close, malformed };
    Line take_delimiter_rest();
    bool take_headers(MultipartPart& part);
    bool take_header(std::string_view line, MultipartPart& part) const;

    std::string delimiter_;  ///< CRLF, two dashes, the boundary
    std::string_view rest_;  ///< behind the boundary of a delimiter, once the first has been found
    bool sound_ = false;
    std::size_t parts_ = 0;
};

}  // namespace oncegate::core
