// crescent check-plugin: classes that end its process, checks without an end, the plugins of this
// tree.
#include <fstream>
#include <map>

#include "crescent/base/value.h"
#include "run_crescent.h"

namespace {

using Catch::Contains;

TEST_CASE("check-plugin keeps no file that a callback writes into the current folder") {
  const Folder folder;
  const Outcome check_outcome =
      run_crescent("check-plugin callbacks", "cd " + folder / "." + " &&");
  INFO(check_outcome.text);
  CHECK(check_outcome.status == 0);
  CHECK_THAT(
      check_outcome.text,
      Contains(R"(ModelCheckpoint (callback) with {"filepath": "drawn.keras"}: 2 checks passed)"));
  CHECK(folder.count() == 0);
}

TEST_CASE("check-plugin says that a class ended its process, whatever the status") {
  const Folder folder;
  std::ofstream(folder / "ends.lua") << "-- acme.ends 0.1.0: Ends.\n-- provides: layer Ends\n"
                                     << "local Ends = require('crescent').Layer:subclass 'Ends'\n"
                                     << "function Ends:call(x) os.exit(0) end\n";
  const Outcome check_outcome =
      run_crescent("check-plugin acme.ends", "CRESCENT_PLUGIN_PATH=" + folder / ".");
  CHECK(check_outcome.status == 1);
  CHECK_THAT(check_outcome.text,
             Contains("plugin 'acme.ends': the check 'call' of Ends ended with exit status 0"));
}

TEST_CASE("check-plugin checks the other classes after some that end its process") {
  const Folder folder;
  std::ofstream(folder / "some.lua") << R"(-- acme.some 0.1.0: Some end the process.
-- provides: layer Ends, activation Doubled, loss Leaves, layer Tripled
local cr = require "crescent"
local Ends = cr.Layer:subclass "Ends"
function Ends:call(x) os.exit(0) end
local Doubled = cr.activations.Activation:subclass "Doubled"
function Doubled:call(x) return x * 2 end
local Leaves = cr.losses.Loss:subclass "Leaves"
function Leaves:call(y, p) os.exit(4) end
local Tripled = cr.Layer:subclass "Tripled"
function Tripled:call(x) return x * 3 end
)";
  const std::string environment = "CRESCENT_PLUGIN_PATH=" + folder / ".";
  const Outcome check_outcome = run_crescent("check-plugin acme.some", environment);
  INFO(check_outcome.text);
  CHECK(check_outcome.status == 1);
  for (const char* text : {"the check 'call' of Ends ended with exit status 0",
                           "Ends (layer): 0 checks passed, 1 failed",
                           "the check 'targets' of Leaves ended with exit status 4",
                           "the process ended with exit status 4",
                           "Doubled (activation): ", "Tripled: 24 checks passed, 0 failed"}) {
    CHECK_THAT(check_outcome.text, Contains(text));
    CHECK(check_outcome.text.find(text) == check_outcome.text.rfind(text));
  }
  const Outcome partial_outcome = run_crescent(
      "check-plugin acme.some --options '{\"Ends\": {\"without\": [\"call\"]}, "
      "\"Leaves\": {\"without\": [\"targets\"]}}'",
      environment);
  INFO(partial_outcome.text);
  CHECK(partial_outcome.status == 0);
  CHECK_THAT(partial_outcome.text, Contains("0 failed") && Contains("it is left out") &&
                                       !Contains("ended with exit status"));
}

TEST_CASE("check-plugin ends a check that does not end, and names it") {
  const Folder folder;
  std::ofstream(folder / "endless.lua")
      << "-- acme.endless 0.1.0: Does not end.\n-- provides: layer Endless\n"
      << "local Endless = require('crescent').Layer:subclass 'Endless'\n"
      << "function Endless:call(x) while true do end end\n";
  const std::string environment = "CRESCENT_PLUGIN_PATH=" + folder / ".";
  const Outcome check_outcome = run_crescent("check-plugin acme.endless --seconds 1", environment);
  CHECK(check_outcome.status == 1);
  CHECK_THAT(check_outcome.text,
             Contains("crescent: plugin 'acme.endless': the check 'call' of Endless "
                      "did not end within 1 seconds"));
  CHECK_THAT(run_crescent("check-plugin acme.endless --seconds 0", environment).text,
             Contains("check-plugin: --seconds: expected 1 to 86400, got 0"));
}

TEST_CASE("check-plugin passes the plugins of this tree, and skips what its arguments do not fit") {
  // Options of classes that are made for images, that round to steps, that compare all samples of
  // a batch, or whose gradient depends on which of many bases completes a matrix.
  const std::map<std::string, std::string> options{
      {"losses", R"({"Circle": {"without": ["samples apart", "reduction"]}})"},
      {"linalg", R"({"svd": {"without": ["larger sizes"]}})"},
      {"augmentation", R"({"RandomShear": {"shapes": [[8, 8, 3]]},
        "RandAugment": {"shapes": [[8, 8, 3]]}, "AugMix": {"shapes": [[8, 8, 3]]},
        "RandomElasticTransform": {"shapes": [[8, 8, 3]]},
        "AutoContrast": {"shapes": [[8, 8, 3]]},
        "Equalization": {"shapes": [[8, 8, 3]], "without": ["gradients"]},
        "ContrastLimitedAdaptiveHistogramEqualization": {"shapes": [[8, 8, 3]],
          "without": ["gradients", "mixed_float16", "mixed_bfloat16"]}})"}};
  const crescent::Value plugins = crescent::parse_json(run_crescent("plugins --json").text);
  for (const crescent::Value& row : plugins.as_list()) {
    const std::string name = row.as_dict().at("name").as_string();
    if (name == "cpu" || row.as_dict().at("origin").as_string() != "built-in") continue;
    const auto class_options = options.find(name);
    const Outcome check_outcome = run_crescent(
        "check-plugin " + name +
        (class_options == options.end() ? "" : " --options '" + class_options->second + "'"));
    INFO(check_outcome.text);
    CHECK(check_outcome.status == 0);
    CHECK(check_outcome.text.find("FAILED") == check_outcome.text.npos);
  }
}

}  // namespace
