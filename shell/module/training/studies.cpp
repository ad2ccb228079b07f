#include "training/studies.h"

#include "classes/options.h"
#include "crescent/search/study.h"
#include "library/scripts.h"
#include "values/interruption.h"

namespace crescent::lua {
namespace {

/// Calls the function at `index` within the scope that the caller has opened; the scope is closed
/// afterwards. Returns the number of results.
int call_in_scope(lua_State* L, HyperParameters& hp, int index) {
  struct Scope {
    ~Scope() { hp.pop_scope(); }
    HyperParameters& hp;
  } scope{hp};
  lua_settop(L, index);
  protected_call(L, 0, LUA_MULTRET);
  return lua_gettop(L) - (index - 1);
}

int name_scope(lua_State* L) {
  const auto hp = Read<std::shared_ptr<HyperParameters>>::from(L, 1);
  if (!lua_isfunction(L, 3)) fail_expected(L, 3, "a function after the name");
  hp->push_name_scope(Read<std::string>::from(L, 2));
  return call_in_scope(L, *hp, 3);
}

int conditional_scope(lua_State* L) {
  const auto hp = Read<std::shared_ptr<HyperParameters>>::from(L, 1);
  if (!lua_isfunction(L, 4)) fail_expected(L, 4, "a function after the parent and its values");
  Value values = to_value(L, 3);
  List list = values.is_list() ? std::move(values.as_list()) : List{std::move(values)};
  if (hp->push_condition(Read<std::string>::from(L, 2), std::move(list)))
    return call_in_scope(L, *hp, 4);
  hp->pop_scope();
  return 0;
}

/// The text <hyperparameters: units = 32, rate = 0.1>, in which `title` is the first word.
std::string values_text(const HyperParameters& hp, const std::string& title) {
  std::vector<std::string> words;
  for (const DictEntry& entry : hp.values())
    words.push_back(
        concat(entry.key, " = ",
               entry.value.is_string() ? entry.value.as_string() : to_text(entry.value)));
  return printable(concat("<", title, words.empty() ? "" : ": ", join(words), ">"));
}

TrialPtr ask(Study& study) {
  Interruptible interruptible;
  return study.ask();
}

struct StudyPlot {
  std::string what = "history";
  std::optional<std::string> title, file;
  std::optional<int64_t> width, height;

  static void describe(Schema<StudyPlot>& s) {
    using O = StudyPlot;
    s.doc("What is drawn, and where.")
        .field("what", &O::what,
               "history: scores by trial, and the best one so far; importance: how much each "
               "hyperparameter explains; parallel: the hyperparameters of the trials side by side, "
               "the best ones last.")
        .choices({"history", "importance", "parallel"})
        .field("title", &O::title, "Above the figure.")
        .field("file", &O::file,
               "A path that ends in .svg, .png or .txt; the terminal when not given.")
        .field("width", &O::width, "In pixels; in columns at the terminal.")
        .min(1)
        .field("height", &O::height, "In pixels; in lines at the terminal.")
        .min(1);
  }
};

int plot_study(lua_State* L) {
  const SchemaData& schema = schema_of<StudyPlot>("plot");
  StudyPlot options;
  schema.configure(&options, options_from(L, 2, schema));
  lua_settop(L, 1);
  push_value(L, Value(schema.read(&options)));
  return call_script_method(L, "study.plot");
}

int optimize(lua_State* L) {
  Read<std::shared_ptr<Study>>::from(L, 1);
  if (!lua_isfunction(L, 2)) fail_expected(L, 2, "a function of a trial");
  return call_script_method(L, "study.optimize");
}

int open_study(lua_State* L) {
  push(L, Study::open(options_from(L, 1, Study::options_schema())));
  return 1;
}

}  // namespace

void add_study_types(ObjectTypes& types, const HandleType& object) {
  HandleType& hp = add_type<HyperParameters>(types, "hyperparameters", &object);
  hp.raw_method("name_scope -> what the function gives", name_scope,
                {"name: a string", "body: a function"},
                "Calls a function; names of hyperparameters within begin with this one and \"/\".")
      .raw_method("conditional_scope -> what the function gives", conditional_scope,
                  {"parent_name: a string", "parent_values: a list of values", "body: a function"},
                  "Calls a function where a hyperparameter has one of these values; those within "
                  "exist only there.")
      .meta("__tostring",
            bound("tostring",
                  [](HyperParameters& values) { return values_text(values, "hyperparameters"); },
                  {"hyperparameters"}));
  add_type<Trial>(types, "trial", &hp)
      .meta("__tostring",
            bound("tostring",
                  [](Trial& trial) { return values_text(trial, concat("trial ", trial.number())); },
                  {"trial"}));
  add_type<Study>(types, "study", &object)
      .method("ask -> a trial or nil", &ask, {},
              "The next trial, first of all one whose process was killed; nil when all have ended. "
              "Waits for results of other processes that the choice counts on.")
      .raw_method("plot -> a path, or nothing", plot_study, {"options: a table with names=nil"},
                  "Draws how the search went, at the terminal or into a file.",
                  &schema_of<StudyPlot>("plot"))
      .raw_method("optimize -> nothing", optimize,
                  {"objective: a function", "n_trials: an integer=nil"},
                  "Calls a function for each trial, which returns its score, or nothing of a trial "
                  "that is pruned; for so many trials, or until all have ended.")
      .meta("__tostring",
            bound("tostring", [](Study& study) { return study.table(10); }, {"study"}));
}

const std::vector<CallablePtr>& study_functions() {
  static const std::vector<CallablePtr> functions = [] {
    std::vector<CallablePtr> callables;
    callables.push_back(
        raw("Study -> a study", open_study, {"options: a table with names=nil"},
            "A search by hand: ask gives a trial, whose values are asked for by name, and "
            "tell takes its score. It opens the journal or begins one.",
            &Study::options_schema()));
    callables.push_back(bound(
        "HyperParameters -> the hyperparameters",
        [] { return std::make_shared<HyperParameters>(); }, {},
        "Hyperparameters without a search, which have their defaults: to be given to a search, or "
        "to call a function that builds a model."));
    return callables;
  }();
  return functions;
}

}  // namespace crescent::lua
