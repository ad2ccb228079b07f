// Generators of random calls (CallGenerator in draft.h) for functions that move elements:
// operations on two slices of a value, concatenations, repetitions, indices.
#include "crescent/base/error.h"
#include "random/draft.h"

namespace crescent::random_programs {
namespace {

Value list_of(const std::vector<int64_t>& numbers) { return List(numbers.begin(), numbers.end()); }

/// `count` elements of one axis, beginning at `start`.
int axis_range(Draft& d, int x, int axis, int64_t start, int64_t count, int64_t step = 1) {
  return d.call("slice_axis", {{"x", x},
                               {"axis", Value(axis)},
                               {"first", Value(start)},
                               {"last", Value(start + (count - 1) * step + 1)},
                               {"step", Value(step)}});
}

int axis_from_0(Draft& d, int x) {
  if (d.shape(x).rank() == 0) fail("no axis");
  return static_cast<int>(d.choices.below(d.shape(x).rank()));
}

/// A call of a function with two slices of one value, such as x[:, 0] * x[:, 1].
int function_of_two_slices(Draft& d) {
  const int x = d.floating_value(1);
  const int axis = d.choices.one_in(2) ? axis_from_0(d, x) : d.shape(x).rank() - 1;
  const int64_t n = d.shape(x)[axis];
  const int64_t count = d.choices.one_in(2) ? 1 + d.choices.below(n) : 1;
  const int64_t step = count > 1 && d.choices.one_in(4) ? 2 : 1;
  const int64_t span = (count - 1) * step + 1;
  if (span > n) fail("too short");
  const auto random_slice = [&] {
    return axis_range(d, x, axis, d.choices.below(n - span + 1), count, step);
  };
  const int a = random_slice(), b = random_slice();
  constexpr const char* kBinaryFunctions[] = {"multiply", "add", "subtract", "maximum", "minimum"};
  return d.call(d.choices.one_of(kBinaryFunctions), {{"x1", a}, {"x2", b}});
}

int slice(Draft& d) {
  const int x = d.numeric_value();
  std::vector<int64_t> start, size;
  for (int64_t n : d.shape(x)) {
    size.push_back(d.choices.one_in(2) ? 1 + d.choices.below(n) : n);
    start.push_back(d.choices.below(n - size.back() + 1));
  }
  return d.call("slice",
                {{"inputs", x}, {"start_indices", list_of(start)}, {"shape", list_of(size)}});
}

int concatenate(Draft& d) {
  const int x = d.numeric_value(), axis = axis_from_0(d, x);
  std::vector<int> joined_values{x};
  for (int64_t remaining = 1 + d.choices.below(2); remaining > 0; --remaining) {
    switch (d.choices.below(3)) {
      case 0:
        joined_values.push_back(d.same_shape(x));
        break;
      case 1:
        joined_values.push_back(x);
        break;
      default:
        joined_values.push_back(axis_range(d, x, axis, 0, 1 + d.choices.below(d.shape(x)[axis])));
    }
  }
  return d.call("concatenate", {{"xs", joined_values}, {"axis", Value(axis)}});
}

int join(Draft& d, const char* function) {
  const int x = d.numeric_value(), second_value = d.same_shape(x);
  return d.call(function, {{"xs", std::vector<int>{x, second_value}}});
}

int add_n(Draft& d) {
  const int x = d.numeric_value(), second_value = d.same_shape(x), third_value = d.same_shape(x);
  return d.call("add_n", {{"tensors", std::vector<int>{x, second_value, third_value}}});
}

int rearrange(Draft& d) {
  const int x = d.numeric_value();
  constexpr const char* kPatterns[] = {"", "a -> a 1", "a b -> (b a)", "a b c -> b (a c)",
                                       "a b c d -> (a d) c b"};
  const int rank = d.shape(x).rank();
  if (rank < 1 || rank > 4) fail("another rank");
  return d.call("rearrange", {{"tensor", x}, {"pattern", Value(kPatterns[rank])}});
}

int stack(Draft& d) {
  const int x = d.numeric_value(), second_value = d.choices.one_in(3) ? x : d.same_shape(x);
  const int64_t axis = d.choices.below(d.shape(x).rank() + 1);
  return d.call("stack", {{"x", std::vector<int>{x, second_value}}, {"axis", Value(axis)}});
}

int split(Draft& d) {
  const int x = d.numeric_value(), axis = axis_from_0(d, x);
  const int64_t n = d.shape(x)[axis], count = n % 2 == 0 ? 2 : n % 3 == 0 ? 3 : 1;
  return d.call("split", {{"x", x}, {"indices_or_sections", Value(count)}, {"axis", Value(axis)}},
                static_cast<size_t>(d.choices.below(count)));
}

int unstack(Draft& d) {
  const int x = d.numeric_value(), axis = axis_from_0(d, x);
  const int64_t n = d.shape(x)[axis];
  if (n > 8) fail("too many");
  return d.call("unstack", {{"x", x}, {"axis", Value(axis)}},
                static_cast<size_t>(d.choices.below(n)));
}

int pad(Draft& d) {
  const int x = d.numeric_value();
  constexpr const char* kModes[] = {"constant", "reflect", "symmetric"};
  const char* mode = d.choices.one_of(kModes);
  List widths;
  for (int64_t n : d.shape(x)) {
    const int64_t max_padding = mode == kModes[0] ? 4 : std::min<int64_t>(n, 3);
    const int64_t padding_before = d.choices.below(max_padding),
                  padding_after = d.choices.below(max_padding);
    widths.push_back(List{Value(padding_before), Value(padding_after)});
  }
  std::vector<Argument> arguments{{"x", x}, {"pad_width", Value(widths)}, {"mode", Value(mode)}};
  if (mode == kModes[0] && d.choices.one_in(3)) arguments.push_back({"constant_values", Value(1)});
  return d.call("pad", arguments);
}

int tile(Draft& d) {
  const int x = d.numeric_value();
  std::vector<int64_t> repeats;
  for (int i = 0; i < d.shape(x).rank(); ++i) repeats.push_back(1 + d.choices.below(3));
  return d.call("tile", {{"x", x}, {"repeats", list_of(repeats)}});
}

int repeat(Draft& d) {
  const int x = d.numeric_value();
  return d.call("repeat",
                {{"x", x}, {"repeats", Value(1 + d.choices.below(3))}, {"axis", Value(d.axis(x))}});
}

int roll(Draft& d) {
  const int x = d.numeric_value();
  return d.call("roll",
                {{"x", x}, {"shift", Value(d.choices.below(9) - 4)}, {"axis", Value(d.axis(x))}});
}

int flip_all(Draft& d) { return d.call("flip", {{"x", d.numeric_value()}}); }

int swapaxes(Draft& d) {
  const int x = d.numeric_value();
  const int a = d.axis(x), b = d.axis(x);
  return d.call("swapaxes", {{"x", x}, {"axis1", Value(a)}, {"axis2", Value(b)}});
}

int moveaxis(Draft& d) {
  const int x = d.numeric_value();
  const int a = d.axis(x), b = d.axis(x);
  return d.call("moveaxis", {{"x", x}, {"source", Value(a)}, {"destination", Value(b)}});
}

int squeeze(Draft& d) { return d.call("squeeze", {{"x", d.numeric_value()}}); }
int ravel(Draft& d) { return d.call("ravel", {{"x", d.numeric_value()}}); }
int rot90(Draft& d) {
  const int x = d.numeric_value();
  return d.call("rot90", {{"array", x}, {"k", Value(1 + d.choices.below(3))}});
}

int append(Draft& d) {
  const int x = d.numeric_value();
  return d.call("append", {{"x1", x}, {"x2", d.same_shape(x)}, {"axis", Value(d.axis(x))}});
}

int meshgrid(Draft& d) {
  const int x = d.numeric_value();
  if (d.shape(x).rank() != 1) fail("one axis");
  return d.call("meshgrid", {{"x", std::vector<int>{x, d.same_shape(x)}}},
                static_cast<size_t>(d.choices.below(2)));
}

int view_sum(Draft& d) {
  int x = d.numeric_value();
  for (int64_t remaining = 1 + d.choices.below(4); remaining > 0; --remaining) x = d.view_of(x);
  return x;
}

using Make = int (*)(Draft&);
constexpr std::pair<const char*, Make> kViewGenerators[] = {
    {"get_item", view_sum},
    {"multiply", function_of_two_slices},
    {"slice", slice},
    {"concatenate", concatenate},
    {"stack", stack},
    {"split", split},
    {"unstack", unstack},
    {"pad", pad},
    {"tile", tile},
    {"repeat", repeat},
    {"roll", roll},
    {"flip", flip_all},
    {"swapaxes", swapaxes},
    {"moveaxis", moveaxis},
    {"squeeze", squeeze},
    {"ravel", ravel},
    {"rot90", rot90},
    {"append", append},
    {"meshgrid", meshgrid},
    {"add_n", add_n},
    {"rearrange", rearrange},
    {"hstack", [](Draft& d) { return join(d, "hstack"); }},
    {"vstack", [](Draft& d) { return join(d, "vstack"); }},
    {"dstack", [](Draft& d) { return join(d, "dstack"); }},
};

}  // namespace

std::vector<CallGenerator> shape_generators() {
  std::vector<CallGenerator> generators;
  // Calls whose operands are views (slices or permutations of values), which exercise most of the
  // engine.
  for (const auto& [function, make] : kViewGenerators) generators.push_back({function, make});
  for (size_t i = 0; i < std::size(kViewGenerators) / 2; ++i) {
    generators.push_back({"get_item", view_sum});
    generators.push_back({"multiply", function_of_two_slices});
  }
  return generators;
}

}  // namespace crescent::random_programs
