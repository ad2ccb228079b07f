#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "crescent/ops/ops.h"
#include "crescent/program/program.h"
#include "crescent/tensor/strings.h"

using namespace crescent;
using Catch::Matchers::Contains;

namespace {

Tensor text_tensor(std::vector<std::string> values) {
  return string_tensor(values, {static_cast<int64_t>(values.size())});
}

std::vector<std::string> numbered_texts(int64_t first, int64_t count) {
  std::vector<std::string> values;
  for (int64_t i = first; i < first + count; ++i) values.push_back(concat("text ", i));
  return values;
}

}  // namespace

TEST_CASE("a tensor of strings gives its texts back") {
  const Tensor t = string_tensor(std::vector<std::string>{"a", "", "b b", "a"}, {2, 2});
  CHECK(t.dtype() == DType::string);
  CHECK(strings_of(t) == std::vector<std::string>{"a", "", "b b", "a"});
  CHECK(t.data<StringId>()[0] == t.data<StringId>()[3]);
  CHECK(t.data<StringId>()[1] == StringId{});
  CHECK(to_text(t) == "[[  \"a\"    \"\"]\n [\"b b\"   \"a\"]]");
  CHECK(strings_of(Tensor(Shape{2}, DType::string)) == std::vector<std::string>{"", ""});
  CHECK_THROWS_WITH(string_tensor(numbered_texts(0, 2), {3}), Contains("takes 3 texts, got 2"));
}

TEST_CASE("strings are moved and compared, and nothing else") {
  const Tensor t = text_tensor({"x", "y", "z"});
  const Tensor tensors[] = {t, text_tensor({"y"})};
  const Tensor joined = ops::flip(ops::concatenate(tensors, 0), {0});
  CHECK(strings_of(joined) == std::vector<std::string>{"y", "z", "y", "x"});
  CHECK(ops::equal(joined, text_tensor({"y"})).to_vector() == std::vector<double>{1, 0, 1, 0});
  CHECK(ops::not_equal(joined, text_tensor({"y"})).to_vector() == std::vector<double>{0, 1, 0, 1});
  CHECK(strings_of(ops::pad(t, {1}, {0})) == std::vector<std::string>{"", "x", "y", "z"});
  CHECK(strings_of(ops::where(ops::equal(t, text_tensor({"y"})), t, text_tensor({"?"}))) ==
        std::vector<std::string>{"?", "y", "?"});
  CHECK_THROWS_WITH(ops::add(t, t), Contains("add takes no strings"));
  CHECK_THROWS_WITH(ops::less(t, t), Contains("less takes no strings"));
  CHECK_THROWS_WITH(ops::exp(t), Contains("exp takes no strings"));
  CHECK_THROWS_WITH(ops::sum(t), Contains("takes no strings"));
  CHECK_THROWS_WITH(ops::matmul(t, t), Contains("takes no strings"));
  CHECK_THROWS_WITH(ops::equal(t, 1.0), Contains("strings"));
  CHECK_THROWS_WITH(ops::add(t, Tensor(1.0)), Contains("no common dtype"));
  CHECK_THROWS_WITH(ops::cast(t, DType::float32), Contains("takes no strings"));
  CHECK_THROWS_WITH(ops::cast(Tensor(1.0), DType::string), Contains("does not become strings"));
  CHECK_THROWS_WITH(t.to_vector(), Contains("no number"));
}

TEST_CASE("compiled programs have strings as inputs, results and constants") {
  const Tensor constant = text_tensor({"constant of a program"});
  const Function function([constant](const Tensors& x) {
    return Tensors{ops::where(ops::equal(x[0], constant), x[0], ops::broadcast_to(constant, {2}))};
  });
  CHECK(strings_of(function({text_tensor({"first", "second"})})[0]) ==
        std::vector<std::string>(2, "constant of a program"));
}

TEST_CASE("texts that no tensor holds go") {
  const Tensor long_lived = text_tensor({"kept through it all"});
  Tensor rows = text_tensor(numbered_texts(0, 1000));
  const Tensor row = rows.view_rows(7, 1);
  rows = {};
  for (int64_t i = 1; i < 200; ++i) {
    const Tensor flipped = ops::flip(text_tensor(numbered_texts(1000 * i, 1000)), {0});
    REQUIRE(strings_of(flipped)[0] == concat("text ", 1000 * i + 999));
  }
  CHECK(string_count() < 20000);
  CHECK(strings_of(long_lived)[0] == "kept through it all");
  CHECK(strings_of(row)[0] == "text 7");
}

TEST_CASE("threads make strings while programs run on others") {
  std::atomic<bool> has_wrong_text = false;
  const auto work = [&](int64_t first) {
    for (int64_t i = 0; i < 60; ++i) {
      const auto values = numbered_texts(first + 500 * i, 500);
      const Tensor t = ops::flip(string_tensor(values, {500}), {0});
      if (strings_of(ops::flip(t, {0})) != values) has_wrong_text = true;
    }
  };
  std::thread other_thread(work, 10'000'000);
  work(20'000'000);
  other_thread.join();
  CHECK_FALSE(has_wrong_text);
}
