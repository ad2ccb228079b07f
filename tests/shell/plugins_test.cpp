// Plugins on the command line: listed, found by class, created, and loaded by --plugin.
#include <algorithm>
#include <fstream>
#include <map>

#include "crescent/base/value.h"
#include "run_crescent.h"

namespace {

using Catch::Contains;
using Catch::StartsWith;

constexpr const char* kGatePlugin = R"(-- acme.gate 0.3.0: Lets through.
-- provides: layer Gate
local cr = require "crescent"
local Gate = cr.Layer:subclass "Gate"
function Gate:call(x) return x * 2 end
)";

/// A folder with Lua plugins, and the environment that puts it on the plugin search path.
struct LuaPluginFolder {
  Folder folder;
  LuaPluginFolder() { std::ofstream(folder / "gate.lua") << kGatePlugin; }
  std::string environment() const { return "CRESCENT_PLUGIN_PATH=" + folder / "."; }
};

TEST_CASE("crescent plugins lists every plugin, as JSON too") {
  const Outcome listing = run_crescent("plugins");
  CHECK(listing.status == 0);
  CHECK_THAT(listing.text, Contains("losses ") && Contains("(built-in, loaded on first use)") &&
                               Contains("MeanSquaredError"));
  const crescent::Value rows = crescent::parse_json(run_crescent("plugins --json").text);
  bool is_listed = false;
  for (const crescent::Value& row : rows.as_list())
    if (row.as_dict().at("name") == crescent::Value("losses")) {
      is_listed = true;
      CHECK(row.as_dict().at("origin").as_string() == "built-in");
      CHECK_FALSE(row.as_dict().at("classes").as_list().empty());
    }
  CHECK(is_listed);
}

TEST_CASE("crescent plugins CLASS tells who has it") {
  for (const char* name : {"MeanSquaredError", "mse"}) {
    const Outcome outcome = run_crescent(std::string("plugins ") + name);
    CHECK(outcome.status == 0);
    CHECK_THAT(outcome.text, Contains(std::string(name) + " (loss) is in losses "));
  }
  CHECK(run_crescent("plugins NobodyHasThis").status == 1);
  CHECK_THAT(run_crescent("plugins MeanSquarredError").text,
             StartsWith("crescent: no plugin 'MeanSquarredError' (did you mean "
                        "'MeanSquaredError'?); 'crescent plugins' lists"));
  CHECK(run_crescent("plugins --jsn").status == 2);
}

TEST_CASE("A plugin in Lua is listed without being run, found by its class, and run once") {
  const LuaPluginFolder plugin_folder;
  const Outcome outcome = run_crescent("plugins acme.gate", plugin_folder.environment());
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.text,
             Contains("acme.gate 0.3.0") && Contains("Lets through.") && Contains("layer: Gate"));
  CHECK_THAT(run_crescent("plugins Gate", plugin_folder.environment()).text,
             StartsWith("Gate (layer) is in acme.gate 0.3.0"));
  CHECK(run_crescent("-e 'cr.layers.Gate()(cr.ones { 1 }):item()'", plugin_folder.environment())
            .text == "2.0\n");
  CHECK(run_crescent("-e 'cr.plugins.load(\"acme.gate\").version'", plugin_folder.environment())
            .text == "0.3.0\n");
}

TEST_CASE("Of two plugins with a class of one name it is said which has it") {
  const Folder folder;
  const std::string first_path = folder / "one.lua", second_path = folder / "two.lua";
  std::ofstream(first_path) << kGatePlugin;
  std::ofstream(second_path) << kGatePlugin;
  const Outcome outcome = run_crescent("--plugin " + first_path + " --plugin " + second_path +
                                       " -e 'cr.layers.Gate()'");
  CHECK_THAT(outcome.text, Contains("the layer Gate of '" + second_path +
                                    "' takes the place of that of '" + first_path + "'"));
  const Outcome repeated_loading =
      run_crescent("--plugin " + first_path + " --plugin " + first_path + " -e 'cr.layers.Gate()'");
  CHECK_THAT(repeated_loading.text, !Contains("takes the place"));
}

TEST_CASE("A format in a plugin in Lua is listed, and files are converted to it and from it") {
  const Folder folder;
  std::ofstream(folder / "mine.lua") << R"lua(-- acme.mine 0.1.0: Numbers as text.
-- provides: format Mine
local cr = require "crescent"
local Mine = cr.saving.Format:subclass "Mine"
Mine.endings = ".mine"
function Mine:write_arrays(path, arrays)
  local file <close> = io.open(path, "w")
  for name, array in pairs(arrays) do file:write(name, " ", array:item(), "\n") end
end
function Mine:read_arrays(path)
  local arrays = {}
  for line in io.lines(path) do
    local name, number = line:match "(%S+) (%S+)"
    arrays[name] = cr.tensor { tonumber(number) }
  end
  return arrays
end
)lua";
  const std::string environment = "CRESCENT_PLUGIN_PATH=" + folder / ".";
  CHECK_THAT(run_crescent("plugins acme.mine", environment).text, Contains("format: Mine"));
  std::ofstream(folder / "a.mine") << "x 3\ny 4.5\n";
  const std::string source_path = folder / "a.mine", target_path = folder / "a.npz",
                    copy_path = folder / "b.mine";
  const Outcome inspection = run_crescent("--plugin acme.mine inspect " + source_path, environment);
  CHECK_THAT(inspection.text, Contains("format Mine") && Contains("x") && Contains("float32 (1)"));
  CHECK(run_crescent("--plugin acme.mine convert " + source_path + " " + target_path, environment)
            .status == 0);
  const Outcome converted_back =
      run_crescent("--plugin acme.mine convert " + target_path + " " + copy_path, environment);
  CHECK_THAT(converted_back.text, Contains("2 arrays"));
  std::ifstream copied_file(copy_path);
  CHECK(std::string(std::istreambuf_iterator<char>(copied_file), {}).size() == 10);
  const Outcome failed_conversion =
      run_crescent("convert " + target_path + " " + copy_path, environment);
  CHECK(failed_conversion.status != 0);
  CHECK_THAT(failed_conversion.text, Contains("no format is known by this name"));
}

TEST_CASE("A plugin in Lua that others may write is not run") {
  const LuaPluginFolder plugin_folder;
  fs::permissions(plugin_folder.folder / "gate.lua", fs::perms::all);
  CHECK_THAT(run_crescent("plugins", plugin_folder.environment()).text,
             Contains("others may write"));
  CHECK(run_crescent("-e 'cr.layers.Gate()'", plugin_folder.environment()).status == 1);
  const Outcome outcome =
      run_crescent("-e 'cr.plugins.load \"acme.gate\"'", plugin_folder.environment());
  CHECK_THAT(outcome.text, Contains("others may write"));
}

TEST_CASE("A file finds its classes in plugins in Lua, in scripts, at the prompt and in commands") {
  const LuaPluginFolder plugin_folder;
  const std::string model_path = plugin_folder.folder / "m.keras",
                    h5_path = plugin_folder.folder / "m.h5";
  const std::string script =
      "-e 'cr.Sequential { cr.layers.Gate { input_shape = { 2 } } }:save \"" + model_path + "\"'";
  REQUIRE(run_crescent(script, plugin_folder.environment()).status == 0);
  CHECK(run_crescent("inspect " + model_path).status == 0);
  const std::string loading =
      "cr.models.load_model(\"" + model_path + "\"):predict(cr.ones { 1, 2 })";
  for (const std::string& command :
       {"-e '" + loading + "'", "convert " + model_path + " " + h5_path,
        "verify " + model_path + " " + h5_path, "validate " + model_path,
        std::string("-e 'cr.layers.get \"gate\"'"), std::string("plugins Gate"),
        std::string("check-plugin acme.gate")}) {
    const Outcome outcome = run_crescent(command, plugin_folder.environment());
    INFO(command << ": " << outcome.text);
    CHECK(outcome.status == 0);
  }
  const Outcome prompt_outcome =
      run_crescent("-i", "printf '%s\n' '" + loading + "' | " + plugin_folder.environment());
  CHECK_THAT(prompt_outcome.text, Contains("[[2. 2.]]"));
}

TEST_CASE("check-plugin checks the classes of a plugin in Lua, and runs it once") {
  const LuaPluginFolder plugin_folder;
  std::ofstream(plugin_folder.folder / "all.lua") << R"(-- acme.all 0.1.0: One of each.
-- provides: loss Quartic, optimizer Signs, activation Torn
local cr = require "crescent"
print "is run"
local Quartic = cr.losses.Loss:subclass "Quartic"
function Quartic:call(y, p) return cr.ops.mean((y - p) ^ 4, { axis = -1 }) end
local Signs = cr.optimizers.Optimizer:subclass "Signs"
function Signs:update_step(g, v, rate) v:assign_sub(rate * cr.ops.sign(g)) end
local Torn = cr.activations.Activation:subclass "Torn"
function Torn:call(x) return cr.ops.sum(x) end
)";
  const Outcome check_outcome = run_crescent("check-plugin acme.all", plugin_folder.environment());
  INFO(check_outcome.text);
  CHECK(check_outcome.status == 1);
  CHECK_THAT(check_outcome.text, Contains("Quartic (loss): 11 checks passed, 0 failed") &&
                                     Contains("gradient by input 1") &&
                                     Contains("Signs (optimizer): 7 checks passed, 0 failed") &&
                                     Contains("FAILED  shapes and dtypes"));
  CHECK(check_outcome.text.find("is run") == check_outcome.text.rfind("is run"));
}

TEST_CASE("A plugin in Lua that is not what its first lines say is named") {
  const LuaPluginFolder plugin_folder;
  std::ofstream(plugin_folder.folder / "bad.lua")
      << "-- acme.bad 0.1.0: Claims.\n-- provides: layer Nowhere\n";
  std::ofstream(plugin_folder.folder / "kind.lua")
      << "-- acme.kind 0.1.0: Wrong.\n-- provides: layr Some\n";
  std::ofstream(plugin_folder.folder / "fails.lua")
      << "-- acme.fails 0.1.0: Fails.\n-- provides: layer Failing\nerror 'no luck'\n";
  const std::pair<const char*, const char*> expected_messages[] = {
      {"-e 'cr.layers.Nowhere()'", "plugin 'acme.bad' ("},
      {"-e 'cr.layers.Nowhere()'", "provides layer 'Nowhere', and does not define it"},
      {"-e 'cr.layers.Failing()'", "no luck"},
      {"-e 'cr.layers.get \"Failing\"'", "plugin 'acme.fails' ("},
      {"-e 'cr.plugins.load \"acme.kind\"'", "unknown kind 'layr' (did you mean 'layer'?)"},
      {"check-plugin acme.bad", "provides layer 'Nowhere', and does not define it"}};
  for (const auto& [command, message] : expected_messages) {
    const Outcome refusal = run_crescent(command, plugin_folder.environment());
    INFO(command << ": " << refusal.text);
    CHECK(refusal.status == 1);
    CHECK_THAT(refusal.text, Contains(message) && !Contains("did you mean 'Nowhere'"));
  }
  CHECK_THAT(run_crescent("plugins acme.kind", plugin_folder.environment()).text,
             Contains("refused: unknown kind 'layr'"));
}

TEST_CASE("An error in a plugin in Lua has the lines of the plugin that led to it") {
  const LuaPluginFolder plugin_folder;
  std::ofstream(plugin_folder.folder / "deep.lua") << R"(-- acme.deep 0.1.0: Fails.
-- provides: layer Deep
local function inner(t) return t.a.b end
local function outer(t) return 1 + inner(t) end
outer {}
)";
  std::ofstream(plugin_folder.folder / "bare.lua") << R"(-- acme.bare 0.1.0: Fails.
-- provides: layer Bare, loss Bare
local function inner() error("no luck", 0) end
inner()
)";
  std::ofstream(plugin_folder.folder / "endless.lua") << R"(-- acme.endless 0.1.0: Fails.
-- provides: layer Endless
local function more() return 1 + more() end
more()
)";
  const auto message_of = [&](const char* name) {
    return run_crescent(std::string("-e 'cr.layers.") + name + "()'", plugin_folder.environment())
        .text;
  };
  const std::string deep_message = message_of("Deep"), bare_message = message_of("Bare"),
                    endless_message = message_of("Endless");
  CHECK_THAT(deep_message,
             Contains("deep.lua:3: attempt to index a nil value (field 'a') (called from ") &&
                 Contains("deep.lua:4, called from ") && Contains("deep.lua:5)"));
  CHECK_THAT(bare_message, Contains("no luck (at ") && Contains("bare.lua:3, called from ") &&
                               Contains("bare.lua:4)"));
  CHECK_THAT(endless_message, Contains("stack overflow"));
  CHECK(endless_message.size() < 4000);
}

TEST_CASE("A plugin in Lua has a class of datasets, which is found by its name") {
  const LuaPluginFolder plugin_folder;
  std::ofstream(plugin_folder.folder / "rows.lua") << R"(-- acme.rows 0.1.0: Rows.
-- provides: dataset LuaRows, dataset TornRows
local cr = require "crescent"
local Rows = cr.data.Dataset:subclass("LuaRows", { { "count", 4, "How many." } })
function Rows:init(options) self.width = options.width or 2 end
function Rows:len() return self.count end
function Rows:get(number) return cr.full({ 3, self.width }, number) end
local Torn = Rows:subclass "TornRows"
function Torn:get(number) return cr.ones { 3, number } end
)";
  const auto output_of = [&](const std::string& command) {
    return run_crescent(command, plugin_folder.environment()).text;
  };
  CHECK_THAT(output_of("plugins LuaRows"), Contains("LuaRows (dataset) is in acme.rows 0.1.0"));
  CHECK_THAT(
      output_of("-e 'print(cr.data.LuaRows(), cr.data.LuaRows { count = 2, width = 5 }.batches)'"),
      Contains("<LuaRows: 4 elements>") && Contains("2"));
  CHECK_THAT(
      output_of("-e 'for x in cr.data.LuaRows { width = 7 }:take(1):elements() do print(x) end'"),
      Contains("[1. 1. 1. 1. 1. 1. 1.]"));
  CHECK_THAT(output_of("-e 'help(cr.data.LuaRows)'"), Contains("count") && Contains("How many."));
  CHECK_THAT(output_of("-e 'cr.data.LuaRows { count = true }'"),
             Contains("LuaRows: option 'count': expected a number, got true"));
  CHECK_THAT(output_of("-e 'cr.data.LuaRows:subclass \"Mine\"'"), Contains("cr.data.Dataset"));
  CHECK_THAT(output_of("describe LuaRows"), StartsWith("cr.data.LuaRows") && Contains("How many."));
  const std::string check_output = output_of("check-plugin acme.rows");
  INFO(check_output);
  CHECK_THAT(check_output, Contains("LuaRows (dataset): 4 checks passed, 0 failed") &&
                               Contains("TornRows (dataset)") && Contains("element 2 is"));
}

TEST_CASE("Commands about plugins say what is wrong with what they are given") {
  const Outcome outcome = run_crescent("plugins ''");
  CHECK(outcome.status == 2);
  CHECK_THAT(outcome.text, Contains("expected the name of a plugin or class, got ''"));
  CHECK_THAT(run_crescent("check-plugin losses --options '[1]'").text,
             Contains("--options: expected {\"Class\": {\"options\": {...}}}, got [1]"));
  const std::pair<const char*, const char*> expected_messages[] = {
      {"{bad", "check-plugin: --options: JSON, line 1, column 2"},
      {R"({"Huber": 3})", "class 'Huber': expected {\"options\": {...}}, got 3"},
      {R"({"Huber": {"option": {}}})", "'option': there is no such key (did you mean 'options'?)"},
      {R"({"Huber": {"low": 0}})",
       "class 'Huber': 'low': inputs are chosen for layers; of kind loss expected only options"},
      {R"({"Huber": {"without": ["compild"]}})", "no check 'compild' (did you mean 'compiled'?)"}};
  for (const auto& [options, message] : expected_messages)
    CHECK_THAT(run_crescent(std::string("check-plugin losses --options '") + options + "'").text,
               Contains(message));
  CHECK_THAT(
      run_crescent(R"(check-plugin core --options '{"Dense": {"low": 3}}')").text,
      Contains("check_plugin: class 'Dense': expected 'low' to be at most 'high', got 3 and 1"));
  for (const std::string command : {"manual ", "editor "}) {
    CHECK(run_crescent(command + "--nonsense").status == 2);
    CHECK_THAT(run_crescent(command + "/proc/version").text,
               Contains("cannot create the folder '/proc/version': Not a directory"));
  }
}

TEST_CASE("A folder that stands twice in the search path is searched once") {
  const LuaPluginFolder plugin_folder;
  const std::string listing =
      run_crescent("plugins",
                   plugin_folder.environment() + ":" + plugin_folder.folder / "../" +
                       fs::path(plugin_folder.folder / "x").parent_path().filename().string())
          .text;
  INFO(listing);
  CHECK(listing.find("acme.gate") == listing.rfind("acme.gate"));
}

TEST_CASE("--plugin loads for scripts and for commands") {
  const LuaPluginFolder plugin_folder;
  const std::string model_path = plugin_folder.folder / "m.keras",
                    plugin_path = plugin_folder.folder / "gate.lua";
  const std::string script =
      "-e 'cr.Sequential { cr.layers.Gate { input_shape = { 2 } } }:save \"" + model_path + "\"'";
  REQUIRE(run_crescent("--plugin " + plugin_path + " " + script).status == 0);
  const std::string both_paths = model_path + " " + model_path;
  CHECK(run_crescent("verify " + both_paths).status == 1);
  const Outcome verification = run_crescent("verify " + both_paths + " --plugin " + plugin_path);
  INFO(verification.text);
  CHECK(verification.status == 0);
  CHECK(run_crescent("--plugin " + plugin_path + " verify " + both_paths).status == 0);
  CHECK(run_crescent("verify " + both_paths + " --plugin").status == 2);
  CHECK(run_crescent("verify " + both_paths + " --plugin nobody.has.it").status == 1);
}

TEST_CASE("new-plugin refuses names that no plugin can have") {
  const std::pair<const char*, const char*> expected_messages[] = {
      {"a..b", "each part of a name starts with a letter"},
      {".a", "each part of a name starts with a letter"},
      {"a.", "each part of a name starts with a letter"},
      {"acme.2x", "each part of a name starts with a letter"},
      {"Acme.x", "lower-case letters"},
      {"a/b", "lower-case letters"},
      {"''", "expected one name"},
      {"losses", "is the name of a plugin that is there already"},
      {"acme.dense", "layer 'Dense' is there already"},
      {"acme.layer", "'Layer' is a base class"},
      {"acme.model --kind lua", "'Model' is a base class"},
      {"acme.format --kind format", "'Format' is a base class"},
      {"acme.huber --kind loss", "loss 'Huber' is there already"}};
  for (const auto& [arguments, message] : expected_messages) {
    const Outcome refusal = run_crescent(std::string("new-plugin ") + arguments);
    INFO(arguments << ": " << refusal.text);
    CHECK(refusal.status != 0);
    CHECK_THAT(refusal.text, Contains(message));
  }
  const Outcome long_name_refusal = run_crescent("new-plugin " + std::string(80, 'a'));
  CHECK_THAT(long_name_refusal.text, Contains("at most 63 letters, got 80"));
}

TEST_CASE("new-plugin refuses what it does not know") {
  for (const char* wrong_command : {"new-plugin --hlp", "new-plugin a.b --kind",
                                    "new-plugin a.b c.d", "new-plugin acme.x --kind los"})
    CHECK(run_crescent(wrong_command).status == 2);
  CHECK_THAT(run_crescent("new-plugin acme.x --kind los").text, Contains("did you mean 'loss'"));
}

TEST_CASE("new-plugin puts the names of the plugin in the place of the example's") {
  const Folder folder;
  const std::string in_folder = "cd " + folder / "." + " &&";
  for (const char* kind : {"layer", "op", "loss", "metric", "optimizer", "callback", "format",
                           "device", "communicator", "dataset", "lua", "lua-dataset"}) {
    std::string name = std::string("own.my_") + kind;
    std::replace(name.begin(), name.end(), '-', '_');
    const Outcome creation = run_crescent("new-plugin " + name + " --kind " + kind, in_folder);
    INFO(kind << ": " << creation.text);
    CHECK(creation.status == 0);
    CHECK_THAT(creation.text,
               Contains("CRESCENT_PLUGIN_PATH=" + name) || Contains("cmake -S " + name));
    for (const fs::directory_entry& file : fs::directory_iterator(folder / name.c_str())) {
      std::ifstream stream(file.path());
      const std::string text(std::istreambuf_iterator<char>(stream), {});
      CHECK_THAT(text, !Contains("acme") && !Contains("using namespace"));
    }
  }
}

TEST_CASE("new-plugin prints the program by its path where the PATH leads to none or another") {
  const Folder folder;
  auto printed_program = [&, count = 0](const std::string& path) mutable {
    const std::string name = "own.gate" + std::to_string(count++);
    const std::string text = run_crescent("new-plugin " + name + " --kind lua",
                                          "cd " + folder / "." + " && PATH=" + path)
                                 .text;
    const std::string command_start = "CRESCENT_PLUGIN_PATH=" + name + " ";
    const size_t position = text.find(command_start);
    REQUIRE(position != text.npos);
    return text.substr(
        position + command_start.size(),
        text.find(' ', position + command_start.size()) - position - command_start.size());
  };
  const std::string program = fs::canonical(CRESCENT_PROGRAM).string();
  CHECK(printed_program("/nowhere") == program);
  fs::create_directory(folder / "bin");
  fs::create_symlink(program, folder / "bin/crescent");
  CHECK(printed_program("/nowhere:" + folder / "bin") == "crescent");
  fs::create_directory(folder / "other");
  std::ofstream(folder / "other/crescent") << "another";
  CHECK(printed_program(folder / "other" + ":" + folder / "bin") == program);
}

TEST_CASE("A file records the plugins in Lua of its layers, losses and metrics") {
  const LuaPluginFolder plugin_folder;
  std::ofstream(plugin_folder.folder / "fold.lua") << R"(-- acme.fold 2.1: Folds.
-- provides: layer Fold, loss Lozz, metric Mezz, activation Azz
local cr = require "crescent"
local Fold = cr.Layer:subclass "Fold"
function Fold:call(x) return x * 2 end
local Lozz = cr.losses.Loss:subclass "Lozz"
function Lozz:call(y, p) return cr.ops.mean(cr.ops.abs(y - p), { axis = -1 }) end
local Mezz = cr.metrics.Metric:subclass "Mezz"
function Mezz:init() self.total = self:add_variable("total", {}) end
function Mezz:update_state(y, p) self.total:assign(cr.ops.sum(p)) end
function Mezz:result() return self.total end
local Azz = cr.activations.Activation:subclass "Azz"
function Azz:call(x) return x * 3 end
)";
  for (const char* layer :
       {"Fold { input_shape = { 2 } }", "Dense(1, { input_shape = { 2 }, activation = \"Azz\" })"})
    for (const char* ending : {"keras", "h5"}) {
      const std::string path = plugin_folder.folder / "m." + ending;
      const Outcome saving = run_crescent(
          std::string("-e 'm = cr.Sequential { cr.layers.") + layer +
              " } m:compile { optimizer = \"sgd\", loss = \"Lozz\", metrics = { \"Mezz\" } } "
              "m:save \"" +
              path + "\"'",
          plugin_folder.environment());
      INFO(layer << ending << saving.text);
      REQUIRE(saving.status == 0);
      const Outcome description = run_crescent("inspect " + path);
      INFO(description.text);
      CHECK_THAT(description.text, Contains("acme.fold 2.1") && Contains("Lozz") &&
                                       Contains("Mezz") && !Contains("needs       Lua"));
      const std::string loading = "-e 'cr.models.load_model(\"" + path + "\")'";
      const Outcome refusal = run_crescent(loading);
      INFO(refusal.text);
      CHECK(refusal.status == 1);
      CHECK_THAT(refusal.text,
                 Contains("It was saved from plugin \"acme.fold\", version \"2.1\": load that"));
      CHECK(run_crescent(loading, plugin_folder.environment()).status == 0);
    }
}

TEST_CASE("A model without the plugin of its loss in Lua is loaded and not compiled") {
  const LuaPluginFolder plugin_folder;
  std::ofstream(plugin_folder.folder / "loss.lua") << R"(-- acme.loss 2.1: A loss.
-- provides: loss Lozz
local Lozz = require("crescent").losses.Loss:subclass "Lozz"
function Lozz:call(y, p) return require("crescent").ops.abs(y - p) end
)";
  const std::string path = plugin_folder.folder / "m.keras";
  REQUIRE(run_crescent("-e 'm = cr.Sequential { cr.layers.Dense(1, { input_shape = { 2 } }) } "
                       "m:compile { optimizer = \"sgd\", loss = \"Lozz\" } m:save \"" +
                           path + "\"'",
                       plugin_folder.environment())
              .status == 0);
  const Outcome loading = run_crescent("-e 'cr.models.load_model(\"" + path + "\")'");
  INFO(loading.text);
  CHECK(loading.status == 0);
  CHECK_THAT(loading.text, Contains("the model was not compiled: Unknown loss: Lozz") &&
                               Contains("plugin \"acme.loss\", version \"2.1\""));
}

TEST_CASE("A plugin in Lua whose file never ends is stopped and refused") {
  const LuaPluginFolder plugin_folder;
  std::ofstream(plugin_folder.folder / "loop.lua")
      << "-- acme.loop 1.0: Does not end.\n-- provides: layer Loo\n"
         "coroutine.wrap(function() while true do end end)()\n";
  const Outcome outcome = run_crescent("-e 'cr.layers.Loo()'", plugin_folder.environment());
  INFO(outcome.text);
  CHECK(outcome.status == 1);
  CHECK_THAT(outcome.text, Contains("plugin 'acme.loop' (") && Contains("loop.lua:3: ") &&
                               Contains("it does not come to an end while it is loaded: it was "
                                        "given 10 seconds") &&
                               !Contains("did you mean"));
}

TEST_CASE("A refused class is not suggested") {
  const LuaPluginFolder plugin_folder;
  std::ofstream(plugin_folder.folder / "lie.lua")
      << "-- acme.lie 1.0: Lies.\n-- provides: layer Lie\n";
  CHECK_THAT(
      run_crescent("-e 'cr.layers.Lie {}'", plugin_folder.environment()).text,
      Contains("is refused: it says that it provides layer 'Lie'") && !Contains("did you mean"));
}

}  // namespace
