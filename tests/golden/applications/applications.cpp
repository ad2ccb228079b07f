// Compares the applications of Keras with recorded numbers. Each model is built from the JSON that
// Keras writes (NAME.json.gz next to NAME.io.h5), and by cr.applications. Both models must have the
// same graph and give the recorded numbers.
#include <catch2/catch.hpp>

#include "crescent/system/file.h"
#include "golden/applications/from_lua.h"
#include "golden/applications/layer_stats.h"
#include "golden/applications/rule.h"
#include "golden/recorded.h"
#include "golden/same_json.h"

using namespace crescent;
using namespace crescent::golden;

namespace {

/// The tolerance, relative to the largest output. The float32 results of Keras differ from float64
/// results by up to this share, because the rounding errors of hundreds of layers add up.
constexpr double kTolerance = 1e-5;

void check_numbers(Model& model, const Recording& recording) {
  set_weights(model, recording.json("/", "weights").as_list());
  const Tensor x = recording.tensor("inputs/0"), wanted = recording.tensor("outputs/0");
  const Tensor got = model.predict({x}).front();
  CHECK(difference(got, wanted, {0, kTolerance * ops::max(ops::abs(wanted)).item()}) == "");
  if (recording.text_if_any("/", "layer_stats"))
    CHECK(first_difference(model, x, recording.json("/", "layer_stats").as_list()) == "");
}

void check_from_json(const std::string& json, const Recording& recording) {
  const ModelPtr model = model_from_json(json);
  check_numbers(*model, recording);
}

/// Builds the application in Lua and compares it; `name` is also the key under which its arguments
/// are recorded.
void check_from_lua(std::string name, const std::string& json, const Recording& recording) {
  const Dict recorded_arguments = recording.json("/", "arguments").as_dict();
  Dict arguments;
  for (const DictEntry& entry : recorded_arguments) {
    if (entry.key == "name")
      name = entry.value.as_string();
    else
      arguments.set(entry.key, entry.value);
  }
  const ModelPtr model = application_from_lua(name, arguments);
  for (const std::string& difference_text :
       differences(parse_json(model->to_json()), parse_json(json), name))
    FAIL_CHECK(difference_text);
  check_numbers(*model, recording);
}

/// Calls check(name, JSON, recording) for each recorded application.
template <class Check>
void for_each_application(Check check) {
  const std::string applications = folder() + "/applications";
  if (source() == Source::own || !is_there(applications)) return;
  Tally tally;
  const std::string ending = ".json.gz";
  for (const std::string& file : files_ending(applications, ending)) {
    const std::string name = file.substr(0, file.size() - ending.size());
    INFO(name);
    try {
      check(name, read_file_unpacked(applications + "/" + file),
            Recording(applications + "/" + name + ".io.h5"));
      tally.count_compared();
    } catch (const Error& error) {
      FAIL_CHECK(name << ": " << error.what());
    }
  }
  tally.check();
}

}  // namespace

TEST_CASE("Keras' applications predict what they predict there") {
  for_each_application([](const std::string&, const std::string& json, const Recording& recording) {
    check_from_json(json, recording);
  });
}

TEST_CASE("cr.applications makes the graphs that Keras makes, with the same numbers") {
  for_each_application(check_from_lua);
}

TEST_CASE("the first layer that differs is named") {
  const ModelPtr model = application_from_lua(
      "MobileNet", {{"input_shape", List{32, 32, 3}}, {"classes", 2}, {"alpha", 0.25}});
  const Tensor x = ops::zeros({1, 32, 32, 3});
  const List silent{"conv1", 0, List{16, 16, 8}, 0.0, 0.0},
      other{"conv1_bn", 0, List{16, 16, 8}, 1.0, 1.0};
  CHECK(first_difference(*model, x, List{Value(silent)}) == "");
  CHECK_THAT(first_difference(*model, x, List{Value(silent), Value(other)}),
             Catch::StartsWith("conv1_bn: "));
}
