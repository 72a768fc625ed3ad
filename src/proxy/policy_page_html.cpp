// The policy page for people: no script, nothing loaded, readable in light and dark, in narrow windows and on paper.

#include "core/markup.hpp"
#include "core/problem.hpp"
#include "proxy/policy_page.hpp"
#include "proxy/policy_sentences.hpp"
#include "proxy/policy_words.hpp"

namespace oncegate::proxy {

namespace {

constexpr std::string_view head =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n<title>Idempotency policy</title>\n<style>\n"
    ":root{color-scheme:light dark}\n"
    "body{font:1rem/1.5 system-ui,sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem}\n"
    "table{border-collapse:collapse;width:100%}\n"
    "th,td{text-align:left;vertical-align:top;padding:.3rem .8rem .3rem 0;border-top:1px solid #8886}\n"
    "th{width:11rem;font-weight:600}\ntd{overflow-wrap:anywhere}\n"
    "section:target{outline:2px solid;outline-offset:.5rem}\n.note{border-left:.3rem solid;padding-left:.8rem}\n"
    "@media(max-width:36rem){th,td{display:block;width:auto}td{border-top:0;padding-top:0}}\n"
    "</style>\n</head>\n<body>\n";

/// Ids of routes cannot meet those of problems, which have no number.
std::string id_of(std::size_t index) { return "route-" + std::to_string(index + 1); }

void append_contents(std::string& out, const config::Config& config) {
    out.append("<nav aria-label=\"Contents\">\n<ul>\n");
    for (std::size_t i = 0; i < config.routes.size(); ++i) {
        if (!is_published(config.routes[i])) continue;
        out.append("<li><a href=\"#").append(id_of(i)).append("\">").append(core::in_markup(config.routes[i].name));
        out.append("</a></li>\n");
    }
    out.append("<li><a href=\"#errors\">Errors</a></li>\n</ul>\n</nav>\n");
}

void append_route(std::string& out, const config::Config& config, std::size_t index) {
    const auto& route = config.routes[index];
    out.append("<section id=\"")
        .append(id_of(index))
        .append("\">\n<h3>")
        .append(core::in_markup(route.name))
        .append("</h3>\n");
    if (route.policy->mode == core::Mode::shadow) {
        out.append("<p class=\"note\">Not in force yet: every request is forwarded whatever its key.</p>\n");
    }
    out.append("<table>\n");
    for (const auto& [about, text] : sentences_about(route, config.server.limits.request_body)) {
        out.append("<tr><th scope=\"row\">").append(about).append("</th><td>").append(core::in_markup(text));
        out.append("</td></tr>\n");
    }
    const auto& more = route.policy->documentation;
    if (!more.empty()) {
        out.append("<tr><th scope=\"row\">More</th><td><a href=\"").append(core::in_markup(more)).append("\">");
        out.append(core::in_markup(more)).append("</a></td></tr>\n");
    }
    out.append("</table>\n</section>\n");
}

void append_problem(std::string& out, core::ProblemKind kind) {
    out.append("<section id=\"")
        .append(core::fragment(kind))
        .append("\">\n<h3>")
        .append(core::in_markup(core::title(kind)));
    out.append("</h3>\n<p><code>").append(core::fragment(kind)).append("</code>, status ");
    out.append(std::to_string(core::default_status(kind)));
    out.append(kind == core::ProblemKind::key_reused ? " or what the route above says. " : ". ");
    out.append(core::in_markup(core::explanation(kind))).append("</p>\n</section>\n");
}

}  // namespace

std::string policy_page_html(const config::Config& config) {
    std::string out(head);
    out.append("<main>\n<h1>Idempotency policy</h1>\n<p>").append(core::in_markup(promise())).append("</p>\n");
    append_contents(out, config);
    out.append("<h2>Routes</h2>\n");
    bool any = false;
    for (std::size_t i = 0; i < config.routes.size(); ++i) {
        if (!is_published(config.routes[i])) continue;
        any = true;
        append_route(out, config, i);
    }
    if (!any) out.append("<p>No route has an idempotency policy.</p>\n");
    out.append("<h2 id=\"errors\">Errors</h2>\n");
    for (const auto kind : core::all_problem_kinds()) append_problem(out, kind);
    return out.append("</main>\n</body>\n</html>\n");
}

}  // namespace oncegate::proxy
