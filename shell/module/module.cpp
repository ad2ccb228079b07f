#include "module.h"

#include <mutex>

#include "background/used_objects.h"
#include "classes/building.h"
#include "classes/lambda_callbacks.h"
#include "classes/lambda_layer.h"
#include "classes/lua_class.h"
#include "crescent/base/export.h"
#include "data/datasets.h"
#include "data/from_directory.h"
#include "data/known_datasets.h"
#include "host/late_classes.h"
#include "images/functions.h"
#include "instances/roots.h"
#include "library/libraries.h"
#include "library/lua_plugins.h"
#include "library/namespaces.h"
#include "library/reflection.h"
#include "library/scripts.h"
#include "listing.h"
#include "lua/state_lock.h"
#include "models/checks.h"
#include "models/graph.h"
#include "models/layers.h"
#include "models/merge_functions.h"
#include "models/models.h"
#include "tensors/gradient.h"
#include "tensors/ops.h"
#include "tensors/tensors.h"
#include "training/async_runs.h"
#include "training/studies.h"
#include "training/training.h"
#include "training/training_runs.h"
#include "values/collector.h"
#include "values/modules.h"
#include "workers/worker_state.h"

namespace crescent::lua {
namespace {

void set_functions(lua_State* L, const std::vector<CallablePtr>& functions) {
  for (const CallablePtr& f : functions) {
    push_callable(L, *f);
    lua_setfield(L, -2, f->name().c_str());
  }
}

void set_library(lua_State* L, const char* name, const std::vector<CallablePtr>& functions) {
  lua_createtable(L, 0, static_cast<int>(functions.size()));
  set_functions(L, functions);
  lua_setfield(L, -2, name);
}

/// Registers the types of objects in the process; each Lua state makes their metatables when they
/// are first needed.
void fill_object_types() {
  ObjectTypes& types = object_types();
  const HandleType& object = add_object_type(types);
  add_model_types(types, add_layer_type(types, object));
  add_training_types(types, object);
  add_gradient_types(types, object);
  add_random_types(types, object);
  add_run_types(types, object);
  add_study_types(types, object);
  add_async_runs(types, object);
  add_dataset_type(types, object);
}

/// Initializes the data that all Lua states share. It must be complete before Lua states of worker
/// threads are opened, since these threads read it.
void initialize_process() {
  add_classes_late(register_lambda_layer);
  add_classes_late(register_lambda_callbacks);
  fill_object_types();
  enable_lua_plugins();
  set_object_hooks({initialize_handle, make_root, uses_variable, uses_object});
  watch_tensor_memory(update_roots);
}

void create_types(lua_State* L) {
  tensor_type().create(L, handle_key<Tensor>(), close_handle<Tensor>);
  variable_type().create(L, handle_key<Variable>(), close_handle<Variable>);
  symbol_type().create(L, handle_key<Symbol>(), close_handle<Symbol>);
  node_type().create(L, handle_key<NodePtr>(), close_handle<NodePtr>);
  input_spec_type().create(L, handle_key<InputSpec>(), close_handle<InputSpec>);
  class_type().create(L, handle_key<ClassPtr>(), close_handle<ClassPtr>);
}

/// Adds cr.Sequential and the other callable classes of models.
void set_models(lua_State* L) {
  static const CallablePtr sequential = raw(
      "Sequential -> a model",
      [](lua_State* state) {
        lua_pushnil(state);
        lua_insert(state, 1);
        return make_sequential(state);
      },
      {"layers: a list of layers=nil", "name: a string=nil"}, "A linear stack of layers.");
  push_base_class(L, "Layer");
  lua_setfield(L, -2, "Layer");
  push_base_class(L, "Model");
  lua_setfield(L, -2, "Model");
  push_callable(L, *sequential);
  lua_setfield(L, -2, "Sequential");
  set_library(L, "models", model_functions());
  push_field(L, -1, "models");
  for (const char* name : {"Model", "Sequential"}) {
    push_field(L, -2, name);
    lua_setfield(L, -2, name);
  }
  push_field(L, -2, "Input");
  lua_setfield(L, -2, "Input");
  lua_pop(L, 1);
}

/// Adds the functions cr.datasets.mnist.load_data, ...
void set_datasets(lua_State* L) {
  lua_newtable(L);
  for (const KnownDataset& dataset : known_datasets())
    set_library(L, dataset.name, dataset.functions);
  lua_setfield(L, -2, "datasets");
}

/// Adds cr.data.Dataset, also under the names that Keras has for it: cr.utils.PyDataset and
/// cr.utils.Sequence.
void set_dataset_class(lua_State* L) {
  push_base_class(L, "Dataset");
  push_field(L, -2, "data");
  lua_pushvalue(L, -2);
  lua_setfield(L, -2, "Dataset");
  push_field(L, -3, "utils");
  for (const char* name : {"PyDataset", "Sequence"}) {
    lua_pushvalue(L, -3);
    lua_setfield(L, -2, name);
  }
  lua_pop(L, 3);
}

/// Adds cr.saving.Format.
void set_format_class(lua_State* L) {
  push_field(L, -1, "saving");
  push_base_class(L, "Format");
  lua_setfield(L, -2, "Format");
  lua_pop(L, 1);
}

/// Adds the utilities for data. As in Keras, those for images are in two tables.
void set_data_utilities(lua_State* L) {
  static const std::vector<CallablePtr> functions = image_functions(),
                                        datasets = dataset_utilities();
  push_field(L, -1, "utils");
  set_functions(L, functions);
  set_functions(L, datasets);
  lua_pop(L, 1);
  lua_newtable(L);
  set_library(L, "image", functions);
  lua_setfield(L, -2, "preprocessing");
}

int open(lua_State* L) {
  reserve(L, 20);
  static const CallablePtr clear = bound(
      "clear_session",
      [] {
        // a step that computes in the background uses the memory
        StateLock::instance().await_batch_end();
        clear_session();
      },
      {}, "Restarts the numbering of layer names and frees compiled programs and unused memory.");
  static std::once_flag process_flag;
  std::call_once(process_flag, initialize_process);
  watch_collector(L);
  create_types(L);
  lua_newtable(L);
  set_functions(L, tensor_functions());
  set_functions(L, graph_functions());
  set_functions(L, async_functions());
  set_functions(L, gradient_functions());
  set_ops(L);
  set_library(L, "random", random_functions());
  set_library(L, "config", config_functions());
  set_library(L, "data", data_functions());
  set_library(L, "utils", utils_functions());
  set_data_utilities(L);
  set_dataset_class(L);
  set_datasets(L);
  set_library(L, "plugins", plugins_functions());
  set_library(L, "check", check_functions());
  set_library(L, "tuners", study_functions());
  set_models(L);
  set_namespaces(L);
  push_field(L, -1, "layers");
  for (const char* name : {"Input", "InputSpec"}) {
    push_field(L, -2, name);
    lua_setfield(L, -2, name);
  }
  set_merge_functions(L);
  lua_pop(L, 1);
  push_callable(L, *clear);
  lua_setfield(L, -2, "clear_session");
  lua_pushlightuserdata(L, nullptr);
  lua_setfield(L, -2, "null");
  push(L, CRESCENT_VERSION);
  lua_setfield(L, -2, "_VERSION");
  set_reflection(L);
  set_listing(L);
  run_scripts(L);
  set_format_class(L);
  record_paths_of_modules(L);
  watch_cycles(L);
  return 1;
}

}  // namespace
}  // namespace crescent::lua

extern "C" int luaopen_crescent(lua_State* L) {
  using namespace crescent::lua;
  static const CallablePtr callable = raw("crescent", open);
  lua_settop(L, 0);
  open_host(L);
  set_opener(luaopen_crescent);
  return finish(L, run(L, *callable));
}
