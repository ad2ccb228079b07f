#include "keras/configs/training_config_out.h"

#include <algorithm>

#include "crescent/layer/training.h"
#include "keras/configs/config_out.h"
#include "keras/configs/config_out_keras3.h"
#include "keras/vocabulary/code_names.h"
#include "keras/vocabulary/keras2_vocabulary.h"
#include "keras/vocabulary/objects.h"

namespace crescent::keras {
namespace {

/// A function of Keras 2.3.1 whose name is not the class name in snake case.
struct Keras2Function {
  const char *class_name, *name;
};
constexpr Keras2Function kKeras2Functions[] = {{"Huber", "huber_loss"},
                                               {"LogCosh", "logcosh"},
                                               {"LogCoshError", "logcosh"},
                                               {"KLDivergence", "kullback_leibler_divergence"}};

/// Names that stand for several metrics: Keras chooses the actual metric by the shape of the
/// output.
constexpr const char* kMetricsByOutputShape[] = {"accuracy", "acc", "crossentropy", "ce"};

bool depends_on_output_shape(const std::string& name) {
  return std::count(std::begin(kMetricsByOutputShape), std::end(kMetricsByOutputShape), name) > 0;
}

bool is_only_class(const std::string& kind, const std::string& class_name,
                   const std::string& target_generation) {
  return target_generation == "keras2" && kind == "metric" && keras2_has_no_function(class_name);
}

std::string function_of(const std::string& class_name, const std::string& target_generation) {
  for (const Keras2Function& row : kKeras2Functions)
    if (target_generation == "keras2" && class_name == row.class_name) return row.name;
  return to_snake_case(class_name);
}

/// Replaces a short name such as "mse" by "mean_squared_error": Keras 3 accepts short names in
/// compile(), but not in a file.
Value full_name(const std::string& kind, const std::string& name,
                const std::string& target_generation) {
  const auto info = registry().find(kind, name);
  if (!info || is_foreign(*info) || depends_on_output_shape(name)) return name;
  if (!is_only_class(kind, info->name, target_generation))
    return function_of(info->name, target_generation);
  return Dict{{"class_name", info->name}, {"config", Dict()}};
}

/// Writes an object in the training_config of Keras 3: its class name includes the package and it
/// has no module, but objects inside it have modules. A function is written as its name.
Value object_out(const Value& object, const std::string& kind,
                 const std::string& target_generation) {
  if (is_object(object) && is_own_function(kind, class_of(object))) return class_of(object);
  Value written_object = keras_value(object, kind, target_generation);
  if (!is_object(written_object)) return written_object;
  if (const std::string* registered = text_at(written_object.as_dict(), "registered_name");
      registered && !is_unexported_in_keras3(class_of(written_object)))
    written_object.as_dict().set("class_name", Value(*registered));
  for (const char* key : {"module", "registered_name"}) written_object.as_dict().erase(key);
  return written_object;
}

/// Converts losses or metrics: a single one, or a nested structure with one or several per output.
Value losses_or_metrics(const Value& value, const std::string& kind,
                        const std::string& target_generation) {
  if (value.is_string()) return full_name(kind, value.as_string(), target_generation);
  if (value.is_list()) {
    List items;
    for (const Value& item : value.as_list())
      items.push_back(losses_or_metrics(item, kind, target_generation));
    return items;
  }
  if (const auto metric_name = metric_chosen_by_keras2(value);
      metric_name && target_generation == "keras2")
    return *metric_name;
  if (!value.is_dict() || is_object(value)) return object_out(value, kind, target_generation);
  Dict result;
  for (const DictEntry& entry : value.as_dict())
    result.set(entry.key, losses_or_metrics(entry.value, kind, target_generation));
  return result;
}

/// Converts a schedule to the option `decay`, the only schedule of Keras 2.3.1: rate / (1 + decay *
/// steps).
void schedule_to_decay(Dict& config) {
  const Value* rate = config.find("learning_rate");
  if (!rate || !is_object(*rate)) return;
  const Dict schedule = config_of(rate->as_dict());
  config.set("decay", schedule.at("decay_rate"));
  config.set("learning_rate", Value(schedule.at("initial_learning_rate")));
}

Value optimizer_out(const Value& optimizer, const std::string& target_generation) {
  Value written_object = object_out(optimizer, "optimizer", target_generation);
  if (!is_object(written_object)) return written_object;
  Dict& config = written_object.as_dict()["config"].as_dict();
  if (const std::string* name = text_at(config, "name");
      name && (name->empty() || target_generation == "keras2"))
    config.erase("name");
  if (target_generation != "keras2") return written_object;
  schedule_to_decay(config);
  if (const Value* norm = config.find("global_clipnorm")) {
    config.set("clipnorm", Value(*norm));
    config.erase("global_clipnorm");
  }
  return written_object;
}

}  // namespace

std::optional<std::string> metric_chosen_by_keras2(const Value& metric) {
  if (!is_object(metric) || class_of(metric) != "BinaryAccuracy") return {};
  const Dict config = config_of(metric.as_dict());
  const std::string* name = text_at(config, "name");
  const Value* threshold = config.find("threshold");
  const bool is_default = !threshold || *threshold == Value(0.5);
  if (!name || !is_default || (*name != "accuracy" && *name != "acc")) return {};
  return *name;
}

bool keras2_has_no_function(const std::string& metric) {
  return !registry().find("loss", metric) && !metric.ends_with("Accuracy") &&
         metric != "LogCoshError";
}

Value keras_training_config(const Value& compile, const std::string& target_generation) {
  const std::vector<std::string> code_names = names_of_code(compile);
  if (std::count(code_names.begin(), code_names.end(), "function") > 0) return {};
  const Dict& arguments = compile.as_dict();
  auto argument = [&](const char* name) {
    const Value* value = arguments.find(name);
    return value ? *value : Value();
  };
  return Dict{{"optimizer_config", optimizer_out(argument("optimizer"), target_generation)},
              {"loss", losses_or_metrics(argument("loss"), "loss", target_generation)},
              {"metrics", losses_or_metrics(argument("metrics"), "metric", target_generation)},
              {"weighted_metrics",
               losses_or_metrics(argument("weighted_metrics"), "metric", target_generation)},
              {"sample_weight_mode", Value()},
              {"loss_weights", argument("loss_weights")}};
}

namespace {

/// Adds the module to every object and function of this kind in `value`, which may be a nested
/// structure by output.
Value with_modules(const Value& value, const std::string& kind) {
  if (is_object(value)) return with_module(kind, value.as_dict());
  if (value.is_string() && !depends_on_output_shape(value.as_string()) &&
      is_own_function(kind, value.as_string()))
    return function_object(value.as_string());
  if (value.is_list()) {
    List items;
    for (const Value& item : value.as_list()) items.push_back(with_modules(item, kind));
    return items;
  }
  if (!value.is_dict()) return value;
  Dict result;
  for (const DictEntry& entry : value.as_dict())
    result.set(entry.key, with_modules(entry.value, kind));
  return result;
}

/// Short names of metrics that Keras 3 shows exactly as the user gave them.
constexpr const char* kShownShortNames[] = {"mae",  "MAE",  "mse",  "MSE", "mape",
                                            "MAPE", "msle", "MSLE", "bce", "BCE"};

/// Replaces metrics in `written_metrics` by the short names in `user_metrics`, the argument of the
/// user: in archives Keras 3 can read short names.
Value with_short_names(const Value& written_metrics, const Value& user_metrics) {
  if (user_metrics.is_string())
    return std::count(std::begin(kShownShortNames), std::end(kShownShortNames),
                      user_metrics.as_string()) > 0
               ? user_metrics
               : written_metrics;
  if (user_metrics.is_list() && written_metrics.is_list()) {
    List items;
    for (size_t i = 0; i < written_metrics.as_list().size(); ++i)
      items.push_back(with_short_names(written_metrics.as_list()[i], user_metrics.as_list()[i]));
    return items;
  }
  if (!user_metrics.is_dict() || is_object(user_metrics) || !written_metrics.is_dict())
    return written_metrics;
  Dict result;
  for (const DictEntry& entry : written_metrics.as_dict())
    result.set(entry.key, with_short_names(entry.value, user_metrics.as_dict().at(entry.key)));
  return result;
}

}  // namespace

Dict keras3_compile_config(const Value& compile) {
  const Value written_config = keras_training_config(compile, "keras3");
  if (written_config.is_null()) return {};
  const Dict &training_config = written_config.as_dict(), &arguments = compile.as_dict();
  Dict result{{"optimizer", with_modules(training_config.at("optimizer_config"), "optimizer")},
              {"loss", with_modules(training_config.at("loss"), "loss")},
              {"loss_weights", training_config.at("loss_weights")}};
  for (const char* name : {"metrics", "weighted_metrics"})
    result.set(name, with_modules(with_short_names(training_config.at(name), arguments.at(name)),
                                  "metric"));
  for (const char* name : {"run_eagerly", "steps_per_execution", "jit_compile"})
    result.set(name, Value(arguments.at(name)));
  return result;
}

}  // namespace crescent::keras
