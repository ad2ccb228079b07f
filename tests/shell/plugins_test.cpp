// Plugins on the command line: listed, found by class, created, and loaded by --plugin.
#include <algorithm>
#include <fstream>
#include <map>

#include "called.h"
#include "crescent/base/value.h"

namespace {

using Catch::Contains;
using Catch::StartsWith;

constexpr const char* kGate = R"(-- acme.gate 0.3.0: Lets through.
-- provides: layer Gate
local cr = require "crescent"
local Gate = cr.Layer:subclass "Gate"
function Gate:call(x) return x * 2 end
)";

/// A folder with Lua plugins, and the environment that puts it on the plugin search path.
struct LuaFolder {
  Folder folder;
  LuaFolder() { std::ofstream(folder / "gate.lua") << kGate; }
  std::string environment() const { return "CRESCENT_PLUGIN_PATH=" + folder / "."; }
};

TEST_CASE("crescent plugins lists every plugin, as JSON too") {
  const Outcome listing = crescent_says("plugins");
  CHECK(listing.status == 0);
  CHECK_THAT(listing.text, Contains("losses ") && Contains("(built-in, loaded on first use)") &&
                               Contains("MeanSquaredError"));
  const crescent::Value rows = crescent::parse_json(crescent_says("plugins --json").text);
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
    const Outcome outcome = crescent_says(std::string("plugins ") + name);
    CHECK(outcome.status == 0);
    CHECK_THAT(outcome.text, Contains(std::string(name) + " (loss) is in losses "));
  }
  CHECK(crescent_says("plugins NobodyHasThis").status == 1);
  CHECK_THAT(crescent_says("plugins MeanSquarredError").text,
             StartsWith("crescent: no plugin 'MeanSquarredError' (did you mean "
                        "'MeanSquaredError'?); 'crescent plugins' lists"));
  CHECK(crescent_says("plugins --jsn").status == 2);
}

TEST_CASE("A plugin in Lua is listed without being run, found by its class, and run once") {
  const LuaFolder lua;
  const Outcome outcome = crescent_says("plugins acme.gate", lua.environment());
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.text,
             Contains("acme.gate 0.3.0") && Contains("Lets through.") && Contains("layer: Gate"));
  CHECK_THAT(crescent_says("plugins Gate", lua.environment()).text,
             StartsWith("Gate (layer) is in acme.gate 0.3.0"));
  CHECK(crescent_says("-e 'cr.layers.Gate()(cr.ones { 1 }):item()'", lua.environment()).text ==
        "2.0\n");
  CHECK(crescent_says("-e 'cr.plugins.load(\"acme.gate\").version'", lua.environment()).text ==
        "0.3.0\n");
}

TEST_CASE("Of two plugins with a class of one name it is said which has it") {
  const Folder folder;
  const std::string first_file = folder / "one.lua", second_file = folder / "two.lua";
  std::ofstream(first_file) << kGate;
  std::ofstream(second_file) << kGate;
  const Outcome outcome = crescent_says("--plugin " + first_file + " --plugin " + second_file +
                                        " -e 'cr.layers.Gate()'");
  CHECK_THAT(outcome.text, Contains("the layer Gate of '" + second_file +
                                    "' takes the place of that of '" + first_file + "'"));
  const Outcome loaded_twice = crescent_says("--plugin " + first_file + " --plugin " + first_file +
                                             " -e 'cr.layers.Gate()'");
  CHECK_THAT(loaded_twice.text, !Contains("takes the place"));
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
  CHECK_THAT(crescent_says("plugins acme.mine", environment).text, Contains("format: Mine"));
  std::ofstream(folder / "a.mine") << "x 3\ny 4.5\n";
  const std::string from = folder / "a.mine", to = folder / "a.npz", copy_path = folder / "b.mine";
  const Outcome inspection = crescent_says("--plugin acme.mine inspect " + from, environment);
  CHECK_THAT(inspection.text, Contains("format Mine") && Contains("x") && Contains("float32 (1)"));
  CHECK(crescent_says("--plugin acme.mine convert " + from + " " + to, environment).status == 0);
  const Outcome converted_back =
      crescent_says("--plugin acme.mine convert " + to + " " + copy_path, environment);
  CHECK_THAT(converted_back.text, Contains("2 arrays"));
  std::ifstream copied_file(copy_path);
  CHECK(std::string(std::istreambuf_iterator<char>(copied_file), {}).size() == 10);
  const Outcome unknown = crescent_says("convert " + to + " " + copy_path, environment);
  CHECK(unknown.status != 0);
  CHECK_THAT(unknown.text, Contains("no format is known by this name"));
}

TEST_CASE("A plugin in Lua that others may write is not run") {
  const LuaFolder lua;
  fs::permissions(lua.folder / "gate.lua", fs::perms::all);
  CHECK_THAT(crescent_says("plugins", lua.environment()).text, Contains("others may write"));
  CHECK(crescent_says("-e 'cr.layers.Gate()'", lua.environment()).status == 1);
  const Outcome outcome = crescent_says("-e 'cr.plugins.load \"acme.gate\"'", lua.environment());
  CHECK_THAT(outcome.text, Contains("others may write"));
}

TEST_CASE("A file finds its classes in plugins in Lua, in scripts, at the prompt and in commands") {
  const LuaFolder lua;
  const std::string model = lua.folder / "m.keras", other = lua.folder / "m.h5";
  const std::string script =
      "-e 'cr.Sequential { cr.layers.Gate { input_shape = { 2 } } }:save \"" + model + "\"'";
  REQUIRE(crescent_says(script, lua.environment()).status == 0);
  CHECK(crescent_says("inspect " + model).status == 0);
  const std::string loading = "cr.models.load_model(\"" + model + "\"):predict(cr.ones { 1, 2 })";
  for (const std::string& command :
       {"-e '" + loading + "'", "convert " + model + " " + other, "verify " + model + " " + other,
        "validate " + model, std::string("-e 'cr.layers.get \"gate\"'"),
        std::string("plugins Gate"), std::string("check-plugin acme.gate")}) {
    const Outcome outcome = crescent_says(command, lua.environment());
    INFO(command << ": " << outcome.text);
    CHECK(outcome.status == 0);
  }
  const Outcome prompt_outcome =
      crescent_says("-i", "printf '%s\n' '" + loading + "' | " + lua.environment());
  CHECK_THAT(prompt_outcome.text, Contains("[[2. 2.]]"));
}

TEST_CASE("check-plugin checks the classes of a plugin in Lua, and runs it once") {
  const LuaFolder lua;
  std::ofstream(lua.folder / "all.lua") << R"(-- acme.all 0.1.0: One of each.
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
  const Outcome checked = crescent_says("check-plugin acme.all", lua.environment());
  INFO(checked.text);
  CHECK(checked.status == 1);
  CHECK_THAT(checked.text, Contains("Quartic (loss): 11 checks passed, 0 failed") &&
                               Contains("gradient by input 1") &&
                               Contains("Signs (optimizer): 7 checks passed, 0 failed") &&
                               Contains("FAILED  shapes and dtypes"));
  CHECK(checked.text.find("is run") == checked.text.rfind("is run"));
}

TEST_CASE("A plugin in Lua that is not what its first lines say is named") {
  const LuaFolder lua;
  std::ofstream(lua.folder / "bad.lua")
      << "-- acme.bad 0.1.0: Claims.\n-- provides: layer Nowhere\n";
  std::ofstream(lua.folder / "kind.lua") << "-- acme.kind 0.1.0: Wrong.\n-- provides: layr Some\n";
  std::ofstream(lua.folder / "fails.lua")
      << "-- acme.fails 0.1.0: Fails.\n-- provides: layer Failing\nerror 'no luck'\n";
  const std::pair<const char*, const char*> rows[] = {
      {"-e 'cr.layers.Nowhere()'", "plugin 'acme.bad' ("},
      {"-e 'cr.layers.Nowhere()'", "provides layer 'Nowhere', and does not define it"},
      {"-e 'cr.layers.Failing()'", "no luck"},
      {"-e 'cr.layers.get \"Failing\"'", "plugin 'acme.fails' ("},
      {"-e 'cr.plugins.load \"acme.kind\"'", "unknown kind 'layr' (did you mean 'layer'?)"},
      {"check-plugin acme.bad", "provides layer 'Nowhere', and does not define it"}};
  for (const auto& [command, message] : rows) {
    const Outcome refused = crescent_says(command, lua.environment());
    INFO(command << ": " << refused.text);
    CHECK(refused.status == 1);
    CHECK_THAT(refused.text, Contains(message) && !Contains("did you mean 'Nowhere'"));
  }
  CHECK_THAT(crescent_says("plugins acme.kind", lua.environment()).text,
             Contains("refused: unknown kind 'layr'"));
}

TEST_CASE("An error in a plugin in Lua has the lines of the plugin that led to it") {
  const LuaFolder lua;
  std::ofstream(lua.folder / "deep.lua") << R"(-- acme.deep 0.1.0: Fails.
-- provides: layer Deep
local function inner(t) return t.a.b end
local function outer(t) return 1 + inner(t) end
outer {}
)";
  std::ofstream(lua.folder / "bare.lua") << R"(-- acme.bare 0.1.0: Fails.
-- provides: layer Bare, loss Bare
local function inner() error("no luck", 0) end
inner()
)";
  std::ofstream(lua.folder / "endless.lua") << R"(-- acme.endless 0.1.0: Fails.
-- provides: layer Endless
local function more() return 1 + more() end
more()
)";
  const auto message_of = [&](const char* name) {
    return crescent_says(std::string("-e 'cr.layers.") + name + "()'", lua.environment()).text;
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
  const LuaFolder lua;
  std::ofstream(lua.folder / "rows.lua") << R"(-- acme.rows 0.1.0: Rows.
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
    return crescent_says(command, lua.environment()).text;
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
  const std::string checked = output_of("check-plugin acme.rows");
  INFO(checked);
  CHECK_THAT(checked, Contains("LuaRows (dataset): 4 checks passed, 0 failed") &&
                          Contains("TornRows (dataset)") && Contains("element 2 is"));
}

TEST_CASE("Commands about plugins say what is wrong with what they are given") {
  const Outcome outcome = crescent_says("plugins ''");
  CHECK(outcome.status == 2);
  CHECK_THAT(outcome.text, Contains("expected the name of a plugin or class, got ''"));
  CHECK_THAT(crescent_says("check-plugin losses --options '[1]'").text,
             Contains("--options: expected {\"Class\": {\"options\": {...}}}, got [1]"));
  const std::pair<const char*, const char*> rows[] = {
      {"{bad", "check-plugin: --options: JSON, line 1, column 2"},
      {R"({"Huber": 3})", "class 'Huber': expected {\"options\": {...}}, got 3"},
      {R"({"Huber": {"option": {}}})", "'option': there is no such key (did you mean 'options'?)"},
      {R"({"Huber": {"low": 0}})",
       "class 'Huber': 'low': inputs are chosen for layers; of kind loss expected only options"},
      {R"({"Huber": {"without": ["compild"]}})", "no check 'compild' (did you mean 'compiled'?)"}};
  for (const auto& [options, message] : rows)
    CHECK_THAT(crescent_says(std::string("check-plugin losses --options '") + options + "'").text,
               Contains(message));
  CHECK_THAT(
      crescent_says(R"(check-plugin core --options '{"Dense": {"low": 3}}')").text,
      Contains("check_plugin: class 'Dense': expected 'low' to be at most 'high', got 3 and 1"));
  for (const std::string command : {"manual ", "editor "}) {
    CHECK(crescent_says(command + "--nonsense").status == 2);
    CHECK_THAT(crescent_says(command + "/proc/version").text,
               Contains("cannot create the folder '/proc/version': Not a directory"));
  }
}

TEST_CASE("A folder that stands twice in the search path is searched once") {
  const LuaFolder lua;
  const std::string listing =
      crescent_says("plugins", lua.environment() + ":" + lua.folder / "../" +
                                   fs::path(lua.folder / "x").parent_path().filename().string())
          .text;
  INFO(listing);
  CHECK(listing.find("acme.gate") == listing.rfind("acme.gate"));
}

TEST_CASE("--plugin loads for scripts and for commands") {
  const LuaFolder lua;
  const std::string model = lua.folder / "m.keras", path = lua.folder / "gate.lua";
  const std::string script =
      "-e 'cr.Sequential { cr.layers.Gate { input_shape = { 2 } } }:save \"" + model + "\"'";
  REQUIRE(crescent_says("--plugin " + path + " " + script).status == 0);
  const std::string files = model + " " + model;
  CHECK(crescent_says("verify " + files).status == 1);
  const Outcome verified = crescent_says("verify " + files + " --plugin " + path);
  INFO(verified.text);
  CHECK(verified.status == 0);
  CHECK(crescent_says("--plugin " + path + " verify " + files).status == 0);
  CHECK(crescent_says("verify " + files + " --plugin").status == 2);
  CHECK(crescent_says("verify " + files + " --plugin nobody.has.it").status == 1);
}

TEST_CASE("new-plugin refuses names that no plugin can have") {
  const std::pair<const char*, const char*> rows[] = {
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
  for (const auto& [arguments, message] : rows) {
    const Outcome refused = crescent_says(std::string("new-plugin ") + arguments);
    INFO(arguments << ": " << refused.text);
    CHECK(refused.status != 0);
    CHECK_THAT(refused.text, Contains(message));
  }
  const Outcome longest = crescent_says("new-plugin " + std::string(80, 'a'));
  CHECK_THAT(longest.text, Contains("at most 63 letters, got 80"));
}

TEST_CASE("new-plugin refuses what it does not know") {
  for (const char* wrong : {"new-plugin --hlp", "new-plugin a.b --kind", "new-plugin a.b c.d",
                            "new-plugin acme.x --kind los"})
    CHECK(crescent_says(wrong).status == 2);
  CHECK_THAT(crescent_says("new-plugin acme.x --kind los").text, Contains("did you mean 'loss'"));
}

TEST_CASE("new-plugin puts the names of the plugin in the place of the example's") {
  const Folder folder;
  const std::string in_folder = "cd " + folder / "." + " &&";
  for (const char* kind : {"layer", "op", "loss", "metric", "optimizer", "callback", "format",
                           "device", "communicator", "dataset", "lua", "lua-dataset"}) {
    std::string name = std::string("own.my_") + kind;
    std::replace(name.begin(), name.end(), '-', '_');
    const Outcome created = crescent_says("new-plugin " + name + " --kind " + kind, in_folder);
    INFO(kind << ": " << created.text);
    CHECK(created.status == 0);
    CHECK_THAT(created.text,
               Contains("CRESCENT_PLUGIN_PATH=" + name) || Contains("cmake -S " + name));
    for (const fs::directory_entry& file : fs::directory_iterator(folder / name.c_str())) {
      std::ifstream in(file.path());
      const std::string text(std::istreambuf_iterator<char>(in), {});
      CHECK_THAT(text, !Contains("acme") && !Contains("using namespace"));
    }
  }
}

TEST_CASE("new-plugin prints the program by its path where the PATH leads to none or another") {
  const Folder folder;
  auto word = [&, count = 0](const std::string& path) mutable {
    const std::string name = "own.gate" + std::to_string(count++);
    const std::string text = crescent_says("new-plugin " + name + " --kind lua",
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
  CHECK(word("/nowhere") == program);
  fs::create_directory(folder / "bin");
  fs::create_symlink(program, folder / "bin/crescent");
  CHECK(word("/nowhere:" + folder / "bin") == "crescent");
  fs::create_directory(folder / "other");
  std::ofstream(folder / "other/crescent") << "another";
  CHECK(word(folder / "other" + ":" + folder / "bin") == program);
}

TEST_CASE("check-plugin keeps no file that a callback writes into the current folder") {
  const Folder folder;
  const Outcome checked = crescent_says("check-plugin callbacks", "cd " + folder / "." + " &&");
  INFO(checked.text);
  CHECK(checked.status == 0);
  CHECK_THAT(
      checked.text,
      Contains(R"(ModelCheckpoint (callback) with {"filepath": "drawn.keras"}: 2 checks passed)"));
  CHECK(folder.count() == 0);
}

TEST_CASE("check-plugin says that a class ended its process, whatever the status") {
  const Folder folder;
  std::ofstream(folder / "ends.lua") << "-- acme.ends 0.1.0: Ends.\n-- provides: layer Ends\n"
                                     << "local Ends = require('crescent').Layer:subclass 'Ends'\n"
                                     << "function Ends:call(x) os.exit(0) end\n";
  const Outcome checked =
      crescent_says("check-plugin acme.ends", "CRESCENT_PLUGIN_PATH=" + folder / ".");
  CHECK(checked.status == 1);
  CHECK_THAT(checked.text,
             Contains("plugin 'acme.ends': the check 'call' of Ends ended with exit status 0"));
}

TEST_CASE("check-plugin ends a check that does not end, and names it") {
  const Folder folder;
  std::ofstream(folder / "endless.lua")
      << "-- acme.endless 0.1.0: Does not end.\n-- provides: layer Endless\n"
      << "local Endless = require('crescent').Layer:subclass 'Endless'\n"
      << "function Endless:call(x) while true do end end\n";
  const std::string environment = "CRESCENT_PLUGIN_PATH=" + folder / ".";
  const Outcome checked = crescent_says("check-plugin acme.endless --seconds 1", environment);
  CHECK(checked.status == 1);
  CHECK_THAT(checked.text, Contains("crescent: plugin 'acme.endless': the check 'call' of Endless "
                                    "did not end within 1 seconds"));
  CHECK_THAT(crescent_says("check-plugin acme.endless --seconds 0", environment).text,
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
  const crescent::Value plugins = crescent::parse_json(crescent_says("plugins --json").text);
  for (const crescent::Value& row : plugins.as_list()) {
    const std::string name = row.as_dict().at("name").as_string();
    if (name == "cpu" || row.as_dict().at("origin").as_string() != "built-in") continue;
    const auto it = options.find(name);
    const Outcome checked = crescent_says(
        "check-plugin " + name + (it == options.end() ? "" : " --options '" + it->second + "'"));
    INFO(checked.text);
    CHECK(checked.status == 0);
    CHECK(checked.text.find("FAILED") == checked.text.npos);
  }
}

}  // namespace
