// Training in the C interface: compile, fit, single steps, evaluate, predict.
#include "arguments.h"
#include "crescent/base/strict_json.h"
#include "crescent/model/callback.h"
#include "errors.h"

namespace crescent::c {
namespace {

/// The content of crescent_data as C++ tensors.
struct Samples {
  Tensors x, y;
  Tensor weight;
};

Samples samples_of(const crescent_data* given, const char* name) {
  const crescent_data data = read_struct(given, name);
  Samples samples{tensors_of(data.x, data.x_count, "x"), tensors_of(data.y, data.y_count, "y"), {}};
  if (data.sample_weight) samples.weight = tensor_of(data.sample_weight, "sample_weight");
  return samples;
}

Tensors weights_of(const Samples& samples) {
  return samples.weight ? Tensors{samples.weight} : Tensors{};
}

Value boxed_tensor(const Tensor& tensor) {
  return tensor ? Value(std::make_shared<BoxedTensor>(tensor)) : Value();
}

/// Boxes tensors in the form that fit accepts: a single tensor, or a list if there are several.
Value boxed_tensors(const Tensors& tensors) {
  if (tensors.size() == 1) return boxed_tensor(tensors.front());
  List list;
  for (const Tensor& tensor : tensors) list.push_back(boxed_tensor(tensor));
  return list;
}

void write_values(ModelObject& object, const NamedValues& results, crescent_value* values,
                  size_t* count) {
  if (!count) return;
  const size_t capacity = values ? *count : 0;
  for (size_t i = 0; i < std::min(capacity, results.size()); ++i)
    values[i] = {object.keep(results[i].first), results[i].second};
  *count = results.size();
}

/// Calls the functions of the crescent_progress that the caller gave to crescent_model_fit().
class ProgressCallback final : public Callback {
 public:
  explicit ProgressCallback(const crescent_progress& progress) : progress_(progress) {}
  static void describe(Schema<ProgressCallback>& s) { s.doc("Functions of a caller in C."); }
  void on_train_batch_end(int64_t batch, const Logs& logs) override {
    if (progress_.batch_end) pass(progress_.batch_end, batch, logs);
  }
  void on_epoch_end(int64_t epoch, Logs& logs) override {
    if (progress_.epoch_end) pass(progress_.epoch_end, epoch, logs);
  }

 private:
  template <class Function>
  void pass(Function function, int64_t number, const Logs& logs) {
    std::vector<crescent_value> values;
    for (const auto& [name, value] : logs.values()) values.push_back({name.c_str(), value});
    if (function(progress_.user, number, values.data(), values.size()) != 0)
      model_->stop_training = true;
  }

  crescent_progress progress_;
};

void add_callback(Dict& options, const CallbackPtr& callback) {
  Value& callbacks = options["callbacks"];
  if (callbacks.is_null()) callbacks = List{};
  if (!callbacks.is_list()) callbacks = List{callbacks};
  callbacks.as_list().push_back(Value(callback));
}

/// Adds verbose = 0 to the options unless they contain verbose.
Dict with_default_verbose(Dict options) {
  if (!options.contains("verbose")) options.set("verbose", 0);
  return options;
}

Dict fit_options(const char* json, const Samples& samples, const crescent_data* validation,
                 const crescent_progress* progress) {
  Dict options = with_default_verbose(options_of(json));
  if (samples.weight) options.set("sample_weight", boxed_tensor(samples.weight));
  if (validation) {
    const Samples validation_samples = samples_of(validation, "validation");
    List list{boxed_tensors(validation_samples.x), boxed_tensors(validation_samples.y)};
    if (validation_samples.weight) list.push_back(boxed_tensor(validation_samples.weight));
    options.set("validation_data", std::move(list));
  }
  if (progress)
    add_callback(options, std::make_shared<ProgressCallback>(read_struct(progress, "progress")));
  return options;
}

/// Runs a method of the model on one batch and writes the loss and metrics that it returns to
/// `values`.
void run_on_batch(const crescent_model* model, const crescent_data* batch, crescent_value* values,
                  size_t* count, NamedValues (*run)(Model& model, const Samples& samples)) {
  const auto object = object_of(model);
  write_values(*object, run(*object->model, samples_of(batch, "batch")), values, count);
}

std::string history_json(const History& history) {
  Dict result;
  for (const auto& [name, values] : history.history()) result.set(name, Value(values));
  return to_strict_json(result);
}

}  // namespace
}  // namespace crescent::c

using namespace crescent;
using namespace crescent::c;

crescent_error* crescent_model_predict(const crescent_model* model,
                                       const crescent_tensor* const* inputs, size_t input_count,
                                       const char* options, crescent_tensor** outputs,
                                       size_t* count) {
  return guarded(__func__, [&] {
    const ModelPtr shared_model = model_of(model);
    require(count, "count");
    const Tensors input_tensors = tensors_of(inputs, input_count, "inputs");
    write_tensors(shared_model->predict(input_tensors, with_default_verbose(options_of(options))),
                  outputs, count);
  });
}

crescent_error* crescent_model_compile(crescent_model* model, const char* options) {
  return guarded(__func__, [&] {
    const ModelPtr shared_model = model_of(model);
    const StepLock lock(*shared_model);
    shared_model->compile(options_of(options));
  });
}

crescent_error* crescent_model_fit(crescent_model* model, const crescent_data* data,
                                   const crescent_data* validation, const char* options,
                                   const crescent_progress* progress, char** history) {
  return guarded(__func__, [&] {
    const ModelPtr shared_model = model_of(model);
    const Samples samples = samples_of(data, "data");
    const auto record = shared_model->fit(samples.x, samples.y,
                                          fit_options(options, samples, validation, progress));
    if (history) *history = new_text(history_json(*record));
  });
}

crescent_error* crescent_model_train_on_batch(crescent_model* model, const crescent_data* batch,
                                              crescent_value* values, size_t* count) {
  return guarded(__func__, [&] {
    run_on_batch(model, batch, values, count, [](Model& locked_model, const Samples& samples) {
      return locked_model.train_on_batch(samples.x, samples.y, weights_of(samples));
    });
  });
}

crescent_error* crescent_model_test_on_batch(crescent_model* model, const crescent_data* batch,
                                             crescent_value* values, size_t* count) {
  return guarded(__func__, [&] {
    run_on_batch(model, batch, values, count, [](Model& locked_model, const Samples& samples) {
      return locked_model.test_on_batch(samples.x, samples.y, weights_of(samples));
    });
  });
}

crescent_error* crescent_model_evaluate(crescent_model* model, const crescent_data* data,
                                        const char* options, crescent_value* values,
                                        size_t* count) {
  return guarded(__func__, [&] {
    const auto object = object_of(model);
    const Samples samples = samples_of(data, "data");
    Dict evaluate_options = with_default_verbose(options_of(options));
    if (samples.weight) evaluate_options.set("sample_weight", boxed_tensor(samples.weight));
    write_values(*object, object->model->evaluate(samples.x, samples.y, evaluate_options), values,
                 count);
  });
}
