#include "core/connection_options.hpp"

#include <algorithm>

#include "core/field_list.hpp"
#include "core/known_fields.hpp"

namespace oncegate::core {

namespace {

bool precedes(std::string_view a, std::string_view b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                        [](char x, char y) { return lower(x) < lower(y); });
}

}  // namespace

ConnectionOptions::ConnectionOptions(const Fields& fields) {
    for (const auto field : fields) {
        if (!iequals(field.name, "Connection")) continue;
        for_each_element(field.value, [this](std::string_view option) {
            const auto known = known_field(option);
            if (known.id == FieldId::upgrade) upgrade_ = true;
            // What is hop-by-hop anyway needs no naming, and what is for everyone cannot be named.
            const bool settled = known.is(FieldTrait::hop_by_hop | FieldTrait::for_everyone);
            if (!option.empty() && !settled) nominated_.push_back(option);
        });
    }
    std::sort(nominated_.begin(), nominated_.end(), precedes);
}

bool ConnectionOptions::is_listed(std::string_view name) const {
    const auto at = std::lower_bound(nominated_.begin(), nominated_.end(), name, precedes);
    return at != nominated_.end() && iequals(*at, name);
}

}  // namespace oncegate::core
