#include "crescent/base/pattern.h"

#include <catch2/catch.hpp>

#include "crescent/base/error.h"

namespace crescent {
namespace {

TEST_CASE("patterns fit whole names or parts of them") {
  const Pattern pattern("dense_\\d+/kernel", "rows");
  CHECK(pattern.matches("dense_12/kernel"));
  CHECK_FALSE(pattern.matches("block/dense_12/kernel"));
  CHECK(pattern.found_in("block/dense_12/kernel"));
  CHECK_FALSE(pattern.found_in("dense/kernel"));
}

TEST_CASE("what is no pattern is said with the option that it was for") {
  using Catch::Contains;
  CHECK_THROWS_WITH(Pattern("(", "rows"), Contains("rows: expected a regular expression, got '('"));
  CHECK_THROWS_WITH(Pattern(std::string(1025, 'a'), "rows"), Contains("at most 1024 letters"));
}

TEST_CASE("hostile patterns end, and long names fit none") {
  const std::string letters(2000, 'a');
  CHECK_FALSE(Pattern("(a*)*b", "rows").matches(letters));
  CHECK_FALSE(Pattern("(a|a)*b", "rows").found_in(letters));
  CHECK_THROWS_AS(Pattern("(a)\\1", "rows"), Error);
  CHECK_THROWS_AS(Pattern("((a{999}){999}){999}", "rows"), Error);
  CHECK_FALSE(Pattern(".*", "rows").matches(std::string(4097, 'a')));
  CHECK(Pattern(std::string(500, '(') + std::string(500, ')'), "rows").matches(""));
}

}  // namespace
}  // namespace crescent
