// Checks of metrics and callbacks, and the model that they are tried with.
#include "check/checked_layer.h"
#include "check/classes.h"
#include "host/temporary_folder.h"

namespace crescent::check {
namespace {

const Dict kDenseOptions{{"units", 2},
                         {"input_shape", List{3}},
                         {"kernel_initializer", "ones"},
                         {"name", "checked"}};  // some formats store weights under names of layers

}  // namespace

ModelPtr small_model(const Dict& compile_options) {
  const ModelPtr model = Sequential::make({make<Layer>("Dense", kDenseOptions)});
  Dict options{{"optimizer", "sgd"}, {"loss", "mse"}};
  for (const DictEntry& option : compile_options) options.set(option.key, option.value);
  model->compile(options);
  return model;
}

void train(Model& model, const Dict& fit_options, const Tensor& targets) {
  const SeedGenerator random(3);
  Dict options{{"epochs", 3}, {"batch_size", 4}, {"verbose", 0}, {"shuffle", false}};
  for (const DictEntry& option : fit_options) options.set(option.key, option.value);
  const Tensor x = random.normal({8, 3}), y = random.normal({8, 2});
  model.fit({x}, {targets ? targets : y}, options);
}

Tensor usual_targets(bool are_class_numbers, int64_t rows, int64_t classes) {
  const SeedGenerator random(7);
  return are_class_numbers
             ? ops::cast(random.uniform({rows}, 0, static_cast<double>(classes)), DType::int32)
             : ops::round(random.uniform({rows, classes}));
}

Tensor accepted_targets(const std::function<void(const Tensor&)>& f, int64_t rows,
                        int64_t classes) {
  std::string message;
  for (const bool are_class_numbers : {false, true}) try {
      const Tensor targets = usual_targets(are_class_numbers, rows, classes);
      f(targets);
      return targets;
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& error) {
      if (is_of_exception(error)) throw;
      message = error.what();
    }
  skip("which targets it wants is not known; of values and of numbers of classes it said: ",
       message);
}

std::string check_configuration(const CheckedClass& checked) {
  const auto object = make_object(checked.kind, checked.name, checked.options);
  const Dict config = object->get_config();
  for (const DictEntry& option : checked.options)
    expect(config.contains(option.key), "get_config has no '", option.key, "', which was given");
  const auto remade_object =
      make_object(checked.kind, checked.name, parse_json(to_json(config)).as_dict());
  expect(to_json(remade_object->get_config()) == to_json(config),
         "an object made of get_config has ", to_json(remade_object->get_config()), ", expected ",
         to_json(config));
  return config.empty() ? "it has no options" : to_json(config);
}

void add_metric_rows(CheckReport& report, const CheckedClass& checked) {
  const Tensor predictions = SeedGenerator(5).uniform({6, 3});
  Tensor true_values;
  add_result(report, "targets", [&] {
    true_values = accepted_targets(
        [&](const Tensor& targets) {
          checked.make<Metric>()->update_state(targets, predictions, {});
        },
        6, 3);
    return to_text(true_values.spec());
  });
  if (!true_values) return;
  const auto metric_after = [&](int times) {
    const auto metric = checked.make<Metric>();
    for (int i = 0; i < times; ++i) metric->update_state(true_values, predictions, {});
    return metric;
  };
  add_result(report, "result", [&] {
    const Tensor result = metric_after(2)->result();
    expect(result && result.rank() <= 1, "result() is ",
           result ? to_text(result.spec()) : "no tensor", ", expected a scalar or a list of them");
    return to_text(result);
  });
  add_result(report, "reset", [&] {
    const auto metric = checked.make<Metric>();
    metric->update_state(true_values, ops::flip(predictions, {-1}) * 0.5, {});
    metric->reset_state();
    const auto new_metric = checked.make<Metric>();
    const Variables metric_variables = metric->variables(), new_variables = new_metric->variables();
    for (size_t i = 0; i < std::min(metric_variables.size(), new_variables.size()); ++i)
      expect_near({metric_variables[i].value()}, {new_variables[i].value()}, 0,
                  concat("variable '", new_variables[i].path(),
                         "' after reset_state, beside a new metric"));
    metric->update_state(true_values, predictions, {});
    expect_near({metric->result()}, {metric_after(1)->result()}, 1e-6,
                "after reset_state, beside a new metric");
    return std::string("after reset_state it is as a new one");
  });
  add_result(report, "in a model", [&] {
    const bool are_class_numbers = true_values.rank() == 1;
    const char* loss_name = are_class_numbers ? "sparse_categorical_crossentropy" : "mse";
    const auto model =
        small_model({{"loss", loss_name}, {"metrics", List{Value(checked.make<Metric>())}}});
    train(*model, {}, usual_targets(are_class_numbers, 8, 2));
    return std::string("it is measured in training");
  });
}

void add_callback_rows(CheckReport& report, const CheckedClass& checked) {
  add_result(report, "in a run", [&] {
    const TemporaryFolder folder;  // for the files that callbacks write
    const auto model = small_model({});
    train(*model, {{"callbacks", List{Value(checked.make<Callback>())}}});
    return std::string("a run of three epochs comes to its end");
  });
}

}  // namespace crescent::check
