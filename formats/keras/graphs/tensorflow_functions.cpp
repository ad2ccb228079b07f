#include "keras/graphs/tensorflow_functions.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "crescent/base/error.h"
#include "keras/vocabulary/objects.h"

namespace crescent::keras {
namespace {

using AdaptCall = void (*)(NamedCall& call);

// ---- conversion of arguments that have another meaning in TensorFlow

void move_argument(Dict& arguments, std::string_view name, Value& target) {
  if (const Value* value = arguments.find(name)) target = *value;
  arguments.erase(name);
}

bool remove_flag(Dict& arguments, std::string_view name) {
  Value flag;
  move_argument(arguments, name, flag);
  return flag == Value(true);
}

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

void make_lower_case(Dict& arguments, const char* name) {
  if (const Value* value = arguments.find(name); value && value->is_string())
    arguments.set(name, lower_case(value->as_string()));
}

/// Whether the value is a reference to a tensor: ["dense_1", 0, 0].
bool is_tensor(const Value& value) {
  return value.is_list() && !value.as_list().empty() && value.as_list().front().is_string();
}

/// Replaces a size by -1 if TensorFlow computes the size only when the model is called. The
/// operation then computes it from the other sizes.
void replace_unknown_sizes(NamedCall& call) {
  Value* shape = call.arguments.find("newshape");
  if (!shape || !shape->is_list() || is_tensor(*shape))
    fail("its shape is worked out while the model runs");
  int unknown_count = 0;
  for (Value& size : shape->as_list()) {
    if (is_tensor(size)) size = -1;
    unknown_count += size == Value(-1);
  }
  if (unknown_count > 1) fail("two sizes of its shape are worked out while the model runs");
}

/// Replaces the sizes of the parts in a split by the indices at which the second part and later
/// ones begin.
void convert_split_sizes(NamedCall& call) {
  Value* parts = call.arguments.find("indices_or_sections");
  if (!parts || !parts->is_list()) return;
  List split_positions;
  int64_t position = 0;
  for (const Value& size : parts->as_list()) {
    if (!size.is_int() || size.as_int() < 0)
      fail("expected the sizes of parts to be known, got ", *parts);
    split_positions.emplace_back(position += size.as_int());
  }
  if (!split_positions.empty()) split_positions.pop_back();
  *parts = std::move(split_positions);
}

void convert_transposed_product(NamedCall& call) {
  Dict& arguments = call.arguments;
  const bool transposes_first =
                 remove_flag(arguments, "transpose_a") | remove_flag(arguments, "adjoint_a"),
             transposes_second =
                 remove_flag(arguments, "transpose_b") | remove_flag(arguments, "adjoint_b");
  if (!transposes_first && !transposes_second) return;
  call.function = "einsum";
  arguments = {{"subscripts", concat(transposes_first ? "...ji," : "...ij,",
                                     transposes_second ? "...kj" : "...jk", "->...ik")},
               {"operands", List{arguments.at("x1"), arguments.at("x2")}}};
}

void convert_pad_mode(NamedCall& call) {
  make_lower_case(call.arguments, "mode");
  const Value* mode = call.arguments.find("mode");
  if (mode && *mode != Value("constant")) call.arguments.erase("constant_values");
}

/// Replaces epsilon by its square root: in TensorFlow it is a lower bound of the squared norm.
void use_root_of_epsilon(NamedCall& call) {
  const Value* epsilon = call.arguments.find("epsilon");
  call.arguments.set("epsilon", std::sqrt(epsilon ? epsilon->as_float() : 1e-12));
}

/// The sizes for (rows, columns), from a list of sizes for (batch, rows, columns, channels).
Value image_sizes(const Value& sizes) {
  if (!sizes.is_list() || sizes.as_list().size() < 3) return sizes;
  const List& list = sizes.as_list();
  return List(list.begin() + 1, list.end() - 1);
}

void convert_pooling(NamedCall& call) {
  Value format;
  move_argument(call.arguments, "data_format", format);
  if (format.is_string() && !format.as_string().starts_with("N"))
    fail("expected data_format NHWC, got ", format);
  if (format.is_string() && format.as_string().starts_with("NC"))
    fail("data_format ", format, " is not supported");
  for (const char* name : {"pool_size", "strides"})
    if (Value* sizes = call.arguments.find(name)) *sizes = image_sizes(*sizes);
  make_lower_case(call.arguments, "padding");
}

void convert_resizing_method(NamedCall& call) { make_lower_case(call.arguments, "interpolation"); }

/// Replaces an argument `key` that is a serialized tuple by the list of the tuple's items.
void unpack_key(NamedCall& call) {
  if (Value* key = call.arguments.find("key");
      key && is_object(*key) && class_of(*key) == "__tuple__")
    *key = Value(key->as_dict().at("items"));
}

void convert_direction(NamedCall& call) {
  Value direction;
  move_argument(call.arguments, "direction", direction);
  if (!direction.is_null() && direction != Value("ASCENDING"))
    fail("direction ", direction, " is not supported");
}

// ---- the functions of TensorFlow that have an operation

/// A function of TensorFlow and the operation that replaces it. `arguments` lists words: first the
/// operation's name of the first argument, then for each other argument "theirs" or "theirs=ours"
/// (the names in TensorFlow and in Crescent); "+ours=value" is a constant argument of the
/// operation; "-theirs=value" is an argument that the operation lacks and that must have this
/// value; "-theirs" is an argument without effect.
struct FunctionRow {
  const char *function, *operation, *arguments;
  AdaptCall adapt = nullptr;
};

constexpr const char *kUnary = "x", *kBinary = "x1 y=x2",
                     *kReduction = "x axis keepdims keep_dims=keepdims reduction_indices=axis";

constexpr FunctionRow kFunctions[] = {
    {"math.abs", "absolute", kUnary},
    {"math.negative", "negative", kUnary},
    {"math.exp", "exp", kUnary},
    {"math.expm1", "expm1", kUnary},
    {"math.log", "log", kUnary},
    {"math.log1p", "log1p", kUnary},
    {"math.sqrt", "sqrt", kUnary},
    {"math.rsqrt", "rsqrt", kUnary},
    {"math.square", "square", kUnary},
    {"math.reciprocal", "reciprocal", kUnary},
    {"math.sin", "sin", kUnary},
    {"math.cos", "cos", kUnary},
    {"math.tan", "tan", kUnary},
    {"math.asin", "arcsin", kUnary},
    {"math.acos", "arccos", kUnary},
    {"math.atan", "arctan", kUnary},
    {"math.sinh", "sinh", kUnary},
    {"math.cosh", "cosh", kUnary},
    {"math.tanh", "tanh", kUnary},
    {"math.asinh", "arcsinh", kUnary},
    {"math.acosh", "arccosh", kUnary},
    {"math.atanh", "arctanh", kUnary},
    {"math.ceil", "ceil", kUnary},
    {"math.floor", "floor", kUnary},
    {"math.round", "round", kUnary},
    {"math.rint", "round", kUnary},
    {"math.sign", "sign", kUnary},
    {"math.erf", "erf", kUnary},
    {"math.sigmoid", "sigmoid", kUnary},
    {"math.log_sigmoid", "log_sigmoid", kUnary},
    {"math.softplus", "softplus", kUnary},
    {"math.is_nan", "isnan", kUnary},
    {"math.is_inf", "isinf", kUnary},
    {"math.is_finite", "isfinite", kUnary},
    {"math.logical_not", "logical_not", kUnary},
    {"math.real", "real", kUnary},
    {"math.imag", "imag", kUnary},
    {"math.conj", "conj", kUnary},
    {"identity", "copy", kUnary},
    {"convert_to_tensor", "copy", "x -dtype_hint -dtype"},
    {"stop_gradient", "stop_gradient", "variable"},
    {"nn.relu", "relu", kUnary},
    {"nn.relu6", "relu6", kUnary},
    {"nn.elu", "elu", kUnary},
    {"nn.selu", "selu", kUnary},
    {"nn.silu", "silu", "x -beta=1.0"},
    {"nn.swish", "silu", "x -beta=1.0"},
    {"nn.gelu", "gelu", "x approximate +approximate=false"},
    {"nn.leaky_relu", "leaky_relu", "x alpha=negative_slope +negative_slope=0.2"},
    {"nn.sigmoid", "sigmoid", kUnary},
    {"nn.tanh", "tanh", kUnary},
    {"nn.softplus", "softplus", kUnary},
    {"nn.softsign", "softsign", kUnary},
    {"nn.softmax", "softmax", "x axis dim=axis"},
    {"nn.log_softmax", "log_softmax", "x axis dim=axis"},

    {"__operators__.add", "add", kBinary},
    {"math.add", "add", kBinary},
    {"math.subtract", "subtract", kBinary},
    {"math.multiply", "multiply", kBinary},
    {"math.divide", "divide", kBinary},
    {"math.truediv", "true_divide", kBinary},
    {"realdiv", "divide", kBinary},
    {"math.divide_no_nan", "divide_no_nan", kBinary},
    {"math.floordiv", "floor_divide", kBinary},
    {"math.floormod", "mod", kBinary},
    {"math.pow", "power", kBinary},
    {"math.maximum", "maximum", kBinary},
    {"math.minimum", "minimum", kBinary},
    {"math.atan2", "arctan2", "x1 x=x2"},
    {"math.squared_difference", "squared_difference", kBinary},
    {"math.greater", "greater", kBinary},
    {"math.greater_equal", "greater_equal", kBinary},
    {"math.less", "less", kBinary},
    {"math.less_equal", "less_equal", kBinary},
    {"math.equal", "equal", kBinary},
    {"math.not_equal", "not_equal", kBinary},
    {"__operators__.eq", "equal", "x1 other=x2"},
    {"__operators__.ne", "not_equal", "x1 other=x2"},
    {"math.logical_and", "logical_and", kBinary},
    {"math.logical_or", "logical_or", kBinary},
    {"math.logical_xor", "logical_xor", kBinary},
    {"__operators__.logical_and", "logical_and", kBinary},
    {"__operators__.logical_or", "logical_or", kBinary},
    {"__operators__.logical_xor", "logical_xor", kBinary},
    {"math.add_n", "add_n", "tensors"},
    {"linalg.matmul", "matmul",
     "x1 b=x2 transpose_a transpose_b adjoint_a adjoint_b -a_is_sparse=false -b_is_sparse=false "
     "-output_type",
     convert_transposed_product},
    {"tensordot", "tensordot", "x1 b=x2 axes"},

    {"math.reduce_sum", "sum", kReduction},
    {"math.reduce_mean", "mean", kReduction},
    {"math.reduce_max", "max", kReduction},
    {"math.reduce_min", "min", kReduction},
    {"math.reduce_prod", "prod", kReduction},
    {"math.reduce_all", "all", kReduction},
    {"math.reduce_any", "any", kReduction},
    {"math.reduce_std", "std", kReduction},
    {"math.reduce_variance", "var", kReduction},
    {"math.reduce_logsumexp", "logsumexp", kReduction},
    {"math.count_nonzero", "count_nonzero", "x axis -keepdims=false -dtype"},
    {"math.argmax", "argmax", "x axis dimension=axis +axis=0 -output_type"},
    {"math.argmin", "argmin", "x axis dimension=axis +axis=0 -output_type"},
    {"math.cumsum", "cumsum", "x axis +axis=0 -exclusive=false -reverse=false"},
    {"math.cumprod", "cumprod", "x axis +axis=0 -exclusive=false -reverse=false"},
    {"math.l2_normalize", "normalize", "x axis dim=axis epsilon", use_root_of_epsilon},
    {"norm", "norm", "x ord axis keepdims -ord=euclidean"},
    {"math.top_k", "top_k", "x k sorted +k=1"},
    {"nn.moments", "moments", "x axes keepdims -shift"},
    {"sort", "sort", "x axis direction", convert_direction},
    {"argsort", "argsort", "x axis direction -stable", convert_direction},

    {"__operators__.getitem", "get_item", "x slice_spec=key", unpack_key},
    {"cast", "cast", "x dtype"},
    {"one_hot", "one_hot",
     "x depth=num_classes axis dtype -on_value=1 -off_value=0 +dtype=\"float32\""},
    {"reshape", "reshape", "x shape=newshape", replace_unknown_sizes},
    {"transpose", "transpose", "x perm=axes -conjugate=false"},
    {"concat", "concatenate", "xs axis"},
    {"stack", "stack", "x axis"},
    {"unstack", "unstack", "x num axis"},
    {"split", "split", "x num_or_size_splits=indices_or_sections axis -num", convert_split_sizes},
    {"squeeze", "squeeze", "x axis squeeze_dims=axis"},
    {"expand_dims", "expand_dims", "x axis dim=axis"},
    {"tile", "tile", "x multiples=repeats"},
    {"repeat", "repeat", "x repeats axis"},
    {"gather", "take", "x indices axis +axis=0 -batch_dims=0 -validate_indices"},
    {"where", "where", "condition x=x1 y=x2"},
    {"pad", "pad", "x paddings=pad_width mode constant_values", convert_pad_mode},
    {"reverse", "flip", "x axis"},
    {"roll", "roll", "x shift axis"},
    {"zeros_like", "zeros_like", "x dtype -optimize -layout"},
    {"ones_like", "ones_like", "x dtype -optimize -layout"},
    {"clip_by_value", "clip", "x clip_value_min=x_min clip_value_max=x_max"},
    {"broadcast_to", "broadcast_to", "x shape"},

    {"nn.max_pool2d", "max_pool", "inputs ksize=pool_size strides padding data_format",
     convert_pooling},
    {"nn.avg_pool2d", "average_pool", "inputs ksize=pool_size strides padding data_format",
     convert_pooling},
    {"nn.depth_to_space", "depth_to_space", "x block_size -data_format=NHWC"},
    {"nn.space_to_depth", "space_to_depth", "x block_size -data_format=NHWC"},
    {"image.resize", "image.resize",
     "images size method=interpolation -preserve_aspect_ratio=false antialias",
     convert_resizing_method},
    {"image.flip_left_right", "flip", "x +axis=-2"},
    {"image.flip_up_down", "flip", "x +axis=-3"},
    {"image.rgb_to_grayscale", "image.rgb_to_grayscale", "images"},
};

/// Finds the row of the table for a function. "compat.v1.gather" and "math.exp" are found as
/// "gather" and "exp", too.
const FunctionRow* find_row(std::string name) {
  constexpr std::string_view kCompatPrefix = "compat.v1.";
  if (name.starts_with(kCompatPrefix)) name.erase(0, kCompatPrefix.size());
  for (const FunctionRow& row : kFunctions)
    for (const char* prefix : {"", "math.", "nn."})
      if (prefix + name == row.function) return &row;
  return nullptr;
}

[[noreturn]] void fail_unknown_function(const std::string& name) {
  std::vector<std::string> names;
  for (const FunctionRow& row : kFunctions) names.emplace_back(row.function);
  fail("unknown function of TensorFlow: '", name, "'", did_you_mean(name, names),
       ". In Keras, put a layer of yours in its place, and bring that along in custom_objects");
}

/// Whether a value equals the number, boolean or word that `text` is.
bool is_value(const Value& argument, const std::string& text) {
  if (argument.is_number()) return argument == Value(std::atof(text.c_str()));
  if (argument.is_bool()) return text == (argument.as_bool() ? "true" : "false");
  return argument == Value(text);
}

/// Renames the arguments of a call as an entry of the table says.
class RenamedArguments {
 public:
  explicit RenamedArguments(const FunctionRow& row) : words_(words_of(row.arguments)) {}

  Dict crescent_arguments(const Dict& tensorflow_arguments) const {
    Dict arguments;
    for (const DictEntry& entry : tensorflow_arguments) {
      if (entry.key.empty())
        arguments.set(words_.front(), entry.value);
      else if (!entry.value.is_null() && entry.key != "name")
        add(entry, arguments);
    }
    for (const std::string& word : words_)
      if (const size_t equals_position = word.find('='); word[0] == '+') {
        const std::string name = word.substr(1, equals_position - 1);
        if (!arguments.contains(name))
          arguments.set(name, parse_json(word.substr(equals_position + 1)));
      }
    return arguments;
  }

 private:
  void add(const DictEntry& argument, Dict& arguments) const {
    for (const bool is_dropped_word : {true, false})
      for (size_t i = 1; i < words_.size(); ++i) {
        const std::string& word = words_[i];
        if ((word[0] == '-') != is_dropped_word) continue;
        const size_t equals_position = word.find('=');
        const std::string keyword = word.substr(is_dropped_word, equals_position - is_dropped_word),
                          text_after_equals =
                              equals_position == word.npos ? "" : word.substr(equals_position + 1);
        if (keyword != argument.key) continue;
        if (!is_dropped_word)
          return arguments.set(text_after_equals.empty() ? keyword : text_after_equals,
                               argument.value);
        if (text_after_equals.empty() || is_value(argument.value, text_after_equals)) return;
      }
    fail("argument ", argument.key, " = ", argument.value, " is not supported");
  }
  std::vector<std::string> words_;
};

}  // namespace

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    end = std::min(text.find(' ', begin), text.size());
    if (end > begin) words.emplace_back(text.substr(begin, end - begin));
  }
  return words;
}

NamedCall operation_for(NamedCall tensorflow) {
  const FunctionRow* row = find_row(tensorflow.function);
  if (!row) fail_unknown_function(tensorflow.function);
  NamedCall call{row->operation, RenamedArguments(*row).crescent_arguments(tensorflow.arguments)};
  if (row->adapt) row->adapt(call);
  return call;
}

}  // namespace crescent::keras
