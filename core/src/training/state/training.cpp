// Turns the arguments of compile into losses and metrics per output.
#include "training/state/training.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"

namespace crescent {
namespace {

bool is_object_config(const Value& value) {
  return value.is_dict() && value.as_dict().contains("class_name");
}
bool is_by_output(const Value& value) { return value.is_dict() && !is_object_config(value); }

[[noreturn]] void fail_unknown_keys(const char* option_name, const Dict& dict,
                                    const std::vector<std::string>& names) {
  std::vector<std::string> unknown_keys, quoted_names;
  for (const std::string& key : dict.keys())
    if (std::find(names.begin(), names.end(), key) == names.end())
      unknown_keys.push_back("'" + key + "'");
  for (const std::string& name : names) quoted_names.push_back("'" + name + "'");
  fail("Unknown entries in ", option_name, " dictionary: [", join(unknown_keys),
       "]. Only expected following keys: [", join(quoted_names), "]");
}

/// Converts a dict by output name to one value per output; null for outputs without an entry.
std::vector<Value> values_by_output(const char* option_name, const Dict& dict,
                                    const std::vector<std::string>& names) {
  for (const std::string& key : dict.keys())
    if (std::find(names.begin(), names.end(), key) == names.end())
      fail_unknown_keys(option_name, dict, names);
  std::vector<Value> values;
  for (const std::string& name : names) {
    const Value* value = dict.find(name);
    values.push_back(value ? *value : Value());
  }
  return values;
}

[[noreturn]] void fail_nested(const char* option_name, const Value& option,
                              const Value& structure) {
  fail(option_name, ": expected one value, or values nested as the outputs are, ",
       structure_text(structure), ", got ", option);
}

/// Appends the value of each output to `values`. `option` is nested like the outputs. A single
/// value in place of nested values applies to all outputs there.
void append_by_output(const char* option_name, const Value& option, const Value& structure,
                      std::vector<Value>& values) {
  const size_t count = tensor_count(structure);
  const bool is_nested = option.is_list() || is_by_output(option);
  if (structure.is_bool()) return values.push_back(option);
  if (!is_nested) {
    values.resize(values.size() + count, option);
  } else if (option.is_list()) {
    const List& items = option.as_list();
    if (structure.is_list() && items.size() == structure.as_list().size())
      for (size_t i = 0; i < items.size(); ++i)
        append_by_output(option_name, items[i], structure.as_list()[i], values);
    else if (items.size() == count)
      values.insert(values.end(), items.begin(), items.end());
    else
      fail_nested(option_name, option, structure);
  } else if (structure.is_dict()) {
    std::vector<std::string> names = structure.as_dict().keys();
    std::sort(names.begin(), names.end());
    values_by_output(option_name, option.as_dict(), names);
    for (const std::string& name : names) {
      const Value* option_of_output = option.as_dict().find(name);
      append_by_output(option_name, option_of_output ? *option_of_output : Value(),
                       structure.as_dict().at(name), values);
    }
  } else {
    fail_nested(option_name, option, structure);
  }
}

std::vector<Value> listed_losses(const Value& loss, const Value& structure,
                                 const std::vector<std::string>& names) {
  if (is_deep(structure)) {
    std::vector<Value> values;
    append_by_output("loss", loss, structure, values);
    return values;
  }
  if (is_by_output(loss)) {
    std::vector<Value> values = values_by_output("loss", loss.as_dict(), names);
    for (size_t i = 0; i < names.size(); ++i)
      if (values[i].is_null())
        warn("Output \"", names[i],
             "\" missing from loss dictionary. We assume this was done on purpose.");
    return values;
  }
  if (loss.is_list()) {
    if (loss.as_list().size() != names.size())
      fail(
          "When passing a list as loss, it should have one entry per model outputs. The model has ",
          names.size(), " outputs, but you passed loss=", loss);
    return loss.as_list();
  }
  return std::vector<Value>(names.size(), loss);
}

/// Returns the loss of each output. A list with one loss is replaced by the loss.
std::vector<Value> loss_values(const Value& loss, const Value& structure,
                               const std::vector<std::string>& names) {
  std::vector<Value> losses = listed_losses(loss, structure, names);
  for (Value& loss_value : losses)
    while (loss_value.is_list() && loss_value.as_list().size() == 1)
      loss_value = Value(loss_value.as_list().front());
  return losses;
}

std::vector<double> loss_weights(const Value& weights, const Value& structure,
                                 const std::vector<std::string>& names) {
  std::vector<double> result(names.size(), 1.0);
  if (weights.is_null()) return result;
  std::vector<Value> values;
  if (is_deep(structure))
    append_by_output("loss_weights", weights, structure, values);
  else if (weights.is_dict())
    values = values_by_output("loss_weights", weights.as_dict(), names);
  else if (weights.is_list())
    values = weights.as_list();
  else if (weights.is_number() && names.size() == 1)
    values = {weights};
  else
    fail("Could not interpret loss_weights argument: ", weights, " - expected a list of dicts.");
  if (values.size() != names.size())
    fail(
        "When passing a list as loss_weights, it should have one entry per model output. The model "
        "has ",
        names.size(), " outputs, but you passed loss_weights=", weights);
  for (size_t i = 0; i < values.size(); ++i)
    if (!values[i].is_null()) result[i] = values[i].as_float();
  return result;
}

List as_list(const Value& value) {
  return value.is_null() ? List() : value.is_list() ? value.as_list() : List{value};
}

bool holds_lists(const Value& metrics) {
  if (!metrics.is_list()) return false;
  const List& metric_list = metrics.as_list();
  return std::any_of(metric_list.begin(), metric_list.end(), [](const Value& item) {
    return item.is_list() || item.is_null() || is_by_output(item);
  });
}

/// Returns the metrics of each output. If the model has several outputs, a list with one entry per
/// output gives the metrics of each output, as in Keras 3; any other list of metrics applies to
/// every output, as in Keras 2.
std::vector<List> metric_values(const char* option_name, const Value& metrics,
                                const Value& structure, const std::vector<std::string>& names) {
  std::vector<List> lists;
  if (is_deep(structure) && (is_by_output(metrics) || holds_lists(metrics))) {
    std::vector<Value> values;
    append_by_output(option_name, metrics, structure, values);
    for (const Value& value : values) lists.push_back(as_list(value));
    return lists;
  }
  if (is_by_output(metrics)) {
    for (const Value& value : values_by_output(option_name, metrics.as_dict(), names))
      lists.push_back(as_list(value));
    return lists;
  }
  const List metric_list = as_list(metrics);
  const bool is_nested = holds_lists(metric_list);
  if (!is_nested && (names.size() == 1 || metric_list.size() != names.size()))
    return std::vector<List>(names.size(), metric_list);
  if (metric_list.size() != names.size())
    fail("When passing a list of lists as `", option_name,
         "`, it should have one entry per model output. The model has ", names.size(),
         " outputs, but you passed ", option_name, "=", metrics);
  for (const Value& value : metric_list) lists.push_back(as_list(value));
  return lists;
}

/// Names such as "accuracy" that stand for several metrics; the loss and the width of the output
/// select one of them.
struct MetricFamily {
  std::vector<std::string> names;
  const char *binary_metric, *sparse_metric, *metric_by_shapes;
};
const MetricFamily kMetricFamilies[] = {
    {{"accuracy", "acc"}, "binary_accuracy", "sparse_categorical_accuracy", "fitting_accuracy"},
    {{"crossentropy", "ce"},
     "binary_crossentropy",
     "sparse_categorical_crossentropy",
     "crossentropy"},
};

const char* metric_name_of_family(const MetricFamily& family, const Loss* loss, int64_t width) {
  if (width == 1) return family.binary_metric;
  return loss && loss->sparse_targets() ? family.sparse_metric : family.metric_by_shapes;
}

/// Makes a metric object for an output. If `value` is a text, it becomes the name of the metric,
/// without the package of a registered function ("acme>"). If it is an object that `used_metrics`
/// contains, it is copied, because the metrics of each output need their own state.
MetricPtr make_metric(const Value& value, const Loss* loss, int64_t width,
                      std::set<const Metric*>& used_metrics) {
  if (!value.is_string()) {
    const MetricPtr metric = get<Metric>(value);
    return used_metrics.insert(metric.get()).second ? metric : get<Metric>(serialize(metric.get()));
  }
  const std::string& name = value.as_string();
  const char* class_or_function_name = name.c_str();
  for (const MetricFamily& family : kMetricFamilies)
    if (std::find(family.names.begin(), family.names.end(), lower_case(name)) != family.names.end())
      class_or_function_name = metric_name_of_family(family, loss, width);
  const bool is_only_loss = !registry().find(Metric::kKind, class_or_function_name) &&
                            registry().find(Loss::kKind, class_or_function_name);
  MetricPtr metric = is_only_loss
                         ? make<Metric>("MeanMetricWrapper", {{"fn", class_or_function_name}})
                         : get<Metric>(Value(class_or_function_name));
  metric->set_name(name.substr(name.rfind('>') + 1));
  return metric;
}

}  // namespace

Batch StepLayout::batch_of(const Tensors& flat_tensors) const {
  const auto targets = flat_tensors.begin() + static_cast<std::ptrdiff_t>(x_count);
  auto weights = targets + static_cast<std::ptrdiff_t>(y_count);
  Batch batch{Tensors(flat_tensors.begin(), targets), Tensors(targets, weights), {}};
  for (const bool has_weights : is_weighted)
    batch.sample_weight.push_back(has_weights ? *weights++ : Tensor());
  return batch;
}

void StepCache::forget() {
  train_layouts.clear(), test_layouts.clear();
  predict_function = results_function = Function();
  is_planned = false;
}

std::string metric_name(const Metric& metric) {
  return metric.name().empty() ? to_snake_case(metric.class_name()) : metric.name();
}

OutputKeys output_keys(const std::vector<std::string>& names, const Value& structure,
                       const std::vector<Shape>& shapes) {
  OutputKeys keys{structure, {}};
  for (size_t i = 0; i < names.size(); ++i)
    keys.outputs.push_back({names[i], "", shapes[i].rank() > 0 ? shapes[i][-1] : 1});
  return keys;
}

OutputKeys output_keys(const Model& graph) {
  const std::vector<Symbol> outputs = graph.outputs();
  std::vector<Shape> shapes;
  for (const Symbol& s : outputs) shapes.push_back(s.shape());
  const Value structure = graph.structures().outputs;
  OutputKeys keys = output_keys(names_in_data(structure, graph.output_names()), structure, shapes);
  for (size_t i = 0; i < outputs.size(); ++i)
    keys.outputs[i].layer_name = outputs[i].layer()->name();
  return keys;
}

namespace {

/// Returns the loss option if it is a text, otherwise the name of the loss or of its class.
std::string loss_name(const Value& loss_option, const Loss& loss) {
  if (loss_option.is_string()) return loss_option.as_string();
  return loss.name().empty() ? to_snake_case(loss.class_name()) : loss.name();
}

/// The names of the outputs in logs. The name of a nested output is the path of keys and positions
/// that leads to it, such as "a/0"; a position at the end of the path is replaced by the name of
/// the layer, or of the loss if the layer is unknown.
std::vector<std::string> log_names(const OutputKeys& keys, const std::vector<Value>& losses) {
  const auto layer_or_loss_name = [&](size_t i) {
    const std::string& layer_name = keys.outputs[i].layer_name;
    const auto loss = layer_name.empty() ? get<Loss>(losses[i]) : nullptr;
    return loss ? loss_name(losses[i], *loss) : layer_name;
  };
  std::vector<std::string> names;
  if (keys.structure.is_null()) {
    for (size_t i = 0; i < keys.outputs.size(); ++i) names.push_back(layer_or_loss_name(i));
    return names;
  }
  for (const List& path : paths_of(keys.structure)) {
    std::vector<std::string> path_texts;
    for (const Value& path_item : path)
      path_texts.push_back(path_item.is_string() ? path_item.as_string()
                                                 : std::to_string(path_item.as_int()));
    if (path.empty() || !path.back().is_string()) {
      if (!path_texts.empty()) path_texts.pop_back();
      path_texts.push_back(layer_or_loss_name(names.size()));
    }
    names.push_back(join(path_texts, "/"));
  }
  return names;
}

}  // namespace

std::vector<OutputTraining> plan_outputs(const CompileOptions& options, const OutputKeys& keys) {
  std::vector<std::string> names;
  for (const OutputKey& output : keys.outputs) names.push_back(output.name);
  const Value& structure = keys.structure;
  const std::vector<Value> losses = loss_values(options.loss, structure, names);
  const std::vector<double> weights = loss_weights(options.loss_weights, structure, names);
  const std::vector<List> metrics = metric_values("metrics", options.metrics, structure, names);
  const std::vector<List> weighted_metrics =
      metric_values("weighted_metrics", options.weighted_metrics, structure, names);
  const std::vector<std::string> names_in_logs = log_names(keys, losses);
  std::set<const Metric*> used_metrics;
  const auto loss_count = std::count_if(losses.begin(), losses.end(),
                                        [](const Value& loss) { return !loss.is_null(); });
  std::vector<OutputTraining> outputs(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    OutputTraining& output = outputs[i];
    output.name = names[i];
    output.loss_name = names_in_logs[i];
    output.metric_prefix = keys_of(structure).empty() ? keys.outputs[i].layer_name : names[i];
    output.loss = get<Loss>(losses[i]);
    output.weight = weights[i];
    if (loss_count > 1 && output.loss)
      output.loss_mean = make<Metric>("Mean", {{"name", names_in_logs[i] + "_loss"}});
    const int64_t width = keys.outputs[i].width;
    for (const Value& value : metrics[i])
      if (!value.is_null())
        output.metrics.push_back(make_metric(value, output.loss.get(), width, used_metrics));
    for (const Value& value : weighted_metrics[i])
      if (!value.is_null())
        output.weighted_metrics.push_back(
            make_metric(value, output.loss.get(), width, used_metrics));
  }
  return outputs;
}

std::vector<MetricPtr> metrics_of_any_output(const CompileOptions& options) {
  constexpr int64_t kNotOneNumber = -1;  // any width except 1
  std::vector<MetricPtr> metrics;
  std::set<const Metric*> used_metrics;
  for (const Value& metric_list : {options.metrics, options.weighted_metrics}) {
    if (is_by_output(metric_list) || holds_lists(metric_list)) continue;
    for (const Value& value : as_list(metric_list))
      metrics.push_back(make_metric(value, nullptr, kNotOneNumber, used_metrics));
  }
  return metrics;
}

std::vector<std::pair<std::string, MetricPtr>> named_metrics(const Model& model) {
  const ModelAccess::Training& state = ModelAccess::training(model);
  std::vector<std::pair<std::string, MetricPtr>> result;
  std::unordered_set<const Metric*> listed_metrics;
  std::unordered_set<std::string> used_names;
  std::unordered_map<std::string, int> name_counts;
  auto add = [&](const std::string& name, const MetricPtr& metric) {
    if (!listed_metrics.insert(metric.get()).second) return;
    std::string unique_name_of_metric = name;
    while (!used_names.insert(unique_name_of_metric).second)
      unique_name_of_metric = concat(name, "_", ++name_counts[name]);
    result.emplace_back(unique_name_of_metric, metric);
  };
  if (state.spec.loss) add("loss", state.spec.loss);
  const bool has_several_outputs = state.plan.outputs.size() > 1;
  // If several outputs have the same name, the logs contain only the loss of the last one.
  for (const OutputTraining& output : state.plan.outputs)
    if (output.loss_mean) result.emplace_back(output.loss_name + "_loss", output.loss_mean);
  for (const OutputTraining& output : state.plan.outputs) {
    const std::string prefix =
        has_several_outputs && !output.metric_prefix.empty() ? output.metric_prefix + "_" : "";
    for (const MetricPtr& metric : output.metrics) add(prefix + metric_name(*metric), metric);
  }
  for (const OutputTraining& output : state.plan.outputs) {
    const std::string prefix =
        has_several_outputs && !output.metric_prefix.empty() ? output.metric_prefix + "_" : "";
    for (const MetricPtr& metric : output.weighted_metrics) {
      const std::string name = metric_name(*metric), usual_name = prefix + name;
      add(used_names.contains(usual_name) ? prefix + "weighted_" + name : usual_name, metric);
    }
  }
  for (Layer* layer : const_cast<Model&>(model).flatten_layers())
    for (const MetricPtr& metric : layer->metrics()) add(metric_name(*metric), metric);
  return result;
}

}  // namespace crescent
