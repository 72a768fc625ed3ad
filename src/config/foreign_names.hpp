#pragma once
// What operators who come from nginx, Envoy or HAProxy write: the name that it has here, or that it is not supported.

#include <string>
#include <string_view>

namespace oncegate::config {

/// What kind of section a path leads to: `tls` for server.listeners[0].tls[1], `upstreams` for upstreams.app.
std::string_view section_kind(std::string_view path);

/// What to say about a key, or a value of the key that `section` names, known elsewhere: "; write ejection.failures" or
/// " is not supported yet". Empty when the name is not known. `section` is a kind as above.
std::string_view foreign_name(std::string_view name, std::string_view section);

/// "; write { path: /x }" for a section that was given a single value; empty when there is nothing short to show.
std::string_view shape_of_section(std::string_view section);

/// Whether a value holds what nginx (`$remote_addr`), Envoy (`%PROTOCOL%`) or HAProxy (`%[src]`) would put something in
/// place of. Nothing is put in its place here.
bool looks_like_a_variable(std::string_view value);

}  // namespace oncegate::config
