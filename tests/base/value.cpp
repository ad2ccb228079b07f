#include "crescent/base/value.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace crescent;

namespace {

struct TestObject final : Object {
  std::string class_name() const override { return "Thing"; }
};

}  // namespace

TEST_CASE("A dict keeps the order of insertion") {
  Dict dict{{"b", 1}, {"a", "x"}};
  dict["c"] = List{1, 2.5, nullptr};
  dict.set("b", 7);
  CHECK(dict.keys() == std::vector<std::string>{"b", "a", "c"});
  CHECK(dict.at("b") == Value(7));
  CHECK(dict.find("nope") == nullptr);
  CHECK(dict.erase("a"));
  CHECK_FALSE(dict.erase("a"));
  CHECK(dict.size() == 2);
  CHECK_THROWS_WITH(dict.at("momentum"), "no entry 'momentum'; there is: b, c");
  CHECK_THROWS_WITH(Dict({{"units", 1}}).at("unit"),
                    "no entry 'unit' (did you mean 'units'?); there is: units");
}

TEST_CASE("Values convert where nothing is lost, and say what they are elsewhere") {
  CHECK(Value(3.0).as_int() == 3);
  CHECK(Value(3).as_float() == 3.0);
  CHECK(Value(-9223372036854775808.0).as_int() == INT64_MIN);
  CHECK_THROWS_WITH(Value("ten").as_int(), "expected an integer, got \"ten\"");
  CHECK_THROWS_WITH(Value(2.5).as_int(), "expected an integer, got 2.5");
  CHECK_THROWS_WITH(Value(1e30).as_int(), "expected an integer, got 1e+30");
  CHECK_THROWS_WITH(Value(std::nan("")).as_int(), "expected an integer, got NaN");
  CHECK_THROWS_WITH(Value(9223372036854775808.0).as_int(),
                    Catch::StartsWith("expected an integer"));
  CHECK_THROWS_WITH(Value(true).as_int(), "expected an integer, got true");
  CHECK_THROWS_WITH(Value().as_string(), "expected a string, got null");
  CHECK_THROWS_WITH(Value("x").as_float(), "expected a number, got \"x\"");
  CHECK_THROWS_WITH(Value(1).as_bool(), "expected a boolean, got 1");
  CHECK_THROWS_WITH(Value(1).as_list(), "expected a list, got 1");
  CHECK_THROWS_WITH(Value(List{1}).as_dict(), "expected a dictionary, got [1]");
  CHECK_THROWS_WITH(Value(1).as_object(), "expected an object, got 1");
}

TEST_CASE("Equality is deep; numbers of two kinds differ; objects are themselves") {
  CHECK(Value(List{1, Dict{{"a", 2}}}) == Value(List{1, Dict{{"a", 2}}}));
  CHECK_FALSE(Value(1) == Value(1.0));
  CHECK(Value(Dict{{"a", 1}, {"b", 2}}) == Value(Dict{{"b", 2}, {"a", 1}}));
  CHECK_FALSE(Value(Dict{{"a", 1}}) == Value(Dict{{"a", 1}, {"b", 2}}));
  auto object = std::make_shared<TestObject>();
  CHECK(Value(object) == Value(object));
  CHECK_FALSE(Value(object) == Value(std::make_shared<TestObject>()));
  CHECK(Value(std::shared_ptr<TestObject>()).is_null());
  CHECK(Value(object).object_as<TestObject>() == object);
}

TEST_CASE("A value can be replaced by a part of itself") {
  Value copied_value = List{"first", List{"second", 2}};
  copied_value = copied_value.as_list()[1];
  CHECK(copied_value == Value(List{"second", 2}));
  Value moved_value = List{"first", List{"second", 2}};
  moved_value = std::move(moved_value.as_list()[1]);
  CHECK(moved_value == Value(List{"second", 2}));
}

TEST_CASE("Values in messages are short and readable") {
  CHECK(to_text(Value(std::make_shared<TestObject>())) == "<Thing>");
  CHECK(to_text(Value("grün")) == "\"grün\"");
  CHECK(to_text(Value("\xFF\x01")) == "\"\\ufffd\\u0001\"");
  const std::string text = to_text(Value(std::vector<int64_t>(100000, 12345)));
  CHECK(text.size() == 60);
  CHECK(text.substr(57) == "...");
  CHECK(to_text(Value(std::string(57, 'a') + "ü")).size() <= 60);
}
