#include "keras/keras1/configurations.h"

#include <algorithm>
#include <map>

#include "crescent/base/mapped.h"
#include "keras/vocabulary/objects.h"

namespace crescent::keras {
namespace {

// ---- tables of the differences between Keras 1 and Keras 2

struct NewName {
  const char *keras1, *keras2;
};
constexpr NewName kRenamedClasses[] = {{"Convolution1D", "Conv1D"},
                                       {"Convolution2D", "Conv2D"},
                                       {"Convolution3D", "Conv3D"},
                                       {"AtrousConvolution1D", "Conv1D"},
                                       {"AtrousConvolution2D", "Conv2D"},
                                       {"SeparableConvolution2D", "SeparableConv2D"},
                                       {"Deconvolution2D", "Conv2DTranspose"},
                                       // in Keras 2, Dense itself is applied to each time step of a
                                       // sequence
                                       {"TimeDistributedDense", "Dense"},
                                       {"L1L2Regularizer", "L1L2"},
                                       {"WeightRegularizer", "L1L2"},
                                       {"ActivityRegularizer", "L1L2"}};

/// Classes that Keras 2 removed, and a description of what replaces them.
constexpr NewName kRemovedClasses[] = {
    {"MaxoutDense", "a Dense of units * nb_feature, a Reshape and a maximum"},
    {"Highway", "two Dense layers, a Multiply and an Add"},
    {"SReLU", "a layer of your own"},
    {"ParametricSoftplus", "a layer of your own"}};

/// Options that were renamed. The table has the entries for a certain class before those for all
/// classes, whose class_name is ""; an option that a class keeps has the same name twice.
struct NewOption {
  const char *class_name, *keras1, *keras2;
};
constexpr NewOption kRenamedOptions[] = {{"Embedding", "output_dim", "output_dim"},
                                         {"Embedding", "init", "embeddings_initializer"},
                                         {"Embedding", "W_regularizer", "embeddings_regularizer"},
                                         {"Embedding", "W_constraint", "embeddings_constraint"},
                                         {"PReLU", "init", "alpha_initializer"},
                                         {"UpSampling1D", "length", "size"},
                                         {"GaussianNoise", "sigma", "stddev"},
                                         {"MaxNorm", "m", "max_value"},
                                         {"MinMaxNorm", "low", "min_value"},
                                         {"MinMaxNorm", "high", "max_value"},
                                         {"InputLayer", "input_dtype", "dtype"},
                                         {"", "output_dim", "units"},
                                         {"", "init", "kernel_initializer"},
                                         {"", "inner_init", "recurrent_initializer"},
                                         {"", "inner_activation", "recurrent_activation"},
                                         {"", "W_regularizer", "kernel_regularizer"},
                                         {"", "U_regularizer", "recurrent_regularizer"},
                                         {"", "b_regularizer", "bias_regularizer"},
                                         {"", "W_constraint", "kernel_constraint"},
                                         {"", "b_constraint", "bias_constraint"},
                                         {"", "bias", "use_bias"},
                                         {"", "dropout_W", "dropout"},
                                         {"", "dropout_U", "recurrent_dropout"},
                                         {"", "p", "rate"},
                                         {"", "nb_filter", "filters"},
                                         {"", "filter_length", "kernel_size"},
                                         {"", "subsample_length", "strides"},
                                         {"", "subsample", "strides"},
                                         {"", "border_mode", "padding"},
                                         {"", "dim_ordering", "data_format"},
                                         {"", "atrous_rate", "dilation_rate"},
                                         {"", "pool_length", "pool_size"},
                                         {"", "stride", "strides"}};

/// Options that are dropped, because they only chose an implementation or because an InputLayer has
/// replaced them.
constexpr NewOption kDroppedOptions[] = {{"", "consume_less", ""},
                                         {"", "input_dtype", ""},
                                         {"", "input_length", ""},
                                         {"Conv2DTranspose", "output_shape", ""}};

/// The options of Keras 1 that together give the size of a window; each is the size along one axis.
constexpr const char* kSizeOptions[][3] = {{"nb_row", "nb_col"},
                                           {"kernel_dim1", "kernel_dim2", "kernel_dim3"}};

struct NewValue {
  const char *option, *keras1, *keras2;
};
constexpr NewValue kRenamedValues[] = {{"data_format", "tf", "channels_last"},
                                       {"data_format", "th", "channels_first"},
                                       {"padding", "half", "same"}};

struct MergeMode {
  const char *mode, *class_name;
};
constexpr MergeMode kMergeModes[] = {
    {"sum", "Add"}, {"mul", "Multiply"}, {"ave", "Average"},       {"max", "Maximum"},
    {"dot", "Dot"}, {"cos", "Dot"},      {"concat", "Concatenate"}};

// ---- conversion of the options of one object

bool is_among(const auto& table, const std::string& class_name, const std::string& option) {
  return std::any_of(std::begin(table), std::end(table), [&](const NewOption& row) {
    return option == row.keras1 && (!*row.class_name || class_name == row.class_name);
  });
}

std::string class_in_keras2(const std::string& name) {
  for (const NewName& row : kRenamedClasses)
    if (name == row.keras1) return row.keras2;
  return name;
}

std::string option_in_keras2(const std::string& class_name, const std::string& option) {
  for (const NewOption& row : kRenamedOptions)
    if (option == row.keras1 && (!*row.class_name || class_name == row.class_name))
      return row.keras2;
  return option;
}

/// Converts a padding, {"left_pad": 1, "right_pad": 2} or (top, bottom, left, right), to a pair of
/// numbers per axis.
Value padding_of_axes(const Value& padding) {
  const auto pair = [](const Value& a, const Value& b) { return List{a, b}; };
  if (padding.is_list() && padding.as_list().size() == 4)
    return List{pair(padding.as_list()[0], padding.as_list()[1]),
                pair(padding.as_list()[2], padding.as_list()[3])};
  if (!padding.is_dict()) return padding;
  const auto padding_of_side = [&](const char* name) {
    const Value* value = padding.as_dict().find(name);
    return value ? *value : Value(0);
  };
  const List column_padding = pair(padding_of_side("left_pad"), padding_of_side("right_pad"));
  const bool is_one_axis =
      !padding.as_dict().contains("top_pad") && !padding.as_dict().contains("bottom_pad");
  return is_one_axis ? column_padding
                     : List{pair(padding_of_side("top_pad"), padding_of_side("bottom_pad")),
                            column_padding};
}

Value value_in_keras2(const std::string& class_name, const std::string& option,
                      const Value& value) {
  if (option == "data_format" && value == Value("default")) return {};
  for (const NewValue& row : kRenamedValues)
    if (option == row.option && value == Value(row.keras1)) return row.keras2;
  if (class_name.starts_with("ZeroPadding") && option == "padding") return padding_of_axes(value);
  const std::string* name = value.is_dict() ? text_at(value.as_dict(), "name") : nullptr;
  if (name && (option.ends_with("_regularizer") || option.ends_with("_constraint"))) {
    Dict config = value.as_dict();
    config.erase("name");
    return from_keras1(Dict{{"class_name", *name}, {"config", std::move(config)}});
  }
  return value;
}

void join_sizes(Dict& config) {
  for (const auto& names : kSizeOptions) {
    List size;
    for (const char* name : names)
      if (const Value* axis_size = name ? config.find(name) : nullptr) {
        size.push_back(*axis_size);
        config.erase(name);
      }
    if (!size.empty()) config.set("kernel_size", std::move(size));
  }
}

/// Converts options of Keras 1 that need more than a new name; fails for those that no later Keras
/// has.
void convert_special_options(const std::string& class_name, Dict& config) {
  if (const Value* bias = config.find("forget_bias_init")) {
    config.set("unit_forget_bias", *bias == Value("one"));
    config.erase("forget_bias_init");
  }
  if (class_name == "SeparableConv2D" && config.contains("kernel_initializer")) {
    const Value initializer = config.at("kernel_initializer");
    for (const char* initializer_option : {"depthwise_initializer", "pointwise_initializer"})
      config.set(initializer_option, initializer);
    config.erase("kernel_initializer");
  }
  if (const Value* mode = config.find("mode"); mode && class_name == "BatchNormalization") {
    if (!(*mode == Value(0)))
      fail("BatchNormalization of Keras 1: expected mode 0, by feature with moving averages, got ",
           *mode, ", which no later Keras has");
    config.erase("mode");
  }
  if (const Value* dropout = config.find("dropout"); dropout && class_name == "Embedding") {
    if (dropout->is_number() && dropout->as_float() > 0)
      warn("Embedding of Keras 1: dropout = ", *dropout,
           " leaves out whole words in training, which is not done here; predictions are the same");
    config.erase("dropout");
  }
  if (class_name != "Embedding") config.erase("input_dim");
}

Dict options_in_keras2(const std::string& class_name, const Dict& config) {
  Dict result;
  for (const DictEntry& entry : config) {
    if (is_among(kDroppedOptions, class_name, entry.key) &&
        !is_among(kRenamedOptions, class_name, entry.key))
      continue;
    const std::string option = option_in_keras2(class_name, entry.key);
    result.set(option, value_in_keras2(class_name, option, entry.value));
  }
  join_sizes(result);
  convert_special_options(class_name, result);
  return result;
}

// ---- conversion of Merge layers

Dict merge_in_keras2(const Dict& config) {
  const std::string name = name_of_layer(Dict{{"config", config}});
  const std::string* mode = text_at(config, "mode");
  const std::string* type = text_at(config, "mode_type");
  for (const MergeMode& row : kMergeModes) {
    if (!mode || *mode != row.mode || (type && *type != "raw")) continue;
    Dict options{{"name", name}};
    if (*mode == "concat") options.set("axis", Value(config.at("concat_axis")));
    if (*mode == "dot" || *mode == "cos") options.set("axes", Value(config.at("dot_axes")));
    if (*mode == "cos") options.set("normalize", true);
    return {{"class_name", row.class_name}, {"config", std::move(options)}};
  }
  fail("Merge '", name, "': expected one of the modes sum, mul, ave, max, dot, cos, concat, got ",
       mode && (!type || *type == "raw") ? *mode : "a function",
       "; the code of a function is never loaded from a file");
}

/// Returns a layer as {"class_name", "config"}; before Keras 1.0 the options were beside
/// class_name.
Dict with_class_name(const Value& layer) {
  const Dict& options = layer.as_dict();
  if (options.contains("class_name")) return options;
  Dict config = options;
  const Value* name = options.find("custom_name");
  config.set("name", name ? *name : Value());
  return {{"class_name", options.at("name")}, {"config", std::move(config)}};
}

/// The branches of the Merge layer with which a Sequential begins; null if its first layer is of
/// another class.
const List* branches_of(const Dict& sequential) {
  const Value& layers = sequential.at("config");
  if (!layers.is_list() || layers.as_list().empty()) return nullptr;
  const Dict& first = layers.as_list().front().as_dict();
  const std::string* name = text_at(first, "class_name");
  const Value* branches = name && *name == "Merge" ? config_of(first).find("layers") : nullptr;
  return branches ? &first.at("config").as_dict().at("layers").as_list() : nullptr;
}

/// Converts a Sequential that begins with a Merge of several branches to a graph. A layer that
/// occurs in several branches becomes one layer with several calls.
class MergeGraph {
 public:
  explicit MergeGraph(const Dict& sequential) { output_ = add_sequential(sequential); }

  Dict graph() {
    List layers;
    for (const std::string& name : ordered_names_) layers.push_back(std::move(entries_.at(name)));
    return {{"layers", std::move(layers)},
            {"input_layers", std::move(inputs_)},
            {"output_layers", List{output_}}};
  }

 private:
  /// Adds a call of a layer; returns the reference of its output.
  Value call(const Dict& object, const List& inputs) {
    const std::string name = name_of_layer(object);
    const auto found = entries_.find(name);
    if (found == entries_.end()) {
      Dict entry = object;
      entry.set("name", name);
      entry.set("inbound_nodes", List{});
      entries_.emplace(name, std::move(entry));
      ordered_names_.push_back(name);
    }
    List& nodes = entries_.at(name)["inbound_nodes"].as_list();
    if (!inputs.empty()) nodes.push_back(inputs);
    return List{name, static_cast<int64_t>(nodes.empty() ? 0 : nodes.size() - 1), 0};
  }

  /// Returns the reference to the input of a branch, which the configuration of the branch's first
  /// layer describes; several branches may have the same input.
  Value input_of(const Dict& first) {
    const Dict config = config_of(first);
    Value input = call(class_of(first) == "InputLayer" ? from_keras1(first).as_dict()
                                                       : implied_input(first, config),
                       {});
    if (std::find(inputs_.begin(), inputs_.end(), input) == inputs_.end()) inputs_.push_back(input);
    return input;
  }

  static Dict implied_input(const Dict& first, const Dict& config) {
    const Value *shape = config.find("batch_input_shape"), *dtype = config.find("input_dtype");
    if (!shape)
      fail("layer '", name_of_layer(first),
           "': expected the first layer of a branch of a Merge to have batch_input_shape");
    return {{"class_name", "InputLayer"},
            {"config", Dict{{"name", name_of_layer(first) + "_input"},
                            {"batch_input_shape", *shape},
                            {"dtype", dtype ? *dtype : Value("float32")}}}};
  }

  Value add_sequential(const Dict& sequential) {
    if (class_of(sequential) != "Sequential" || !sequential.at("config").is_list())
      fail("a Merge of Keras 1 in a Sequential: expected branches that are Sequential models, got ",
           class_of(sequential));
    const List& layers = sequential.at("config").as_list();
    if (layers.empty()) fail("a Merge of Keras 1: a branch without layers");
    const Dict first = with_class_name(layers.front());
    Value output;
    size_t converted_count = 1;
    if (const List* branches = branches_of(sequential)) {
      List branch_outputs;
      for (const Value& branch : *branches)
        branch_outputs.push_back(add_sequential(branch.as_dict()));
      output = call(merge_in_keras2(config_of(first)), branch_outputs);
    } else {
      output = input_of(first);
      if (class_of(first) != "InputLayer") converted_count = 0;
    }
    for (; converted_count < layers.size(); ++converted_count)
      output = call(from_keras1(with_class_name(layers[converted_count])).as_dict(), {output});
    return output;
  }

  std::map<std::string, Dict> entries_;
  std::vector<std::string> ordered_names_;
  List inputs_;
  Value output_;
};

// ---- conversion of models

Dict sequential_in_keras2(const Dict& object) {
  if (branches_of(object)) return {{"class_name", "Model"}, {"config", MergeGraph(object).graph()}};
  const Value& config = object.at("config");
  const bool is_plain_list = config.is_list();
  List layers;
  for (const Value& layer :
       is_plain_list ? config.as_list() : config.as_dict().at("layers").as_list())
    layers.push_back(from_keras1(with_class_name(layer)));
  if (is_plain_list) return {{"class_name", "Sequential"}, {"config", std::move(layers)}};
  Dict result = config.as_dict();
  result.set("layers", std::move(layers));
  return {{"class_name", "Sequential"}, {"config", std::move(result)}};
}

Dict graph_in_keras2(const Dict& config) {
  List layers;
  for (const Value& layer : config.at("layers").as_list()) {
    Dict entry = from_keras1(layer).as_dict();
    for (const char* key : {"name", "inbound_nodes"})
      if (const Value* value = layer.as_dict().find(key)) entry.set(key, *value);
    layers.push_back(std::move(entry));
  }
  Dict result = config;
  result.set("layers", std::move(layers));
  return result;
}

}  // namespace

Value from_keras1(const Value& value) {
  const Dict& object = value.as_dict();
  const std::string class_name = class_of(object);
  if (is_sequential(class_name)) return sequential_in_keras2(object);
  Dict config = config_of(object);
  if (is_graph(class_name, config))
    return Dict{{"class_name", class_name}, {"config", graph_in_keras2(config)}};
  if (class_name == "Merge") return merge_in_keras2(config);
  for (const NewName& row : kRemovedClasses)
    if (class_name == row.keras1 && !registry().find("layer", class_name))
      fail("Unknown layer: ", class_name, " (layer '", name_of_layer(object),
           "'). Keras 1 had it, and no later one: it does the work of ", row.keras2,
           "; register a class of this name before loading");
  if (const Value* layer = config.find("layer"); layer && is_object(*layer))
    config.set("layer", from_keras1(*layer));
  const std::string name = class_in_keras2(class_name);
  return Dict{{"class_name", name}, {"config", options_in_keras2(name, config)}};
}

bool is_keras1(const Value& model) {
  bool is_found = false;
  mapped(model, [&](const Value& object) -> std::optional<Value> {
    if (!object.is_dict()) return std::nullopt;
    for (const char* option :
         {"W_regularizer", "border_mode", "inner_init", "nb_filter", "mode_type"})
      is_found = is_found || object.as_dict().contains(option);
    return std::nullopt;
  });
  return is_found;
}

}  // namespace crescent::keras
