#include "config/located_yaml.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "config/flow_shield.hpp"

namespace oncegate::config {

const Node* Node::find(std::string_view key) const {
    for (const auto& entry : entries) {
        if (entry.key == key) return &entry.value;
    }
    return nullptr;
}

namespace {

/// Aliases of aliases can make a short text into a huge tree.
constexpr std::size_t most_nodes = 100'000;

Place place_of(const YAML::Mark& mark) {
    if (mark.is_null()) return {};
    return {static_cast<std::size_t>(mark.line) + 1, static_cast<std::size_t>(mark.column) + 1};
}

Node blank_at(Place place) {
    Node node;
    node.place = place;
    return node;
}

std::size_t size_of(const Node& node) {
    std::size_t nodes = 1;
    for (const auto& item : node.items) nodes += size_of(item);
    for (const auto& entry : node.entries) nodes += size_of(entry.value);
    return nodes;
}

class TreeBuilder final : public YAML::EventHandler {
 public:
    explicit TreeBuilder(Problems& problems) : problems_(problems) {}

    Node take_root() { return std::move(root_); }

    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const Node node = blank_at(place_of(mark));
        keep(anchor, node);
        attach(node);
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const auto named = anchors_.find(anchor);
        if (named == anchors_.end()) {
            problems_.add(place_of(mark), "an alias cannot stand inside what it names");
            return attach(blank_at(place_of(mark)));
        }
        nodes_ += size_of(named->second);
        if (nodes_ > most_nodes) {
            if (!too_large_) problems_.add(place_of(mark), "aliases make this file too large");
            too_large_ = true;
            return attach(blank_at(place_of(mark)));
        }
        attach(Node(named->second));
    }

    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        check_tag(mark, tag);
        Node node;
        node.kind = Node::Kind::scalar;
        node.style = tag == "?" ? Node::Style::plain : Node::Style::quoted;
        node.place = place_of(mark);
        node.text = value;
        unshield(node.text);
        keep(anchor, node);
        attach(std::move(node));
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        check_tag(mark, tag);
        open(Node::Kind::list, mark, anchor);
    }

    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        check_tag(mark, tag);
        open(Node::Kind::mapping, mark, anchor);
    }

    void OnSequenceEnd() override { close(); }
    void OnMapEnd() override { close(); }

 private:
    struct Frame {
        Node node;
        YAML::anchor_t anchor = 0;
        std::optional<Node> key;
        std::vector<Node> merged;
    };

    void check_tag(const YAML::Mark& mark, const std::string& tag) {
        if (tag != "?" && tag != "!" && tag != "tag:yaml.org,2002:str" && !tag.empty()) {
            problems_.add(place_of(mark), "YAML tags are not used here; quote the value to make it text");
        }
    }

    void keep(YAML::anchor_t anchor, const Node& node) {
        if (anchor != 0) anchors_[anchor] = node;
    }

    void open(Node::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
        Frame frame;
        frame.node.kind = kind;
        frame.node.place = place_of(mark);
        frame.anchor = anchor;
        stack_.push_back(std::move(frame));
    }

    void close() {
        Frame frame = std::move(stack_.back());
        stack_.pop_back();
        for (auto& other : frame.merged) {
            for (auto& entry : other.entries) {
                if (frame.node.find(entry.key) == nullptr) frame.node.entries.push_back(std::move(entry));
            }
        }
        keep(frame.anchor, frame.node);
        attach(std::move(frame.node));
    }

    void attach(Node node) {
        ++nodes_;
        if (stack_.empty()) {
            root_ = std::move(node);
            return;
        }
        Frame& top = stack_.back();
        if (top.node.kind == Node::Kind::list) {
            top.node.items.push_back(std::move(node));
        } else if (!top.key) {
            top.key = std::move(node);
        } else {
            const Node key = std::move(*top.key);
            top.key.reset();
            add_entry(top, key, std::move(node));
        }
    }

    void add_entry(Frame& frame, const Node& key, Node value) {
        if (key.kind != Node::Kind::scalar) {
            problems_.add(key.place, "a key must be text");
        } else if (key.text == "<<" && key.style == Node::Style::plain) {
            merge(frame, std::move(value));
        } else if (const auto* first = frame.node.find(key.text)) {
            problems_.add(key.place, "duplicate key '" + key.text + "'; it was already given in line " +
                                         std::to_string(first->place.line));
        } else {
            // yaml-cpp places what is not there at the next token, which is another key's.
            if (value.kind == Node::Kind::blank) value.place = key.place;
            frame.node.entries.push_back({key.text, key.place, std::move(value)});
        }
    }

    void merge(Frame& frame, Node value) {
        if (value.kind == Node::Kind::mapping) {
            frame.merged.push_back(std::move(value));
        } else if (value.kind == Node::Kind::list) {
            for (auto& item : value.items) merge(frame, std::move(item));
        } else {
            problems_.add(value.place, "'<<' merges mappings only");
        }
    }

    Problems& problems_;
    Node root_;
    std::vector<Frame> stack_;
    std::map<YAML::anchor_t, Node> anchors_;
    std::size_t nodes_ = 0;
    bool too_large_ = false;
};

void substitute_in(Node& node, const Environment& environment, Problems& problems) {
    for (auto& item : node.items) substitute_in(item, environment, problems);
    for (auto& entry : node.entries) substitute_in(entry.value, environment, problems);
    if (node.kind != Node::Kind::scalar || node.text.find("${") == std::string::npos) return;
    std::string why;
    auto text = substitute(node.text, environment, why);
    if (!text) {
        problems.add(node, why);
        problems.mute(node.place);
        return;
    }
    node.text = std::move(*text);
    if (node.style == Node::Style::plain && node.text.empty()) node.kind = Node::Kind::blank;
    node.style = Node::Style::plain;
}

/// YAML allows no control characters, and the shield needs three of them.
bool is_text(std::string_view yaml, Problems& problems) {
    Place place{1, 1};
    for (const char c : yaml) {
        const auto byte = static_cast<unsigned char>(c);
        if ((byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7f) {
            problems.add(place, "not valid YAML: a control character");
            return false;
        }
        place = c == '\n' ? Place{place.line + 1, 1} : Place{place.line, place.column + 1};
    }
    return true;
}

/// What most often is behind an error of the parser, which itself names only what it looked for.
std::string syntax_hint(std::string_view yaml, const YAML::ParserException& error) {
    const std::string_view message = error.msg;
    std::string_view line = yaml;
    for (int number = 0; number < error.mark.line; ++number)
        line.remove_prefix(std::min(line.size(), line.find('\n') + 1));
    line = line.substr(0, line.find('\n'));
    if (line.find("]:") != std::string_view::npos && line.find_first_of("\"'") == std::string_view::npos) {
        return "; an address that begins with [ needs quotes";
    }
    if (message.find("flow not found") != std::string_view::npos) return "; a ] or } is missing before this";
    if (message.find("not found") == std::string_view::npos && message != "illegal map value") return {};
    const auto indentation = line.substr(0, line.find_first_not_of(" \t"));
    if (indentation.find('\t') != std::string_view::npos) return "; the line is indented with a tab; use spaces";
    return "; is the line indented like its neighbours? A text with ': ' in it needs quotes";
}

void name_paths(Node& node, const std::string& path) {
    node.path = path;
    for (std::size_t i = 0; i < node.items.size(); ++i) name_paths(node.items[i], path + "[" + std::to_string(i) + "]");
    for (auto& entry : node.entries) name_paths(entry.value, path.empty() ? entry.key : path + "." + entry.key);
}

}  // namespace

std::optional<Node> parse_yaml(std::string_view yaml, const Environment& environment, Problems& problems) {
    if (!is_text(yaml, problems)) return std::nullopt;
    std::istringstream input(shield(yaml));
    TreeBuilder builder(problems);
    Node root;
    try {
        YAML::Parser parser(input);
        if (!parser.HandleNextDocument(builder)) return root;
        root = builder.take_root();
        if (parser.HandleNextDocument(builder)) {
            problems.add(builder.take_root().place, "a second YAML document; the file may hold one only");
        }
    } catch (const YAML::ParserException& error) {
        problems.add(place_of(error.mark), "not valid YAML: " + error.msg + syntax_hint(yaml, error));
        return std::nullopt;
    }
    name_paths(root, "");
    substitute_in(root, environment, problems);
    return root;
}

}  // namespace oncegate::config
