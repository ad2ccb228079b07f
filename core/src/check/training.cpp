// Checks of metrics, callbacks and formats.
#include <fstream>

#include "check/checked_layer.h"
#include "check/classes.h"
#include "crescent/io/format.h"
#include "crescent/system/file.h"

namespace crescent::check {
namespace {

const Dict kDense{{"units", 2},
                  {"input_shape", List{3}},
                  {"kernel_initializer", "ones"},
                  {"name", "checked"}};  // some formats store weights under names of layers

}  // namespace

ModelPtr small_model(const Dict& compile) {
  const ModelPtr model = Sequential::make({make<Layer>("Dense", kDense)});
  Dict options{{"optimizer", "sgd"}, {"loss", "mse"}};
  for (const DictEntry& option : compile) options.set(option.key, option.value);
  model->compile(options);
  return model;
}

void train(Model& model, const Dict& more, const Tensor& targets) {
  const SeedGenerator random(3);
  Dict options{{"epochs", 3}, {"batch_size", 4}, {"verbose", 0}, {"shuffle", false}};
  for (const DictEntry& option : more) options.set(option.key, option.value);
  const Tensor x = random.normal({8, 3}), y = random.normal({8, 2});
  model.fit({x}, {targets ? targets : y}, options);
}

Tensor usual_targets(bool of_classes, int64_t rows, int64_t classes) {
  const SeedGenerator random(7);
  return of_classes
             ? ops::cast(random.uniform({rows}, 0, static_cast<double>(classes)), DType::int32)
             : ops::round(random.uniform({rows, classes}));
}

Tensor targets_taken_by(const std::function<void(const Tensor&)>& f, int64_t rows,
                        int64_t classes) {
  std::string said;
  for (const bool of_classes : {false, true}) try {
      const Tensor targets = usual_targets(of_classes, rows, classes);
      f(targets);
      return targets;
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& error) {
      if (is_of_exception(error)) throw;
      said = error.what();
    }
  skip("which targets it wants is not known; of values and of numbers of classes it said: ", said);
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
  const Tensor guess = SeedGenerator(5).uniform({6, 3});
  Tensor truth;
  add_result(report, "targets", [&] {
    truth = targets_taken_by(
        [&](const Tensor& targets) { checked.make<Metric>()->update_state(targets, guess, {}); }, 6,
        3);
    return to_text(truth.spec());
  });
  if (!truth) return;
  const auto fed = [&](int times) {
    const auto metric = checked.make<Metric>();
    for (int i = 0; i < times; ++i) metric->update_state(truth, guess, {});
    return metric;
  };
  add_result(report, "result", [&] {
    const Tensor result = fed(2)->result();
    expect(result && result.rank() <= 1, "result() is ",
           result ? to_text(result.spec()) : "no tensor", ", expected a scalar or a list of them");
    return to_text(result);
  });
  add_result(report, "reset", [&] {
    const auto metric = checked.make<Metric>();
    metric->update_state(truth, ops::flip(guess, {-1}) * 0.5, {});
    metric->reset_state();
    const auto fresh = checked.make<Metric>();
    const Variables &given = metric->variables(), &first = fresh->variables();
    for (size_t i = 0; i < std::min(given.size(), first.size()); ++i)
      expect_near(
          {given[i].value()}, {first[i].value()}, 0,
          concat("variable '", first[i].path(), "' after reset_state, beside a new metric"));
    metric->update_state(truth, guess, {});
    expect_near({metric->result()}, {fed(1)->result()}, 1e-6,
                "after reset_state, beside a new metric");
    return std::string("after reset_state it is as a new one");
  });
  add_result(report, "in a model", [&] {
    const bool of_classes = truth.rank() == 1;
    const char* loss = of_classes ? "sparse_categorical_crossentropy" : "mse";
    const auto model =
        small_model({{"loss", loss}, {"metrics", List{Value(checked.make<Metric>())}}});
    train(*model, {}, usual_targets(of_classes, 8, 2));
    return std::string("it is measured in training");
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

/// A file that `write` has written in the format. The constructor tries the file name extensions of
/// the format until `write` raises no Error, because an extension may stand for one kind of
/// content.
class WrittenFile {
 public:
  WrittenFile(const std::string& format, const std::function<void(const std::string&)>& write) {
    const Dict traits = registry().traits(Format::kKind, format);
    const Value* endings = traits.find("endings");
    if (!endings) skip("the format has no ending of its own");
    std::string said;
    for (const auto& ending : Codec<std::vector<std::string>>::decode(*endings)) try {
        file_ = std::make_unique<TemporaryFile>(ending.c_str());
        write(path());
        return;
      } catch (const Interrupted&) {
        throw;
      } catch (const Error& error) {
        if (is_of_exception(error)) throw;
        if (said.empty()) said = error.what();
      }
    skip("what it can write is not known; it said: ", said);
  }
  const std::string& path() const { return file_->path(); }

 private:
  std::unique_ptr<TemporaryFile> file_;
};

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
  const auto model = small_model({});
  train(*model);
  const WrittenFile file(checked.name, [&](const std::string& path) { save_model(*model, path); });
  const Tensor x = SeedGenerator(3).normal({4, 3});
  expect_near(load_model(file.path())->predict({x}), model->predict({x}), 1e-6,
              "the model of the file, beside the one that was saved");
  expect_refused_parts(file.path(), [&] { load_model(file.path()); });
  return "a model comes back; files that end early are refused";
}

std::string check_format_of_weights(const CheckedClass& checked) {
  const auto model = small_model({}), other = small_model({});
  train(*model);
  const WrittenFile file(checked.name,
                         [&](const std::string& path) { save_weights(*model, path); });
  load_weights(*other, file.path());
  expect_near(other->get_weights(), model->get_weights(), 1e-6, "weights of the file");
  expect_refused_parts(file.path(), [&] { load_weights(*other, file.path()); });
  return "weights come back; files that end early are refused";
}

std::string check_format_of_arrays(const CheckedClass& checked) {
  const Tensor x = SeedGenerator(3).normal({4, 3});
  const WrittenFile file(checked.name, [&](const std::string& path) {
    write_arrays(path, {{"x", x}});
  });
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
  if (can(ModelFormat::kAbility) && !traits.contains("written_only"))
    add_result(report, "models", [&] { return check_format_of_models(checked); });
  if (can(WeightsFormat::kAbility))
    add_result(report, "weights", [&] { return check_format_of_weights(checked); });
  if (can(ReadsArrays::kAbility) && can(WritesArrays::kAbility))
    add_result(report, "arrays", [&] { return check_format_of_arrays(checked); });
}

}  // namespace crescent::check
