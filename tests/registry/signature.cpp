#include "crescent/registry/signature.h"

#include <catch2/catch.hpp>

#include "crescent/registry/schema.h"

using namespace crescent;

TEST_CASE("a default's text is the value that Python or Lua means by it") {
  const std::vector<std::pair<const char*, Value>> cases = {
      {"None", {}},
      {"nil", {}},
      {"True", true},
      {"false", false},
      {"3", 3},
      {"-1", -1},
      {"1e-05", 1e-05},
      {"1.0", 1.0},
      {"'a, b'", "a, b"},
      {"''", ""},
      {"float32", "float32"},
      {"mnist.npz", "mnist.npz"},
      {"(0, 1)", List{0, 1}},
      {"[0.5, 1]", List{0.5, 1}},
      {"((1, 2), (3, 4))", List{List{1, 2}, List{3, 4}}}};
  for (const auto& [text, value] : cases) {
    INFO(text);
    CHECK(parse_default(text) == value);
  }
  for (const char* text : {"", "1.2.3", "a b", "(1", "'a", "=", ","}) {
    INFO(text);
    CHECK_THROWS_AS(parse_default(text), Error);
  }
}

TEST_CASE("the parameters of a text are separated at commas outside of brackets and quotes") {
  const std::vector<Parameter> all =
      parse_parameters("x, @scale=None, size=(3, 3), separator=',', *rest, **others");
  REQUIRE(all.size() == 6);
  CHECK(all[0].name == "x");
  CHECK(all[0].required);
  CHECK(all[1].name == "scale");
  CHECK_FALSE(all[1].required);
  CHECK(all[1].in_call);
  CHECK(all[1].default_value.is_null());
  CHECK(all[2].default_value == List{3, 3});
  CHECK(all[3].default_value == ",");
  CHECK(all[4].name == "rest");
  CHECK(all[4].variadic);
  CHECK(all[5].variadic);
  CHECK(parse_parameters("").empty());
}

TEST_CASE("a default that is none names its parameter") {
  CHECK_THROWS_WITH(parse_parameters("x, axis=1.2.3"), Catch::StartsWith("parameter 'axis=1.2.3'"));
}

namespace {

struct CountedCalls {
  int64_t count = 0;
  int64_t advance(int64_t by) { return count += by; }
};

}  // namespace

TEST_CASE("a method's signature is what its schema declares") {
  Schema<CountedCalls> s("CountedCalls");
  s.method("advance", &CountedCalls::advance, "Goes on.").arg("by", "Steps.", 2);
  const Signature signature = s.data().methods.front().signature();
  CHECK(signature.name == "advance");
  CHECK(signature.doc == "Goes on.");
  CHECK(signature.result == Codec<int64_t>::type());
  REQUIRE(signature.parameters.size() == 1);
  CHECK(signature.parameters[0].name == "by");
  CHECK(signature.parameters[0].doc == "Steps.");
  CHECK(signature.parameters[0].type == Codec<int64_t>::type());
  CHECK(signature.parameters[0].default_value == 2);
  CHECK_FALSE(signature.parameters[0].required);
}
