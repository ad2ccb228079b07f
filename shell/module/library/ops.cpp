// cr.ops: every function of ops.h, by its name and parameters.
#include "crescent/program.h"

#include "library/tensors.h"

namespace crescent::lua {
namespace {

using ops::Axes;
using Functions = std::vector<CallablePtr>;

template <class F>
void add(Functions& all, const char* name, F f, Parameters parameters) {
  all.push_back(bound(name, f, std::move(parameters)));
}

void add_elementwise(Functions& all) {
  const std::pair<const char*, Tensor (*)(const Tensor&)> unary[] = {
      {"negative", ops::negative},
      {"abs", ops::abs},
      {"sign", ops::sign},
      {"square", ops::square},
      {"sqrt", ops::sqrt},
      {"rsqrt", ops::rsqrt},
      {"reciprocal", ops::reciprocal},
      {"exp", ops::exp},
      {"expm1", ops::expm1},
      {"log", ops::log},
      {"log1p", ops::log1p},
      {"sin", ops::sin},
      {"cos", ops::cos},
      {"tan", ops::tan},
      {"arcsin", ops::arcsin},
      {"arccos", ops::arccos},
      {"arctan", ops::arctan},
      {"sinh", ops::sinh},
      {"cosh", ops::cosh},
      {"tanh", ops::tanh},
      {"sigmoid", ops::sigmoid},
      {"relu", ops::relu},
      {"softplus", ops::softplus},
      {"erf", ops::erf},
      {"floor", ops::floor},
      {"ceil", ops::ceil},
      {"round", ops::round},
      {"logical_not", ops::logical_not},
      {"isnan", ops::isnan},
      {"isfinite", ops::isfinite},
      {"silu", ops::silu},
      {"flatten", ops::flatten},
      {"stop_gradient", ops::stop_gradient},
      {"zeros_like", ops::zeros_like},
      {"ones_like", ops::ones_like}};
  for (const auto& [name, f] : unary) add(all, name, f, {"x"});
  const std::pair<const char*, Tensor (*)(const ops::Operand&, const ops::Operand&)> binary[] = {
      {"add", ops::add},
      {"subtract", ops::subtract},
      {"multiply", ops::multiply},
      {"divide", ops::divide},
      {"power", ops::power},
      {"maximum", ops::maximum},
      {"minimum", ops::minimum},
      {"floor_divide", ops::floor_divide},
      {"mod", ops::mod},
      {"arctan2", ops::arctan2},
      {"equal", ops::equal},
      {"not_equal", ops::not_equal},
      {"less", ops::less},
      {"less_equal", ops::less_equal},
      {"greater", ops::greater},
      {"greater_equal", ops::greater_equal},
      {"logical_and", ops::logical_and},
      {"logical_or", ops::logical_or}};
  for (const auto& [name, f] : binary) add(all, name, f, {"a", "b"});
  add(all, "where", &ops::where, {"condition", "a", "b"});
  add(all, "clip", &ops::clip, {"x", "x_min", "x_max"});
  add(all, "cast", &ops::cast, {"x", "dtype"});
  add(all, "add_n", &ops::add_n, {"tensors"});
  add(all, "softmax", &ops::softmax, {"x", "axis=-1"});
  add(all, "log_softmax", &ops::log_softmax, {"x", "axis=-1"});
  add(all, "leaky_relu", &ops::leaky_relu, {"x", "negative_slope=0.2"});
  add(all, "elu", &ops::elu, {"x", "alpha=1.0"});
  add(all, "gelu", &ops::gelu, {"x", "approximate=true"});
}

void add_reductions(Functions& all) {
  const std::pair<const char*, Tensor (*)(const Tensor&, const Axes&, bool)> reductions[] = {
      {"sum", ops::sum}, {"mean", ops::mean},         {"max", ops::max},
      {"min", ops::min}, {"prod", ops::prod},         {"any", ops::any},
      {"all", ops::all}, {"variance", ops::variance}, {"var", ops::variance},
      {"std", ops::std}, {"norm", ops::norm},         {"logsumexp", ops::logsumexp}};
  for (const auto& [name, f] : reductions) add(all, name, f, {"x", "axis=nil", "keepdims=false"});
  add(all, "argmax", &ops::argmax, {"x", "axis=-1"});
  add(all, "argmin", &ops::argmin, {"x", "axis=-1"});
  add(all, "cumsum", &ops::cumsum, {"x", "axis=-1", "reverse=false"});
  add(all, "top_k",
      [](const Tensor& x, int64_t k) {
        Tensors result = ops::top_k(x, k);
        return std::tuple(result[0], result[1]);
      },
      {"x", "k"});
  add(all, "in_top_k", &ops::in_top_k, {"targets", "predictions", "k"});
}

void add_shapes(Functions& all) {
  add(all, "shape", [](const Tensor& x) { return x.shape(); }, {"x"});
  add(all, "reshape", &ops::reshape, {"x", "newshape"});
  add(all, "transpose", &ops::transpose, {"x", "axes=nil"});
  add(all, "swapaxes", &ops::swap_axes, {"x", "axis1", "axis2"});
  add(all, "expand_dims", &ops::expand_dims, {"x", "axis"});
  add(all, "squeeze", &ops::squeeze, {"x", "axis=nil"});
  add(all, "broadcast_to", &ops::broadcast_to, {"x", "shape"});
  add(all, "repeat_elements", &ops::repeat, {"x", "repeats", "axis"});
  add(all, "tile", &ops::tile, {"x", "repeats"});
  add(all, "concatenate", &ops::concatenate, {"xs", "axis=0"});
  add(all, "stack", &ops::stack, {"x", "axis=0"});
  add(all, "split", &ops::split, {"x", "sizes", "axis=0"});
  add(all, "slice_axis", &ops::slice_axis, {"x", "axis", "first", "last", "step=1"});
  add(all, "pad", &ops::pad, {"x", "before", "after", "value=0"});
  add(all, "flip",
      [](const Tensor& x, Axes axes) {
        for (int i = 0; axes.empty() && i < x.rank(); ++i) axes.push_back(i);
        return ops::flip(x, axes);
      },
      {"x", "axis=nil"});
  add(all, "take", &ops::take, {"x", "indices", "axis=0"});
  add(all, "take_along_axis", &ops::take_along_axis, {"x", "indices", "axis=-1"});
  add(all, "one_hot", &ops::one_hot, {"x", "num_classes", "dtype=float32"});
}

Tensor all_reduce(const Tensor& x, const std::string& op) {
  std::vector<std::string> known;
  for (ReduceKind kind : {ReduceKind::sum, ReduceKind::mean, ReduceKind::max, ReduceKind::min}) {
    if (op == name_of(kind)) return ops::all_reduce(x, kind);
    known.emplace_back(name_of(kind));
  }
  fail("all_reduce: expected one of ", join(known), ", got '", op, "'", did_you_mean(op, known));
}

void add_products(Functions& all) {
  add(all, "matmul", &ops::matmul, {"x1", "x2", "transpose_a=false", "transpose_b=false"});
  add(all, "dot", &ops::dot, {"x1", "x2"});
  add(all, "einsum", &ops::einsum, {"equation", "operands"});
  add(all, "conv", &ops::conv,
      {"x", "kernel", "strides=1", "padding=valid", "dilation_rate=1", "groups=1"});
  add(all, "conv_transpose", &ops::conv_transpose,
      {"x", "kernel", "strides=1", "padding=valid", "dilation_rate=1", "output_padding=nil"});
  add(all, "max_pool", &ops::max_pool, {"x", "pool_size", "strides", "padding=valid"});
  add(all, "average_pool", &ops::average_pool, {"x", "pool_size", "strides", "padding=valid"});
  add(all, "layer_norm", &ops::layer_norm, {"x", "gamma", "beta", "epsilon=0.001"});
  add(all, "softmax_cross_entropy", &ops::softmax_cross_entropy, {"logits", "labels"});
  add(all, "sparse_softmax_cross_entropy", &ops::sparse_softmax_cross_entropy,
      {"logits", "labels"});
  add(all, "qr",
      [](const Tensor& x) {
        ops::QrResult result = ops::qr(x);
        return std::tuple(result.q, result.r);
      },
      {"x"});
  add(all, "svd",
      [](const Tensor& x) {
        ops::SvdResult result = ops::svd(x);
        return std::tuple(result.u, result.s, result.vt);
      },
      {"x"});
}

/// cr.ops.scan(body, states, sequences): body(states, step) returns the next states and what to
/// output.
std::tuple<Tensors, Tensors> scan(Any body, const Tensors& states, const Tensors& sequences,
                                  bool reverse) {
  const Ref function(current(), body.index);
  auto step = [&](const Tensors& now, const Tensors& inputs) {
    lua_State* L = current();
    Height height(L);
    function.push(L);
    push(L, now);
    push(L, inputs);
    protected_call(L, 2, 2);
    return ops::ScanResult{to_tensors(L, -2), to_tensors(L, -1)};
  };
  ops::ScanResult result = ops::scan(step, states, sequences, reverse);
  return {result.states, result.outputs};
}

}  // namespace

const std::vector<CallablePtr>& ops_functions() {
  static const Functions functions = [] {
    Functions all;
    add_elementwise(all);
    add_reductions(all);
    add_shapes(all);
    add_products(all);
    add(all, "all_reduce", &all_reduce, {"x", "op=sum"});
    all.push_back(bound("scan", &scan, {"body", "states", "sequences", "reverse=false"}));
    return all;
  }();
  return functions;
}

}  // namespace crescent::lua
