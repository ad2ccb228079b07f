#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "crescent/base/strict_json.h"

using namespace crescent;

namespace {

std::string error_message(std::string_view text) {
  try {
    parse_json(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("JSON is written as Python's json.dumps writes it") {
  const Dict config{{"units", 10},
                    {"rate", 1e-7},
                    {"whole", 3.0},
                    {"name", "d\"\\\n\x7F ü€🌙"},
                    {"none", nullptr},
                    {"on", true},
                    {"list", List{1, List{}, Dict{}}}};
  CHECK(to_json(config) ==
        "{\"units\": 10, \"rate\": 1e-07, \"whole\": 3.0, \"name\": \"d\\\"\\\\\\n\\u007f "
        "\\u00fc\\u20ac\\ud83c\\udf19\", "
        "\"none\": null, \"on\": true, \"list\": [1, [], {}]}");
  CHECK(to_json(List{1, Dict{{"a", List{2}}}}, 2) ==
        "[\n  1,\n  {\n    \"a\": [\n      2\n    ]\n  }\n]");
  CHECK(to_json(List{NAN, INFINITY, -INFINITY, 1e16, 1e22, -0.0}) ==
        "[NaN, Infinity, -Infinity, 1e+16, 1e+22, -0.0]");
  CHECK(to_strict_json(List{NAN, INFINITY, -INFINITY, 1e16, Dict{{"a", NAN}}}) ==
        "[null, null, null, 1e+16, {\"a\": null}]");
  CHECK_THROWS_WITH(to_json(Value("\xFF")), Catch::Contains("UTF-8"));
}

TEST_CASE("What is written reads back equal") {
  const Value value = Dict{{"a", List{1, 2.5, "x\ty", nullptr, false, Dict{{"é", "🌙"}}}},
                           {"big", INT64_MAX},
                           {"small", INT64_MIN},
                           {"pi", M_PI},
                           {"tiny", 5e-324},
                           {"", ""}};
  CHECK(parse_json(to_json(value)) == value);
  CHECK(parse_json(to_json(value, 4)) == value);
}

TEST_CASE("What Python writes is read") {
  CHECK(std::isnan(parse_json("NaN").as_float()));
  CHECK(parse_json(" [Infinity, -Infinity] ") == Value(List{INFINITY, -INFINITY}));
  CHECK(parse_json("9223372036854775807") == Value(INT64_MAX));
  CHECK(parse_json("-9223372036854775808") == Value(INT64_MIN));
  CHECK(parse_json("9223372036854775808") == Value(9223372036854775808.0));
  CHECK(parse_json("[0, -0, 0.5, 1E3, 1e-7]") == Value(List{0, 0, 0.5, 1000.0, 1e-7}));
  CHECK(parse_json("\"\\u00e9\\ud83c\\udf19\\/\"") == Value("é🌙/"));
  CHECK(parse_json("\"a\\u0000b\"").as_string().size() == 3);
}

TEST_CASE("Errors name line and column") {
  CHECK(error_message("{\"a\": 1,\n \"a\": 2}") ==
        "JSON, line 2, column 2: the key \"a\" is there twice");
  CHECK(error_message("[1, 2") ==
        "JSON, line 1, column 6: expected ',' or ']' (the text ends here)");
  CHECK(error_message("[1,\n\n  nul]") == "JSON, line 3, column 3: expected a value, got \"nul\"");
}

TEST_CASE("Hostile text is refused", "[F23]") {
  for (const char* text : {"",
                           " ",
                           "{",
                           "[",
                           "]",
                           "}",
                           "[1,]",
                           "[,1]",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{a: 1}",
                           "{'a': 1}",
                           "{\"a\": 1,}",
                           "01",
                           "-",
                           "+1",
                           "1.",
                           ".5",
                           "1e",
                           "1e+",
                           "0x10",
                           "--1",
                           "1 2",
                           "nan",
                           "True",
                           "None",
                           "\"",
                           "\"\\",
                           "\"\\x\"",
                           "\"\\u12\"",
                           "\"\\u12g4\"",
                           "\"\\ud800\"",
                           "\"\\ud800\\u0041\"",
                           "\"\\udc00\"",
                           "\"a\nb\"",
                           "\"\xFF\"",
                           "\xEF\xBB\xBF{}",
                           "1e999",
                           "-1e999",
                           "[1}",
                           "{\"a\": 1]",
                           "// x\n1",
                           "[1] x",
                           "\"\\u-123\"",
                           "\"\\u",
                           "inf",
                           "-nan",
                           "tru",
                           "truee"})
    CHECK(error_message(text).substr(0, 4) == "JSON");
  CHECK(error_message(std::string_view("1\0", 2)).substr(0, 4) == "JSON");
  CHECK(error_message(std::string_view("\"\0\"", 3)).substr(0, 4) == "JSON");
  CHECK(error_message(std::string_view("[1\0]", 4)).substr(0, 4) == "JSON");
}

TEST_CASE("Nesting is bounded at 1000, in what is read and in what is written", "[F23]") {
  const Value deepest_value = parse_json(std::string(1000, '[') + std::string(1000, ']'));
  CHECK(to_json(deepest_value).size() == 2000);
  CHECK_THROWS_WITH(to_json(List{deepest_value}), Catch::Contains("1000 deep"));
  CHECK(error_message(std::string(1001, '[') + std::string(1001, ']')).find("1000 deep") !=
        std::string::npos);
  CHECK(error_message(std::string(10'000'000, '[')).find("1000 deep") != std::string::npos);
}

TEST_CASE("A large dictionary is read in linear time") {
  std::string text = "{\"k\": 0";
  for (int i = 0; i < 200'000; ++i)
    text += ", \"key" + std::to_string(i) + "\": " + std::to_string(i);
  CHECK(parse_json(text + "}").as_dict().size() == 200'001);
}

TEST_CASE("A key that is there twice is an error in dictionaries of any size") {
  for (int size = 1; size < 40; ++size)
    for (int duplicate = 0; duplicate < size; ++duplicate) {
      std::string text = "{";
      for (int i = 0; i < size; ++i) text += "\"k" + std::to_string(i) + "\": 0, ";
      const std::string key = "\"k" + std::to_string(duplicate) + "\"";
      CHECK(error_message(text + key + ": 1}") == "JSON, line 1, column " +
                                                      std::to_string(text.size() + 1) +
                                                      ": the key " + key + " is there twice");
    }
}

TEST_CASE("Damaged text is an error or a value, never a crash") {
  const std::string valid_text =
      to_json(Dict{{"class_name", "Sequential"},
                   {"config", List{Dict{{"a", 1.5e-3}, {"ü", "x\\y"}}, nullptr, true}}});
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string text = valid_text.substr(0, random() % (valid_text.size() + 1));
    for (unsigned k = random() % 4; k > 0 && !text.empty(); --k)
      text[random() % text.size()] = static_cast<char>(random());
    try {
      to_text(parse_json(text));
    } catch (const Error&) {
    }
  }
}
