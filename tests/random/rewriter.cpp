// Rewrites random programs (recipes) by mathematical identities, so that the same values are
// computed in another way.
#include <array>
#include <numeric>
#include <set>

#include "random/check.h"

namespace crescent::random_programs {
namespace {

class Rewriter {
 public:
  Rewriter(const Recipe& recipe, Choices& choices) : old_recipe_(recipe), choices_(choices) {
    // Adding 0 changes -0 to 0, so it is no identity if a function reads the sign of numbers.
    has_signs_ = recipe.calls("signbit") || recipe.calls("arctan2");
  }

  Recipe run() {
    for (const Node& node : old_recipe_.nodes) {
      Node copy = node;
      for (Argument& argument : copy.arguments) renumber(argument);
      copy.phase = static_cast<int>(new_indices_.size());
      int value;
      if (node.function == "scan" && choices_.one_in(2)) {
        value = unrolled_scan(copy);
      } else if (is_elementwise(node) && choices_.one_in(4)) {
        value = function_of_parts(copy);
      } else if (node.function == "ctc_loss" && choices_.one_in(2)) {
        value = with_other_blank(copy);
      } else {
        value = add(copy);
      }
      new_indices_.push_back(choices_.one_in(3) && !node.is_internal ? equivalent_value(value)
                                                                     : value);
    }
    new_recipe_.has_gradients = old_recipe_.has_gradients;
    for (int output : old_recipe_.outputs) new_recipe_.outputs.push_back(new_index(output));
    return std::move(new_recipe_);
  }

 private:
  int new_index(int value) const { return new_indices_[static_cast<size_t>(value)]; }
  void renumber(Argument& argument) const {
    if (auto* single_value = std::get_if<int>(&argument.value))
      *single_value = new_index(*single_value);
    if (auto* value_list = std::get_if<std::vector<int>>(&argument.value))
      for (int& value : *value_list) value = new_index(value);
  }

  const TensorSpec& spec(int value) const {
    return new_recipe_.nodes[static_cast<size_t>(value)].spec;
  }

  int add(Node node) {
    if (!node.function.empty()) {
      Tensors operands;
      for (const Node& recorded_node : new_recipe_.nodes)
        operands.push_back(Tensor::abstract(recorded_node.spec));
      node.spec = random_programs::call(node, operands).at(node.result).spec();
    }
    new_recipe_.nodes.push_back(std::move(node));
    return static_cast<int>(new_recipe_.nodes.size()) - 1;
  }
  int call(const char* function, std::vector<Argument> arguments, size_t result = 0) {
    Node node;
    node.function = function, node.arguments = std::move(arguments), node.result = result;
    return add(std::move(node));
  }

  int slice(int x, int axis, int64_t first, int64_t last) {
    return call("slice_axis",
                {{"x", x}, {"axis", Value(axis)}, {"first", Value(first)}, {"last", Value(last)}});
  }
  int concatenation(int a, int b, int axis) {
    return call("concatenate", {{"xs", std::vector<int>{a, b}}, {"axis", Value(axis)}});
  }
  int cast(int x, const char* dtype) { return call("cast", {{"x", x}, {"dtype", Value(dtype)}}); }

  static bool is_elementwise(const Node& node) {
    static const std::set<std::string> kFunctions{
        "relu", "sigmoid", "tanh", "exp",   "abs",   "negative", "square", "gelu", "silu",
        "elu",  "clip",    "cast", "expm1", "log1p", "softplus", "floor",  "sign", "leaky_relu"};
    return kFunctions.count(node.function) != 0 && node.spec.shape.rank() > 0;
  }

  /// Computes f(x), for an elementwise function f, as the concatenation of f of two parts of x.
  int function_of_parts(Node node) {
    const int x = std::get<int>(node.arguments[0].value), axis = axis_of(x);
    const int64_t n = spec(x).shape[axis];
    if (n < 2) return add(node);
    const int64_t split_index = 1 + choices_.below(n - 1);
    const int first = slice(x, axis, 0, split_index), last = slice(x, axis, split_index, n);
    node.arguments[0].value = first;
    const int a = add(node);
    node.arguments[0].value = last;
    return concatenation(a, add(node), axis);
  }

  /// Rewrites a CTC loss so that the blank is the last class instead of the first, or the reverse.
  int with_other_blank(Node loss) {
    enum { target, output, mask_index = 4 };
    const int logits = std::get<int>(loss.arguments[output].value);
    const int64_t last = spec(logits).shape[-1] - 1;
    const int64_t label_shift =
        std::get<Value>(loss.arguments[mask_index].value) == Value(0) ? -1 : 1;
    const int labels = std::get<int>(loss.arguments[target].value);
    loss.arguments[target].value = call("add", {{"x1", labels}, {"x2", Value(label_shift)}});
    loss.arguments[output].value =
        call("roll", {{"x", logits}, {"shift", Value(label_shift)}, {"axis", Value(-1)}});
    loss.arguments[mask_index].value = Value(label_shift < 0 ? last : 0);
    return add(loss);
  }

  int axis_of(int x) { return static_cast<int>(choices_.below(spec(x).shape.rank())); }

  /// Rewrites a scan as its unrolled steps.
  int unrolled_scan(const Node& scan) {
    int carry = std::get<int>(scan.arguments[0].value);
    const int sequence = std::get<int>(scan.arguments[1].value);
    const auto& captured = std::get<std::vector<int>>(scan.arguments[2].value);
    const bool reverse = scan.arguments.size() > 3;
    const int64_t steps = spec(sequence).shape[0];
    std::vector<int> step_outputs(static_cast<size_t>(steps));
    for (int64_t k = 0; k < steps; ++k) {
      const int64_t t = reverse ? steps - 1 - k : k;
      std::vector<int> body_values{carry, call("get_item", {{"x", sequence}, {"key", Value(t)}})};
      body_values.insert(body_values.end(), captured.begin(), captured.end());
      for (Node body_node : scan.body) {
        for (Argument& argument : body_node.arguments) {
          if (auto* single_value = std::get_if<int>(&argument.value))
            *single_value = body_values[static_cast<size_t>(*single_value)];
        }
        body_values.push_back(add(body_node));
      }
      carry = body_values.back();
      step_outputs[static_cast<size_t>(t)] = body_values[body_values.size() - 2];
    }
    if (scan.result == 0) return carry;
    return call("stack", {{"x", step_outputs}, {"axis", Value(0)}});
  }

  /// The same value as x, computed by other ops.
  int equivalent_value(int x) {
    const TensorSpec x_spec = spec(x);
    const Shape& shape = x_spec.shape;
    const int rank = shape.rank();
    const List dims(shape.begin(), shape.end());
    const bool is_bool = x_spec.dtype == DType::boolean, is_full = rank == Shape::kMaxRank;
    switch (choices_.below(15)) {
      case 0:
        return is_bool || has_signs_ ? x : call("add", {{"x1", x}, {"x2", Value(0)}});
      case 1:
        return is_bool ? x : call("multiply", {{"x1", x}, {"x2", Value(1)}});
      case 2:
        return is_floating(x_spec.dtype) ? call("divide", {{"x1", x}, {"x2", Value(1)}}) : x;
      case 3:
        return is_bool ? x : call("negative", {{"x", call("negative", {{"x", x}})}});
      case 4:
        return transposed(x);
      case 5: {
        const int flattened_x = call("reshape", {{"x", x}, {"newshape", Value(List{-1})}});
        return call("reshape", {{"x", flattened_x}, {"newshape", Value(dims)}});
      }
      case 6: {
        if (rank == 0) return x;
        const Value axis(axis_of(x));
        return call("flip", {{"x", call("flip", {{"x", x}, {"axis", axis}})}, {"axis", axis}});
      }
      case 7: {
        if (rank == 0) return x;
        const int axis = axis_of(x);
        const int64_t n = shape[axis];
        if (n < 2) return x;
        const int64_t split_index = 1 + choices_.below(n - 1);
        const int first = slice(x, axis, 0, split_index);
        return concatenation(first, slice(x, axis, split_index, n), axis);
      }
      case 8: {
        const char* wider_dtype = x_spec.dtype == DType::float64   ? nullptr
                                  : x_spec.dtype == DType::float32 ? "float64"
                                  : is_floating(x_spec.dtype)      ? "float32"
                                  : x_spec.dtype == DType::int64   ? nullptr
                                  : is_bool                        ? "float32"
                                  : x_spec.dtype == DType::int32   ? "int64"
                                                                   : "int32";
        return wider_dtype ? cast(cast(x, wider_dtype), name_of(x_spec.dtype)) : x;
      }
      case 9: {
        if (is_full) return x;
        const Value axis(choices_.below(rank + 1));
        const int expanded_x = call("expand_dims", {{"x", x}, {"axis", axis}});
        return call("squeeze", {{"x", expanded_x}, {"axis", axis}});
      }
      case 10: {
        if (is_full) return x;
        List broadcast_shape = dims;
        broadcast_shape.insert(broadcast_shape.begin(), Value(2));
        const int doubled_x = call("broadcast_to", {{"x", x}, {"shape", Value(broadcast_shape)}});
        return call("get_item", {{"x", doubled_x}, {"key", Value(choices_.below(2))}});
      }
      case 11: {
        if (is_full) return x;
        const int doubled_x = call("stack", {{"x", std::vector<int>{x, x}}, {"axis", Value(0)}});
        return call("unstack", {{"x", doubled_x}, {"axis", Value(0)}},
                    static_cast<size_t>(choices_.below(2)));
      }
      case 12: {
        if (rank == 0 || is_bool) return x;
        const int axis = axis_of(x);
        List widths(static_cast<size_t>(rank), Value(List{0, 0}));
        widths[static_cast<size_t>(axis)] = List{2, 1};
        const int padded_x = call("pad", {{"x", x}, {"pad_width", Value(widths)}});
        return slice(padded_x, axis, 2, 2 + shape[axis]);
      }
      case 13:  // left out, because maximum(NaN, NaN) has no gradient
        return is_bool || old_recipe_.has_gradients ? x : call("maximum", {{"x1", x}, {"x2", x}});
      default: {
        if (rank == 0) return x;
        const int axis = axis_of(x);
        const int64_t n = shape[axis];
        const int doubled_x = concatenation(x, x, axis);
        return slice(doubled_x, axis, n, 2 * n);
      }
    }
  }

  int transposed(int x) {
    const int rank = spec(x).shape.rank();
    List order, inverse_order(static_cast<size_t>(rank));
    for (int i = 0; i < rank; ++i) order.insert(order.begin() + choices_.below(i + 1), Value(i));
    for (int i = 0; i < rank; ++i)
      inverse_order[static_cast<size_t>(order[static_cast<size_t>(i)].as_int())] = Value(i);
    const int transposed_value = call("transpose", {{"x", x}, {"axes", Value(order)}});
    return call("transpose", {{"x", transposed_value}, {"axes", Value(inverse_order)}});
  }

  const Recipe& old_recipe_;
  Recipe new_recipe_;
  Choices& choices_;
  std::vector<int> new_indices_;  ///< per value of old_recipe_: index of the value in new_recipe_
  bool has_signs_ = false;
};

}  // namespace

Recipe rewritten(const Recipe& recipe, Choices& choices) { return Rewriter(recipe, choices).run(); }

}  // namespace crescent::random_programs
