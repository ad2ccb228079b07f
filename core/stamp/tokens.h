// Splits a header into the tokens of C++.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace crescent::stamp {

enum class TokenKind { identifier, literal, punctuation, directive };

struct Token {
  TokenKind kind;
  std::string text;  ///< for a directive, the whole line with its tokens joined
};

/// Returns the tokens of a header without comments and #include directives.
std::vector<Token> tokens_of(std::string_view header);

}  // namespace crescent::stamp
