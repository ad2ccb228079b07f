// A header as tokens of C++.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace crescent::stamp {

enum class TokenKind { identifier, literal, punctuation, directive };

struct Token {
  TokenKind kind;
  std::string text;  ///< of a directive the whole line, its tokens joined
};

/// Without comments and #include.
std::vector<Token> tokens_of(std::string_view header);

}  // namespace crescent::stamp
