// Generators of random calls (CallGenerator in draft.h) for edge cases that select algorithms in
// kernels and passes: ties and zeros, integers that floats cannot represent, both orders of
// operands, transposed square matrices, and rows about as long as the pieces that kernels process.
#include "crescent/error.h"
#include "random/draft.h"

namespace crescent::random_programs {
namespace {

Value random_dtype_name(Draft& d) {
  constexpr const char* kNames[] = {"float32", "float64", "float16", "bfloat16", "int32",
                                    "int64",   "int8",    "uint8",   "int16",    "bool"};
  return d.choices.one_of(kNames);
}

/// Calls f(a, b) and f(b, a) in one program, to detect code that mistakes one call for the other.
int both_orders(Draft& d) {
  constexpr const char* kFunctions[] = {"subtract", "arctan2", "power",   "divide",
                                        "less",     "maximum", "mod",     "greater_equal",
                                        "multiply", "add",     "minimum", "floor_divide"};
  const std::string function = d.choices.one_of(kFunctions);
  const int a = d.positive_value();
  const int b = d.call("add", {{"x1", d.broadcasting_value(a)}, {"x2", a}});
  const auto call = [&](int x, int y) {
    const int result = d.call(function, {{"x1", x}, {"x2", y}});
    return d.dtype(result) == DType::boolean
               ? d.call("cast", {{"x", result}, {"dtype", Value("float32")}})
               : d.damped_value(result);
  };
  const int first = call(a, b), second = call(b, a);
  return d.call("subtract", {{"x1", first}, {"x2", d.damped_value(second)}});
}

/// A chain of casts through dtypes that cannot represent all of the numbers.
int cast_chain(Draft& d) {
  int x = d.choices.one_in(2) ? d.numeric_value() : d.integer_value();
  if (d.dtype(x) == DType::int32) x = d.call("multiply", {{"x1", x}, {"x2", Value(16777217)}});
  for (int64_t remaining = 2 + d.choices.below(2); remaining > 0; --remaining)
    x = d.call("cast", {{"x", x}, {"dtype", random_dtype_name(d)}});
  return x;
}

/// Integers with more digits than floating-point dtypes have, cast to another dtype and back.
int large_integers(Draft& d) {
  constexpr DType kDTypes[] = {DType::int32, DType::int64, DType::int16};
  constexpr const char* kFloatDTypes[] = {"float32", "float64", "float16", "bfloat16"};
  const DType dtype = d.choices.one_of(kDTypes);
  const int64_t factor = dtype == DType::int16 ? 257 : 16777217;
  const int small_numbers = d.input({dtype, d.shape_of_rank(static_cast<int>(d.choices.below(3)))});
  const int x = d.call("multiply", {{"x1", small_numbers}, {"x2", Value(factor)}});
  const int converted_integers =
      d.call("cast", {{"x", x}, {"dtype", Value(d.choices.one_of(kFloatDTypes))}});
  const int converted_back =
      d.call("cast", {{"x", converted_integers}, {"dtype", Value(name_of(dtype))}});
  constexpr const char* kSecondFunctions[] = {"", "subtract", "equal", "less"};
  const std::string second_function = d.choices.one_of(kSecondFunctions);
  return second_function.empty() ? converted_back
                                 : d.call(second_function, {{"x1", converted_back}, {"x2", x}});
}

/// A function whose result depends on ties, applied to rows or columns with many equal numbers.
int function_of_ties(Draft& d) {
  struct Function {
    const char* name;
    bool has_axis;
  };
  constexpr Function kFunctions[] = {{"prod", true},  {"cumprod", true}, {"max", true},
                                     {"min", true},   {"sort", true},    {"argsort", true},
                                     {"relu", false}, {"abs", false},    {"sign", false},
                                     {"prod", true},  {"nanprod", true}};
  const Function& function = d.choices.one_of(kFunctions);
  const int64_t rows = 1 + d.choices.below(4), count = 1 + d.choices.below(5);
  const Shape shape = d.choices.one_in(2) ? Shape{rows, count} : Shape{count, rows};
  const int x = d.input({d.floating_dtype(), shape});
  std::vector<Argument> arguments{{"x", x}};
  if (function.has_axis) arguments.push_back({"axis", Value(shape[0] == rows ? 1 : 0)});
  return d.call(function.name, arguments);
}

/// A product with a square matrix, transposed or not and perhaps twice, with rows or columns scaled
/// before or after.
int square_product(Draft& d) {
  constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 8, 16, 17, 33};
  const int64_t n = d.choices.one_of(kSizes), rows = d.choices.one_in(2) ? n * 4 : n;
  const DType dtype = d.floating_dtype();
  const auto maybe_transposed = [&](int x) {
    return d.choices.one_in(2) ? d.call("transpose", {{"x", x}, {"axes", Value(List{1, 0})}}) : x;
  };
  const auto maybe_scaled = [&](int x) {
    if (!d.choices.one_in(2)) return x;
    const Shape shape = d.shape(x);
    const Shape factors = d.choices.one_in(4) ? Shape{shape[0], 1} : Shape{shape[1]};
    return d.call("multiply", {{"x1", x}, {"x2", d.input({dtype, factors})}});
  };
  const int w = d.input({dtype, {n, n}});
  const int x = d.choices.one_in(3) ? w : d.input({dtype, {rows, n}});
  const int left = maybe_scaled(d.shape(x)[0] == n ? maybe_transposed(x) : x),
            right = maybe_scaled(maybe_transposed(w));
  int y = d.call("matmul", {{"x1", left}, {"x2", right}});
  y = maybe_scaled(y);
  if (d.choices.one_in(2)) y = d.call("add", {{"x1", y}, {"x2", d.input({dtype, {n}})}});
  if (d.choices.one_in(3)) y = d.call("relu", {{"x", y}});
  return d.choices.one_in(3) && d.shape(y) == d.shape(w) ? d.call("add", {{"x1", y}, {"x2", w}})
                                                         : y;
}

/// A function along an axis about as long as the pieces that kernels process.
int long_rows(Draft& d) {
  constexpr int64_t kLongLengths[] = {1023, 1024, 1025, 2047, 2048, 2049,
                                      2051, 4095, 4096, 4097, 6147};
  constexpr int64_t kVeryLongLengths[] = {8193, 16385, 32769, 65535, 65536, 65537, 65600, 131073};
  constexpr const char* kFunctions[] = {
      "argmax",  "argmin",      "max",           "min",       "sum",    "mean",
      "softmax", "log_softmax", "cumsum",        "logsumexp", "sort",   "argsort",
      "any",     "all",         "count_nonzero", "var",       "argmax", "flip"};
  const int64_t n = d.max_elements() > 20'000 && d.choices.one_in(2)
                        ? d.choices.one_of(kVeryLongLengths)
                        : d.choices.one_of(kLongLengths);
  const int64_t other_length = 1 + d.choices.below(3);
  const bool is_last = !d.choices.one_in(3);
  const Shape shape = is_last ? Shape{other_length, n} : Shape{n, other_length};
  const std::string function = d.choices.one_of(kFunctions);
  constexpr DType kIntegers[] = {DType::int32, DType::int64, DType::int8, DType::uint8,
                                 DType::boolean};
  const bool takes_integers = function.starts_with("arg") || function == "max" ||
                              function == "min" || function == "sort" || function == "flip";
  const DType dtype = function == "any" || function == "all"  ? DType::boolean
                      : takes_integers && d.choices.one_in(4) ? d.choices.one_of(kIntegers)
                                                              : d.floating_dtype();
  int x = d.input({dtype, shape});
  if (function == "sum" || function == "cumsum")
    x = d.call("multiply", {{"x1", x}, {"x2", Value(0.0625)}});
  return d.call(function, {{"x", x}, {"axis", Value(is_last ? 1 : 0)}});
}

/// A concatenation of views of values with one dtype, which may be any dtype including bool.
int join_of_views(Draft& d) {
  constexpr DType kDTypes[] = {DType::float16, DType::bfloat16, DType::int8,    DType::uint8,
                               DType::boolean, DType::int16,    DType::float64, DType::int64};
  const int rank = 1 + static_cast<int>(d.choices.below(3));
  int x = d.input({d.choices.one_of(kDTypes), d.shape_of_rank(rank)});
  for (int64_t remaining = 1 + d.choices.below(4); remaining > 0; --remaining) x = d.view_of(x);
  constexpr const char* kJoinFunctions[] = {"concatenate", "stack", "", "repeat", "tile"};
  const std::string join_function = d.choices.one_of(kJoinFunctions);
  if (join_function == "stack")
    return d.call("stack", {{"x", std::vector<int>{x, d.same_shape(x)}}, {"axis", Value(0)}});
  if (d.shape(x).rank() == 0 || join_function.empty()) return x;
  if (join_function == "concatenate")
    return d.call("concatenate",
                  {{"xs", std::vector<int>{x, d.same_shape(x)}}, {"axis", Value(d.axis(x))}});
  if (join_function == "repeat")
    return d.call("repeat", {{"x", x}, {"repeats", Value(2)}, {"axis", Value(d.axis(x))}});
  List repeats(static_cast<size_t>(d.shape(x).rank()), Value(2));
  return d.call("tile", {{"x", x}, {"repeats", Value(repeats)}});
}

/// A bitcast of an input or of a view of it, whose bits do not depend on rounding; sometimes
/// followed by a bitcast back. Bitcasts have no gradient.
int bitcasts(Draft& d) {
  constexpr DType kDTypes[] = {DType::float32, DType::int32,    DType::int16, DType::uint8,
                               DType::float16, DType::bfloat16, DType::int8,  DType::float64};
  constexpr const char* kIntegerNames[] = {"int32", "int16", "int8", "uint8"};
  const int rank = 1 + static_cast<int>(d.choices.below(3));
  int x = d.input({d.choices.one_of(kDTypes), d.shape_of_rank(rank)});
  if (d.choices.one_in(2)) x = d.view_of(x);
  if (is_floating(d.dtype(x))) x = d.call("stop_gradient", {{"variable", x}});
  const int y = d.call("view", {{"x", x}, {"dtype", Value(d.choices.one_of(kIntegerNames))}});
  if (d.choices.one_in(2)) return y;
  return d.call("view", {{"x", y}, {"dtype", Value(name_of(d.dtype(x)))}});
}

/// A function whose operands are the same value, such as y + y; kernels may read this value in two
/// places.
int equal_operands(Draft& d) {
  const int64_t case_index = d.choices.below(3);
  const int x = case_index == 0 && d.value_count() > 0 ? d.value_count() - 1 : d.floating_value();
  if (!is_floating(d.dtype(x)) || d.is_internal(x)) fail("a fraction");
  constexpr const char* kFunctions[] = {"add", "multiply", "maximum", "subtract", "minimum"};
  return d.damped_value(d.call(d.choices.one_of(kFunctions), {{"x1", x}, {"x2", x}}));
}

}  // namespace

std::vector<CallGenerator> edge_generators() {
  return {{"subtract", both_orders},   {"cast", cast_chain},       {"cast", large_integers},
          {"prod", function_of_ties},  {"prod", function_of_ties}, {"matmul", square_product},
          {"matmul", square_product},  {"argmax", long_rows},      {"argmax", long_rows},
          {"get_item", join_of_views}, {"view", bitcasts},         {"add", equal_operands}};
}

}  // namespace crescent::random_programs
