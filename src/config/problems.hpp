#pragma once
// Every error of one configuration, each with its place. Collected, not thrown: a user sees all of them at once.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace oncegate::config {

/// Lines and columns count from 1; columns count bytes.
struct Place {
    std::size_t line = 0;
    std::size_t column = 0;

    friend auto operator<=>(const Place&, const Place&) = default;
};

/// `message` is one sentence with a hint where there is one. Line and column are 0 when it is about the file as a
/// whole: it cannot be read.
struct ConfigError {
    std::string file;
    std::size_t line = 0;
    std::size_t column = 0;
    std::string message;

    /// FILE:LINE:COL: message
    std::string text() const;
};

struct Node;

class Problems {
 public:
    void add(Place place, std::string message);
    /// The message after the node's path: "server.threads: must be a whole number".
    void add(const Node& node, std::string_view message);
    /// What is understood, and has no effect yet. `value` is what was written; empty: the node as a whole.
    void add_unsupported(const Node& node, std::string_view value = {});

    /// Drops what will be added at this place: it would only repeat in other words what is reported there already.
    void mute(Place place) { muted_.push_back(place); }

    /// Grows with every report, dropped ones included: compare it to learn whether something was wrong.
    std::size_t count() const { return count_; }

    /// In the file's order; what was found twice appears once.
    std::vector<ConfigError> sorted(const std::string& file) const;

 private:
    struct Found {
        Place place;
        std::string message;
        friend auto operator<=>(const Found&, const Found&) = default;
    };
    std::vector<Found> found_;
    std::vector<Place> muted_;
    std::size_t count_ = 0;
};

/// Levenshtein's distance where swapping two neighbours counts once: the commonest slip of the fingers.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// "; did you mean 'request_body'?" when one of `known` is near, else "; expected one of a, b, c" when they are few.
std::string name_hint(std::string_view written, const std::vector<std::string>& known);

}  // namespace oncegate::config
