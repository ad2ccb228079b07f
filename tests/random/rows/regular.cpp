// Generators of random calls (CallGenerator in draft.h) that follow from a line of text for each
// function of cr.ops, such as
//   "sum(x=n, axis=axes, keepdims=flag)!"
// Operands: n numbers, f floating-point numbers, p those of at least 0.5, q of at least 1.5, u
// between -1 and 1, w integers, b booleans, y a value that broadcasts with the first operand.
// Options: axis, axes, flag, dtype, or JSON. After an exclamation mark the result, which may be
// large, is scaled down.
#include "crescent/ops/ops.h"
#include "random/draft.h"

namespace crescent::random_programs {
namespace {

constexpr const char* kLines[] = {
    // arithmetic
    "add(x1=n, x2=y)",
    "subtract(x1=n, x2=y)",
    "multiply(x1=n, x2=y)!",
    "divide(x1=f, x2=p)",
    "divide(x1=n, x2=2.5)",
    "divide(x1=f, x2=0.25)",
    "multiply(x1=n, x2=-1)",
    "multiply(x1=f, x2=0.5)",
    "add(x1=n, x2=1)",
    "subtract(x1=1, x2=n)",
    "true_divide(x1=f, x2=-4)",
    "divide_no_nan(x1=f, x2=y)!",
    "floor_divide(x1=n, x2=3)",
    "floor_divide(x1=w, x2=y)",
    "mod(x1=n, x2=3)",
    "fmod(x1=f, x2=1.5)",
    "power(x1=p, x2=y)!",
    "power(x1=f, x2=2)!",
    "power(x1=p, x2=0.5)",
    "power(x1=f, x2=3)!",
    "power(x1=p, x2=-1)",
    "maximum(x1=n, x2=y)",
    "minimum(x1=n, x2=y)",
    "maximum(x1=f, x2=0.25)",
    "fmax(x1=f, x2=y)",
    "fmin(x1=f, x2=y)",
    "arctan2(x1=f, x2=p)",
    "hypot(x1=p, x2=y)",
    "heaviside(x1=f, x2=0.5)",
    "squared_difference(x1=f, x2=y)!",
    "logaddexp(x1=f, x2=y)",
    "logaddexp2(x1=f, x2=y)",
    "negative(x=n)",
    "absolute(x=n)",
    "fabs(x=f)",
    "sign(x=n)",
    "square(x=n)!",
    "sqrt(x=p)",
    "rsqrt(x=p)",
    "cbrt(x=p)",
    "reciprocal(x=p)",
    "exp(x=u)",
    "exp2(x=u)",
    "expm1(x=u)",
    "log(x=p)",
    "log1p(x=p)",
    "log2(x=p)",
    "log10(x=p)",
    "sin(x=f)",
    "cos(x=f)",
    "tan(x=u)",
    "arcsin(x=u)",
    "arccos(x=u)",
    "arctan(x=f)",
    "sinh(x=u)",
    "cosh(x=u)",
    "tanh(x=f)",
    "arcsinh(x=f)",
    "arctanh(x=u)",
    "arccosh(x=q)",
    "ldexp(x1=u, x2=u)",
    "ldexp(x1=f, x2=3)",
    "sinc(x=f)",
    "deg2rad(x=f)",
    "rad2deg(x=f)!",
    "floor(x=f)",
    "ceil(x=f)",
    "round(x=f)",
    "round(x=f, decimals=1)",
    "trunc(x=f)",
    "nan_to_num(x=f)",
    "clip(x=n, x_min=-1, x_max=2)",
    "clip(x=f, x_min=-0.7, x_max=0.6)",
    "erf(x=f)",
    "erfc(x=u)",
    "erfinv(x=u)",
    "i0(x=u)",
    "signbit(x=f)",
    // complex functions of real numbers
    "real(x=n)",
    "imag(x=f)",
    "conj(x=f)",
    "conjugate(x=n)",
    "angle(x=f)",
    "isreal(x=f)",
    // comparisons
    "equal(x1=n, x2=y)",
    "not_equal(x1=n, x2=y)",
    "less(x1=n, x2=y)",
    "less_equal(x1=n, x2=y)",
    "greater(x1=n, x2=y)",
    "greater_equal(x1=n, x2=0)",
    "logical_and(x1=b, x2=y)",
    "logical_or(x1=b, x2=b)",
    "logical_xor(x1=b, x2=b)",
    "logical_not(x=b)",
    "isnan(x=f)",
    "isfinite(x=f)",
    "isinf(x=f)",
    "isposinf(x=f)",
    "isneginf(x=f)",
    "isclose(x1=f, x2=y)",
    "where(condition=b, x1=n, x2=n)",
    "where(condition=b, x1=n, x2=0)",
    // integers
    "bitwise_and(x=w, y=y)",
    "bitwise_or(x=w, y=y)",
    "bitwise_xor(x=w, y=y)",
    "bitwise_not(x=w)",
    "gcd(x1=w, x2=y)",
    "left_shift(x=w, y=2)",
    "right_shift(x=w, y=1)",
    // activations
    "relu(x=f)",
    "relu6(x=f)",
    "sigmoid(x=f)",
    "sparse_sigmoid(x=f)",
    "softplus(x=f)",
    "softsign(x=f)",
    "soft_shrink(x=f)",
    "sparse_plus(x=f)",
    "silu(x=f)",
    "squareplus(x=f)",
    "log_sigmoid(x=f)",
    "leaky_relu(x=f)",
    "hard_sigmoid(x=f)",
    "hard_silu(x=f)",
    "elu(x=f)",
    "selu(x=f)",
    "gelu(x=f, approximate=flag)",
    "celu(x=f)",
    "glu(x=f, axis=axis)",
    "tanh_shrink(x=f)",
    "hard_tanh(x=f)",
    "hard_shrink(x=f)",
    "threshold(x=f, threshold=0.5, default_value=0.25)",
    "fliplr(x=n)",
    "flipud(x=n)",
    "flatten(x=n)",
    "diagflat(x=n)",
    "array_split(x=n, indices_or_sections=2, axis=axis)",
    "hsplit(x=n, indices_or_sections=2)",
    "vsplit(x=n, indices_or_sections=2)",
    "dsplit(x=n, indices_or_sections=2)",
    "extract_sequences(x=f, sequence_length=2, sequence_stride=1)",
    "allclose(x1=f, x2=y)",
    "argpartition(x=f, kth=0, axis=axis)",
    "lcm(x1=w, x2=3)",
    "bitwise_invert(x=w)",
    "bitwise_left_shift(x=w, y=1)",
    "bitwise_right_shift(x=w, y=2)",
    "isin(x1=n, x2=[0,1,2])",
    "digitize(x=f, bins=[-1,0.25,1.5])",
    "histogram(x=w, bins=4, range=[-5,6])",
    "unravel_index(indices=[5,3,1], shape=[2,3])",
    "multi_hot(inputs=[1,2], num_classes=4)",
    "corrcoef(x=f)",
    "vander(x=u, N=3)",
    "nanargmax(x=f, axis=axis)",
    "nanargmin(x=f, axis=axis)",
    "nancumprod(x=u, axis=axis)",
    "nanmedian(x=f, axis=axis)",
    "nanquantile(x=f, q=0.4, axis=axis)",
    "nanpercentile(x=f, q=30, axis=axis)",
    "convert_to_tensor(x=n)",
    "array(x=n)",
    // constants
    "arange(start=0, stop=7)",
    "linspace(start=0, stop=1, num=5)",
    "logspace(start=0, stop=1, num=4)",
    "geomspace(start=1, stop=8, num=4)",
    "full(shape=[2,3], fill_value=2)",
    "zeros(shape=[3])",
    "ones(shape=[2,1])",
    "empty(shape=[2,3])",
    "eye(N=3, M=4, k=1)",
    "identity(n=3)",
    "tri(N=3)",
    "bartlett(x=5)",
    "blackman(x=4)",
    "hamming(x=5)",
    "hanning(x=6)",
    "kaiser(x=5, beta=2)",
    "softmax(x=f, axis=axis)",
    "log_softmax(x=f, axis=axis)",
    "sparsemax(x=f, axis=axis)",
    // reductions
    "sum(x=n, axis=axes, keepdims=flag)!",
    "mean(x=f, axis=axes, keepdims=flag)",
    "max(x=n, axis=axes, keepdims=flag)",
    "min(x=n, axis=axes, keepdims=flag)",
    "amax(x=f, axis=axes, keepdims=flag)",
    "amin(x=f, axis=axes, keepdims=flag)",
    "prod(x=u, axis=axis, keepdims=flag)",
    "any(x=b, axis=axes, keepdims=flag)",
    "all(x=b, axis=axes, keepdims=flag)",
    "var(x=f, axis=axes, keepdims=flag)",
    "std(x=f, axis=axes, keepdims=flag)",
    "ptp(x=f, axis=axes, keepdims=flag)",
    "argmax(x=n, axis=axis, keepdims=flag)",
    "argmin(x=n, axis=axis, keepdims=flag)",
    "average(x=f, axis=axis)",
    "count_nonzero(x=n, axis=axes)",
    "median(x=f, axis=axis, keepdims=flag)",
    "quantile(x=f, q=0.3, axis=axis, keepdims=flag)",
    "percentile(x=f, q=75, axis=axis)",
    "nansum(x=f, axis=axes, keepdims=flag)!",
    "nanmean(x=f, axis=axes, keepdims=flag)",
    "nanmax(x=f, axis=axis)",
    "nanmin(x=f, axis=axis)",
    "nanvar(x=f, axis=axes)",
    "nanstd(x=f, axis=axes)",
    "nanprod(x=u, axis=axis)",
    "nancumsum(x=f, axis=axis)!",
    "logsumexp(x=f, axis=axes, keepdims=flag)",
    "norm(x=p, axis=axis, keepdims=flag)",
    "norm(x=f, ord=1, axis=axis)!",
    "cumsum(x=n, axis=axis)!",
    "cumprod(x=u, axis=axis)",
    "diff(a=f, axis=axis)",
    "trapezoid(y=f, axis=axis)!",
    "normalize(x=p, axis=axis)",
    "rms_normalization(x=p, axis=axis)",
    "layer_normalization(x=f, axis=axis, epsilon=0.01)",
    "trace(x=f)!",
    "moments(x=f, axes=axis)",
    // dtypes
    "cast(x=n, dtype=dtype)",
    "cast(x=b, dtype=dtype)",
    "saturate_cast(x=w, dtype=dtype)",
    "stop_gradient(variable=f)",
    "zeros_like(x=n)",
    "empty_like(x=n)",
    "ones_like(x=n)",
    "full_like(x=n, fill_value=2)",
    "copy(x=n)",
    // sorting
    "sort(x=n, axis=axis)",
    "argsort(x=n, axis=axis)",
    "top_k(x=f, k=1)",
    // triangles and diagonals
    "tril(x=n)",
    "triu(x=n)",
    "tril(x=n, k=1)",
    "triu(x=n, k=-1)",
    "diagonal(x=n)",
    "diag(x=n)",
};

/// One argument in a line: "name=class".
struct ArgumentRule {
  std::string name, operand_class;
};

std::vector<ArgumentRule> argument_rules(const std::string& line) {
  std::vector<ArgumentRule> rules;
  size_t position = line.find('(') + 1;
  const size_t end = line.rfind(')');
  while (position < end) {
    const size_t next = std::min(line.find(", ", position), end), equals = line.find('=', position);
    rules.push_back(
        {line.substr(position, equals - position), line.substr(equals + 1, next - equals - 1)});
    position = next + 2;
  }
  return rules;
}

Value random_axes(Draft& d, int x) {
  if (d.choices.one_in(3) || d.shape(x).rank() == 0) return Value();
  List axes;
  for (int i = 0; i < d.shape(x).rank(); ++i)
    if (d.choices.one_in(2)) axes.push_back(Value(i));
  return axes.empty() ? Value(d.axis(x)) : Value(axes);
}

Value random_dtype_name(Choices& choices) {
  constexpr const char* kNames[] = {"float32", "float64", "float16", "bfloat16", "int32",
                                    "int64",   "int8",    "uint8",   "int16",    "bool"};
  return choices.one_of(kNames);
}

/// Draws a call. Operands are drawn before options, which depend on the first operand.
int draw(Draft& d, const std::string& function, const std::vector<ArgumentRule>& rules,
         bool is_scaled_down) {
  std::vector<Argument> arguments;
  int first = -1;
  for (const auto& [name, operand_class] : rules) {
    int value = -1;
    if (operand_class == "n") value = d.numeric_value();
    if (operand_class == "f") value = d.floating_value();
    if (operand_class == "p") value = d.positive_value();
    if (operand_class == "q") value = d.call("add", {{"x1", d.positive_value()}, {"x2", Value(1)}});
    if (operand_class == "u") value = d.value_below_1();
    if (operand_class == "w") value = d.integer_value();
    if (operand_class == "b") value = d.boolean_value();
    if (operand_class == "y") value = d.broadcasting_value(first);
    if (value >= 0) {
      if (first < 0) first = value;
      arguments.push_back({name, value});
    } else if (operand_class == "axis") {
      arguments.push_back({name, Value(d.axis(first))});
    } else if (operand_class == "axes") {
      arguments.push_back({name, random_axes(d, first)});
    } else if (operand_class == "flag") {
      arguments.push_back({name, Value(d.choices.one_in(2))});
    } else if (operand_class == "dtype") {
      arguments.push_back({name, random_dtype_name(d.choices)});
    } else {
      arguments.push_back({name, parse_json(operand_class)});
    }
  }
  const int result = d.call(function, std::move(arguments));
  return is_scaled_down ? d.damped_value(result) : result;
}

}  // namespace

std::vector<CallGenerator> regular_generators() {
  std::vector<CallGenerator> generators;
  for (const std::string line : kLines) {
    const std::string function = line.substr(0, line.find('('));
    const bool is_scaled_down = line.back() == '!';
    generators.push_back({function, [=, rules = argument_rules(line)](Draft& d) {
                            return draw(d, function, rules, is_scaled_down);
                          }});
  }
  return generators;
}

}  // namespace crescent::random_programs
