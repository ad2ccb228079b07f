// The table of rewrite rules in the documentation must equal the table that the passes use.
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "compile/passes/passes.h"
#include "compile/passes/rewriting/rules.h"

using namespace crescent;

namespace {

std::string code(std::string_view text) { return "`" + std::string(text) + "`"; }

/// The rules as Markdown tables.
std::string documentation() {
  std::string text;
  for (const passes::RuleTable* table : passes::rule_tables()) {
    text += "\n## " + std::string(table->pass()) + "\n\n| where | is computed | if | digits |\n";
    text += "|---|---|---|---|\n";
    for (const passes::RewriteRule& rule : table->rules()) {
      const bool same = rule.digits == passes::Digits::same;
      text += "| " + code(rule.pattern) + " | " + code(rule.replacement) + " | " +
              std::string(rule.condition.text) + " | " + (same ? "same" : "rounded") + " |\n";
    }
  }
  return text;
}

}  // namespace

TEST_CASE("the documentation of the rules shows the rules") {
  std::ifstream file(CRESCENT_SOURCE_DIR "/core/src/compile/passes/README.md");
  std::stringstream text;
  text << file.rdbuf();
  const std::string shown = text.str(), wanted = documentation();
  if (shown.ends_with(wanted)) return;
  std::ofstream("rules.md") << wanted;
  FAIL("core/src/compile/passes/README.md should end with what is now in rules.md");
}
