#include "core/markup.hpp"

namespace oncegate::core {

std::string in_markup(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&': out.append("&amp;"); break;
            case '<': out.append("&lt;"); break;
            case '>': out.append("&gt;"); break;
            case '"': out.append("&quot;"); break;
            case '\'': out.append("&#39;"); break;
            default: out.push_back(c);
        }
    }
    return out;
}

}  // namespace oncegate::core
