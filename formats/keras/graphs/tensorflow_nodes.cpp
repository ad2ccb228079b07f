#include "keras/graphs/tensorflow_nodes.h"

#include <algorithm>
#include <map>
#include <vector>

#include "crescent/base/error.h"
#include "keras/vocabulary/objects.h"

namespace crescent::keras {
namespace {

/// A kind of node and the TensorFlow function that computes the same. `inputs` are the names of the
/// function's arguments after the first, in order. `attributes` has pairs "theirs=ours" of names in
/// TensorFlow and Crescent. If `trailing_inputs` is not negative, all inputs except the last
/// `trailing_inputs` ones form a list.
struct NodeRow {
  const char *operation, *function, *inputs, *attributes;
  int trailing_inputs = -1;
};

constexpr const char *kAxis = "axis", *kKeepDims = "keep_dims=keepdims",
                     *kTransposeFlags =
                         "transpose_a=transpose_a transpose_b=transpose_b "
                         "adj_x=transpose_a adj_y=transpose_b";

constexpr NodeRow kNodes[] = {
    {"Abs", "math.abs", "", ""},
    {"Neg", "math.negative", "", ""},
    {"Exp", "math.exp", "", ""},
    {"Log", "math.log", "", ""},
    {"Log1p", "math.log1p", "", ""},
    {"Sqrt", "math.sqrt", "", ""},
    {"Rsqrt", "math.rsqrt", "", ""},
    {"Square", "math.square", "", ""},
    {"Reciprocal", "math.reciprocal", "", ""},
    {"Sin", "math.sin", "", ""},
    {"Cos", "math.cos", "", ""},
    {"Tanh", "math.tanh", "", ""},
    {"Sigmoid", "math.sigmoid", "", ""},
    {"Softplus", "math.softplus", "", ""},
    {"Erf", "math.erf", "", ""},
    {"Floor", "math.floor", "", ""},
    {"Ceil", "math.ceil", "", ""},
    {"Round", "math.round", "", ""},
    {"Sign", "math.sign", "", ""},
    {"LogicalNot", "math.logical_not", "", ""},
    {"Identity", "identity", "", ""},
    {"StopGradient", "stop_gradient", "", ""},
    {"Relu", "nn.relu", "", ""},
    {"Relu6", "nn.relu6", "", ""},
    {"Elu", "nn.elu", "", ""},
    {"Selu", "nn.selu", "", ""},
    {"LeakyRelu", "nn.leaky_relu", "", "alpha=alpha"},
    {"Softmax", "nn.softmax", "", ""},
    {"LogSoftmax", "nn.log_softmax", "", ""},
    {"Softsign", "nn.softsign", "", ""},
    {"Add", "math.add", "y", ""},
    {"AddV2", "math.add", "y", ""},
    {"BiasAdd", "math.add", "y", ""},
    {"Sub", "math.subtract", "y", ""},
    {"Mul", "math.multiply", "y", ""},
    {"Div", "math.divide", "y", ""},
    {"RealDiv", "realdiv", "y", ""},
    {"DivNoNan", "math.divide_no_nan", "y", ""},
    {"FloorDiv", "math.floordiv", "y", ""},
    {"FloorMod", "math.floormod", "y", ""},
    {"Pow", "math.pow", "y", ""},
    {"Maximum", "math.maximum", "y", ""},
    {"Minimum", "math.minimum", "y", ""},
    {"SquaredDifference", "math.squared_difference", "y", ""},
    {"Greater", "math.greater", "y", ""},
    {"GreaterEqual", "math.greater_equal", "y", ""},
    {"Less", "math.less", "y", ""},
    {"LessEqual", "math.less_equal", "y", ""},
    {"Equal", "math.equal", "y", ""},
    {"NotEqual", "math.not_equal", "y", ""},
    {"LogicalAnd", "math.logical_and", "y", ""},
    {"LogicalOr", "math.logical_or", "y", ""},
    {"MatMul", "linalg.matmul", "b", kTransposeFlags},
    {"BatchMatMul", "linalg.matmul", "b", kTransposeFlags},
    {"BatchMatMulV2", "linalg.matmul", "b", kTransposeFlags},
    {"Sum", "math.reduce_sum", kAxis, kKeepDims},
    {"Mean", "math.reduce_mean", kAxis, kKeepDims},
    {"Max", "math.reduce_max", kAxis, kKeepDims},
    {"Min", "math.reduce_min", kAxis, kKeepDims},
    {"Prod", "math.reduce_prod", kAxis, kKeepDims},
    {"All", "math.reduce_all", kAxis, kKeepDims},
    {"Any", "math.reduce_any", kAxis, kKeepDims},
    {"ArgMax", "math.argmax", "axis", ""},
    {"ArgMin", "math.argmin", "axis", ""},
    {"Cast", "cast", "", "DstT=dtype"},
    {"Reshape", "reshape", "shape", ""},
    {"Transpose", "transpose", "perm", ""},
    {"ExpandDims", "expand_dims", "axis", ""},
    {"Squeeze", "squeeze", "", "squeeze_dims=axis"},
    {"Tile", "tile", "multiples", ""},
    {"Pad", "pad", "paddings", ""},
    {"PadV2", "pad", "paddings constant_values", ""},
    {"GatherV2", "gather", "indices axis", "batch_dims=batch_dims"},
    {"OneHot", "one_hot", "depth on_value off_value", "axis=axis T=dtype"},
    {"Select", "where", "x y", ""},
    {"SelectV2", "where", "x y", ""},
    {"ClipByValue", "clip_by_value", "clip_value_min clip_value_max", ""},
    {"AddN", "math.add_n", "", "", 0},
    {"Pack", "stack", "", "axis=axis", 0},
    {"ConcatV2", "concat", "axis", "", 1},
};

struct ElementType {
  const char *tensorflow, *crescent;
};
constexpr ElementType kTypes[] = {{"DT_FLOAT", "float32"}, {"DT_DOUBLE", "float64"},
                                  {"DT_HALF", "float16"},  {"DT_BFLOAT16", "bfloat16"},
                                  {"DT_INT8", "int8"},     {"DT_INT16", "int16"},
                                  {"DT_INT32", "int32"},   {"DT_INT64", "int64"},
                                  {"DT_UINT8", "uint8"},   {"DT_BOOL", "bool"}};

/// Converts a text to the integer in it, because JSON definitions of nodes have integers of 64 bits
/// as texts.
Value number_in(const Value& value) {
  return value.is_string() ? Value(static_cast<int64_t>(std::atoll(value.as_string().c_str())))
                           : value;
}

/// Converts the value of an attribute: {"b": true}, {"f": 0.2}, {"i": "1"}, {"type": "DT_INT32"} or
/// {"list": {"i": ["1", "2"]}}.
Value attribute_in(const Value& attribute_value) {
  const Dict& attribute = attribute_value.as_dict();
  if (const std::string* type = text_at(attribute, "type")) {
    for (const ElementType& row : kTypes)
      if (*type == row.tensorflow) return row.crescent;
    fail("elements of type ", *type, " are not supported");
  }
  if (const Value* list = attribute.find("list")) {
    List numbers;
    if (const Value* items = list->as_dict().find("i"))
      for (const Value& item : items->as_list()) numbers.push_back(number_in(item));
    return numbers.empty() ? Value() : Value(numbers);
  }
  for (const char* kind : {"b", "f", "i"})
    if (const Value* value = attribute.find(kind)) return number_in(*value);
  return {};
}

/// The inputs of a node: the tensors, with the constant inputs inserted at their indices.
List node_inputs(const Dict& config, const List& tensors) {
  std::map<size_t, Value> constants;
  if (const Value* given_constants = config.find("constants");
      given_constants && given_constants->is_dict())
    for (const DictEntry& entry : given_constants->as_dict())
      constants[std::atoi(entry.key.c_str())] = entry.value;
  List inputs;
  for (size_t next_tensor = 0, input_index = 0; inputs.size() < tensors.size() + constants.size();
       ++input_index) {
    if (const auto constant = constants.find(input_index); constant != constants.end()) {
      inputs.push_back(constant->second);
      continue;
    }
    if (next_tensor == tensors.size()) fail("expected inputs without gaps, got constants ", config);
    inputs.push_back(tensors[next_tensor++]);
  }
  return inputs;
}

}  // namespace

NamedCall tensorflow_node_in(const Dict& config, const List& tensors) {
  const Dict& definition = config.at("node_def").as_dict();
  const std::string& operation = definition.at("op").as_string();
  const NodeRow* row =
      std::find_if(std::begin(kNodes), std::end(kNodes),
                   [&](const NodeRow& candidate) { return operation == candidate.operation; });
  if (row == std::end(kNodes)) fail("unknown operation of TensorFlow: '", operation, "'");
  List inputs = node_inputs(config, tensors);
  if (row->trailing_inputs >= 0) {
    const auto end = inputs.end() - std::min<int64_t>(row->trailing_inputs, std::ssize(inputs));
    List list_inputs(inputs.begin(), end);
    inputs.erase(inputs.begin(), end);
    inputs.insert(inputs.begin(), Value(std::move(list_inputs)));
  }
  NamedCall call{row->function, {}};
  const std::vector<std::string> names = words_of(row->inputs);
  if (inputs.empty() || inputs.size() > names.size() + 1)
    fail(operation, ": expected at most ", names.size() + 1, " inputs, got ", inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    call.arguments.set(i == 0 ? "" : names[i - 1], inputs[i]);
  const Value* attributes = definition.find("attr");
  for (const std::string& word : words_of(row->attributes))
    if (const size_t equals = word.find('='); attributes && attributes->is_dict())
      if (const Value* attribute_value = attributes->as_dict().find(word.substr(0, equals)))
        call.arguments.set(word.substr(equals + 1), attribute_in(*attribute_value));
  return call;
}

}  // namespace crescent::keras
