#include "comparisons.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lua_tokens.h"

namespace crescent::program {
namespace {

using Kind = LuaToken::Kind;

constexpr size_t kNone = static_cast<size_t>(-1);

/// A range of tokens, both ends included.
struct Operand {
  size_t first, last;
};

/// Finds the comparisons in a Lua text, and the tokens of their operands.
class Comparisons {
 public:
  explicit Comparisons(std::string_view text) : text_(text) {
    for (size_t offset = 0; offset < text.size();) {
      const LuaToken token = lua_token_at(text, offset);
      if (token.kind != Kind::blank && token.kind != Kind::comment) add(token);
      offset = token.end;
    }
  }

  size_t count() const { return tokens_.size(); }
  /// Whether an operator == or ~= begins at this token, and the token is outside of all functions.
  bool begins_comparison(size_t i) const {
    const bool begins_operator = is_text(i, "~") || (is_text(i, "=") && !ends_operator(i));
    return begins_operator && is_text(i + 1, "=") && are_joined(i, i + 1) && !within_function_[i];
  }
  /// The operand whose last token is `last`. Returns nullopt if an operator before the operand
  /// binds more tightly than the comparison, or if the operand is not a number and begins with
  /// neither a name nor a bracket.
  std::optional<Operand> left_operand(size_t last) const {
    const size_t first = kind_of(last) == Kind::number ? last : first_of(last);
    if (first == kNone || !may_precede(first)) return {};
    return Operand{first, last};
  }
  /// The operand whose first token is `first`. Returns nullopt if an operator after the operand
  /// binds more tightly than the comparison, or if the operand is not a number and begins with
  /// neither a name nor a bracket.
  std::optional<Operand> right_operand(size_t first) const {
    const size_t number_index = is_text(first, "-") ? first + 1 : first;
    const size_t last = kind_of(number_index) == Kind::number ? number_index : last_of(first);
    if (last == kNone || !may_follow(last)) return {};
    return Operand{first, last};
  }
  bool is_number(const Operand& operand) const { return kind_of(operand.last) == Kind::number; }
  bool is_simple(const Operand& operand) const {
    return is_number(operand) || operand.first == operand.last;
  }
  size_t begin(const Operand& operand) const { return tokens_[operand.first].begin; }
  size_t end(const Operand& operand) const { return tokens_[operand.last].end; }

 private:
  void add(const LuaToken& token) {
    const size_t i = tokens_.size();
    tokens_.push_back(token);
    matching_brackets_.push_back(kNone);
    within_function_.push_back(std::find(blocks_.begin(), blocks_.end(), true) != blocks_.end());
    const int change = lua_depth_change(text_, token);
    if (token.kind == Kind::symbol) {
      if (change > 0) open_brackets_.push_back(i);
      if (change < 0 && !open_brackets_.empty()) {
        matching_brackets_[i] = open_brackets_.back(),
        matching_brackets_[open_brackets_.back()] = i;
        open_brackets_.pop_back();
      }
      return;
    }
    if (change > 0) blocks_.push_back(is_text(i, "function"));
    if (change < 0 && !blocks_.empty()) blocks_.pop_back();
  }

  Kind kind_of(size_t i) const { return i < tokens_.size() ? tokens_[i].kind : Kind::blank; }
  std::string_view word(size_t i) const {
    if (i >= tokens_.size()) return "";
    return text_.substr(tokens_[i].begin, tokens_[i].end - tokens_[i].begin);
  }
  bool is_text(size_t i, std::string_view expected) const {
    return kind_of(i) != Kind::string && word(i) == expected;
  }
  bool is_one_of(size_t i, std::string_view symbols) const {
    return kind_of(i) == Kind::symbol && symbols.find(word(i)) != symbols.npos;
  }
  bool are_joined(size_t i, size_t next_index) const {
    return tokens_[i].end == tokens_[next_index].begin;
  }
  bool ends_operator(size_t i) const {
    return i > 0 && is_one_of(i - 1, "=~<>") && are_joined(i - 1, i);
  }
  /// Whether the token is the dot of a field or the colon of a method, not part of ".." or "::".
  bool is_selector(size_t i) const {
    if (!is_one_of(i, ".:")) return false;
    return !(i > 0 && word(i - 1) == word(i)) && word(i + 1) != word(i);
  }
  bool ends_prefix(size_t i) const {
    return kind_of(i) == Kind::name || kind_of(i) == Kind::string || is_one_of(i, ")]}");
  }

  /// The first token of the operand that ends at `last`.
  size_t first_of(size_t last) const {
    for (size_t i = last;;) {
      const bool is_bracket = is_one_of(i, ")]}");
      if (kind_of(i) == Kind::name) {
        if (i < 2 || !is_selector(i - 1)) return i;
        i -= 2;
        if (!ends_prefix(i)) return kNone;
      } else if (is_bracket || kind_of(i) == Kind::string) {
        const size_t opening_index = is_bracket ? matching_brackets_[i] : i;
        if (opening_index == kNone) return kNone;
        if (opening_index == 0 || !ends_prefix(opening_index - 1))
          return is_text(i, ")") ? opening_index : kNone;
        i = opening_index - 1;
      } else {
        return kNone;
      }
    }
  }
  /// The last token of the operand that begins at `first`.
  size_t last_of(size_t first) const {
    size_t i = is_text(first, "(")            ? matching_brackets_[first]
               : kind_of(first) == Kind::name ? first
                                              : kNone;
    while (i != kNone) {
      const size_t next_index = i + 1;
      if (is_selector(next_index))
        i = next_index + 1;
      else if (is_one_of(next_index, "([{"))
        i = matching_brackets_[next_index];
      else if (kind_of(next_index) == Kind::string)
        i = next_index;
      else
        break;
    }
    return i;
  }

  bool may_precede(size_t first) const {
    if (first == 0) return true;
    if (is_one_of(first - 1, "([{,;")) return true;
    if (is_text(first - 1, "=")) return !ends_operator(first - 1);
    return kind_of(first - 1) == Kind::keyword && !is_text(first - 1, "not");
  }
  bool may_follow(size_t last) const {
    const Kind next_kind = kind_of(last + 1);
    return last + 1 == tokens_.size() || next_kind == Kind::keyword || next_kind == Kind::name ||
           is_one_of(last + 1, ")]},;");
  }

  std::string_view text_;
  std::vector<LuaToken> tokens_;
  /// For each token that is a bracket: the index of the matching bracket; kNone for other tokens.
  std::vector<size_t> matching_brackets_;
  std::vector<bool> within_function_;  // for each token: whether it is inside of a function
  std::vector<size_t> open_brackets_;  // the indices of open brackets
  std::vector<bool> blocks_;           // for each open block: whether it is a function
};

}  // namespace

WatchedCode with_watched_comparisons(std::string_view code) {
  WatchedCode result{std::string(code), {}};
  if (code.find("==") == code.npos && code.find("~=") == code.npos) return result;
  const Comparisons found_comparisons(code);
  std::vector<std::pair<size_t, std::string>> insertions;
  for (size_t i = 1; i + 2 < found_comparisons.count(); ++i) {
    if (!found_comparisons.begins_comparison(i)) continue;
    const std::optional<Operand> left_operand = found_comparisons.left_operand(i - 1),
                                 right_operand = found_comparisons.right_operand(i + 2);
    if (!left_operand || !right_operand) continue;
    const bool is_left =
        !found_comparisons.is_number(*left_operand) && found_comparisons.is_simple(*right_operand);
    if (!is_left && (found_comparisons.is_number(*right_operand) ||
                     !found_comparisons.is_simple(*left_operand)))
      continue;
    const auto text = [&](const Operand& operand) {
      return std::string(
          code.substr(found_comparisons.begin(operand),
                      found_comparisons.end(operand) - found_comparisons.begin(operand)));
    };
    const Operand &watched_operand = is_left ? *left_operand : *right_operand,
                  &compared_operand = is_left ? *right_operand : *left_operand;
    result.comparisons.push_back({text(watched_operand), text(compared_operand)});
    insertions.emplace_back(found_comparisons.begin(watched_operand),
                            "(...)(" + std::to_string(result.comparisons.size()) + ",");
    insertions.emplace_back(found_comparisons.end(watched_operand),
                            "," + text(compared_operand) + ")");
  }
  std::sort(insertions.begin(), insertions.end());
  for (auto it = insertions.rbegin(); it != insertions.rend(); ++it)
    result.code.insert(it->first, it->second);
  return result;
}

}  // namespace crescent::program
