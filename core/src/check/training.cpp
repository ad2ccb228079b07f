// Checks of classes used in training (metrics, optimizers, callbacks), and of formats.
#include <fstream>

#include "check/checked_layer.h"
#include "check/classes.h"
#include "crescent/io/format.h"
#include "crescent/system/file.h"

namespace crescent::check {
namespace {

const Dict kDense{{"units", 2}, {"input_shape", List{3}}, {"kernel_initializer", "ones"}};

}  // namespace

ModelPtr small_model(const Dict& compile) {
  const ModelPtr model = Sequential::make({make<Layer>("Dense", kDense)});
  Dict options{{"optimizer", "sgd"}, {"loss", "mse"}};
  for (const DictEntry& option : compile) options.set(option.key, option.value);
  model->compile(options);
  return model;
}

void train(Model& model, const Dict& more) {
  const SeedGenerator random(3);
  Dict options{{"epochs", 3}, {"batch_size", 4}, {"verbose", 0}, {"shuffle", false}};
  for (const DictEntry& option : more) options.set(option.key, option.value);
  model.fit({random.normal({8, 3})}, {random.normal({8, 2})}, options);
}

std::string check_configuration(const CheckedClass& checked) {
  const auto object = make_object(checked.kind, checked.name, checked.options);
  const Dict config = object->get_config();
  for (const DictEntry& option : checked.options)
    expect(config.contains(option.key), "get_config has no '", option.key, "', which was given");
  const auto again = make_object(checked.kind, checked.name, parse_json(to_json(config)).as_dict());
  expect(to_json(again->get_config()) == to_json(config), "an object made of get_config has ",
         to_json(again->get_config()), ", expected ", to_json(config));
  return config.empty() ? "it has no options" : to_json(config);
}

void add_metric_rows(CheckReport& report, const CheckedClass& checked) {
  const SeedGenerator random(5);
  const Tensor truth = ops::round(random.uniform({6, 3})), guess = random.uniform({6, 3});
  const auto fed = [&](int times) {
    const auto metric = checked.make<Metric>();
    for (int i = 0; i < times; ++i) metric->update_state(truth, guess, {});
    return metric;
  };
  add_result(report, "result", [&] {
    const Tensor result = fed(2)->result();
    expect(result && result.rank() == 0, "result() is ",
           result ? to_text(result.spec()) : "no tensor", ", expected a scalar");
    return concat("a scalar, ", result.item());
  });
  add_result(report, "reset", [&] {
    const auto metric = fed(2);
    metric->reset_state();
    metric->update_state(truth, guess, {});
    expect_near({metric->result()}, {fed(1)->result()}, 1e-6,
                "after reset_state, beside a new metric");
    return std::string("after reset_state it is as a new one");
  });
  add_result(report, "in a model", [&] {
    const auto model = small_model({{"metrics", List{Value(checked.make<Metric>())}}});
    train(*model);
    return std::string("it is measured in training");
  });
}

void add_optimizer_rows(CheckReport& report, const CheckedClass& checked) {
  const auto trained = [&](bool eagerly) {
    const auto model =
        small_model({{"optimizer", Value(checked.make<Optimizer>())}, {"run_eagerly", eagerly}});
    train(*model);
    return model;
  };
  add_result(report, "training", [&] {
    const auto model = trained(false);
    const Tensor kernel = model->get_weights()[0];
    expect_finite(model->get_weights(), "weights after training");
    bool changed = false;
    for (const double value : kernel.to_vector()) changed = changed || value != 1;
    expect(changed, "training leaves the weights as they were");
    return std::string("weights change and stay finite");
  });
  add_result(report, "compiled", [&] {
    expect_near(trained(false)->get_weights(), trained(true)->get_weights(), 1e-5,
                "weights trained by compiled steps beside those trained op by op");
    return std::string("compiled steps train as ops do one by one");
  });
  for (const char* ending : {".keras", ".h5"})
    add_result(report, concat(ending, " file"), [&] {
      const TemporaryFile file(ending);
      const auto model = trained(false);
      save_model(*model, file.path());
      const ModelPtr loaded = load_model(file.path());
      train(*model), train(*loaded);
      expect_near(loaded->get_weights(), model->get_weights(), 1e-6,
                  "training that goes on from a file, beside that which was not interrupted");
      return std::string("training goes on from the file");
    });
}

void add_callback_rows(CheckReport& report, const CheckedClass& checked) {
  add_result(report, "in a run", [&] {
    const auto model = small_model({});
    train(*model, {{"callbacks", List{Value(checked.make<Callback>())}}});
    return std::string("a run of three epochs comes to its end");
  });
}

// ---- formats

namespace {

std::string ending_of(const std::string& name) {
  const Dict traits = registry().traits(Format::kKind, name);
  const Value* endings = traits.find("endings");
  const auto all =
      endings ? Codec<std::vector<std::string>>::decode(*endings) : std::vector<std::string>();
  if (all.empty()) skip("the format has no ending of its own");
  return all.front();
}

/// Reads truncated copies of the file, each of which must be rejected with an Error.
void expect_refused_parts(const std::string& path, const std::function<void()>& read) {
  const std::string whole = read_file(path);
  for (const size_t bytes : {whole.size() / 4, whole.size() / 2, whole.size() - 1}) {
    std::ofstream(path, std::ios::binary).write(whole.data(), static_cast<std::streamsize>(bytes));
    try {
      read();
    } catch (const Error& error) {
      expect(std::string_view(error.what()).find(path) != std::string_view::npos,
             "the error for a file that ends early does not name it: ", error.what());
      continue;
    }
    found("a file that ends after ", bytes, " of ", whole.size(), " bytes is read as if whole");
  }
}

std::string check_format_of_models(const CheckedClass& checked) {
  const TemporaryFile file(ending_of(checked.name).c_str());
  const auto model = small_model({});
  train(*model);
  save_model(*model, file.path());
  const Tensor x = SeedGenerator(3).normal({4, 3});
  expect_near(load_model(file.path())->predict({x}), model->predict({x}), 1e-6,
              "the model of the file, beside the one that was saved");
  expect_refused_parts(file.path(), [&] { load_model(file.path()); });
  return "a model comes back; files that end early are refused";
}

std::string check_format_of_weights(const CheckedClass& checked) {
  const TemporaryFile file(ending_of(checked.name).c_str());
  const auto model = small_model({}), other = small_model({});
  train(*model);
  save_weights(*model, file.path());
  load_weights(*other, file.path());
  expect_near(other->get_weights(), model->get_weights(), 1e-6, "weights of the file");
  expect_refused_parts(file.path(), [&] { load_weights(*other, file.path()); });
  return "weights come back; files that end early are refused";
}

std::string check_format_of_arrays(const CheckedClass& checked) {
  const TemporaryFile file(ending_of(checked.name).c_str());
  const Tensor x = SeedGenerator(3).normal({4, 3});
  write_arrays(file.path(), {{"x", x}});
  const NamedTensors read = read_arrays(file.path());
  expect(read.size() == 1, "of a file with one array ", read.size(), " are read");
  expect_same_bits({read[0].second}, {x}, "the array of the file");
  expect_refused_parts(file.path(), [&] { read_arrays(file.path()); });
  return "an array comes back; files that end early are refused";
}

}  // namespace

void add_format_rows(CheckReport& report, const CheckedClass& checked) {
  const Dict traits = registry().traits(Format::kKind, checked.name);
  const auto abilities = Codec<std::vector<std::string>>::decode(traits.at("abilities"));
  const auto can = [&](const char* ability) {
    return std::find(abilities.begin(), abilities.end(), ability) != abilities.end();
  };
  if (can(ModelFormat::kAbility))
    add_result(report, "models", [&] { return check_format_of_models(checked); });
  if (can(WeightsFormat::kAbility))
    add_result(report, "weights", [&] { return check_format_of_weights(checked); });
  if (can(ReadsArrays::kAbility) && can(WritesArrays::kAbility))
    add_result(report, "arrays", [&] { return check_format_of_arrays(checked); });
}

}  // namespace crescent::check
