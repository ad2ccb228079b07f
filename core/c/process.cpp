// Functions that concern the whole process: versions, the warning handler, the seed, the device,
// plugins, interruption.
#include <atomic>
#include <mutex>

#include "arguments.h"
#include "crescent/base/export.h"
#include "crescent/base/strict_json.h"
#include "crescent/program/device.h"
#include "crescent/registry/loader.h"
#include "crescent/system/interrupt.h"
#include "errors.h"

namespace crescent::c {
namespace {

struct WarningHandler {
  void (*handler)(void* user, const char* text) = nullptr;
  void* user = nullptr;
};

std::mutex warning_mutex;
WarningHandler warning_handler;

void pass_warning(std::string_view text) {
  const WarningHandler warning_handler_now = [] {
    const std::lock_guard lock(warning_mutex);
    return warning_handler;
  }();
  if (warning_handler_now.handler)
    warning_handler_now.handler(warning_handler_now.user, std::string(text).c_str());
}

Value describe_option(const Field& field) {
  Dict entry{{"name", field.name}, {"doc", field.doc}, {"type", field.type}};
  if (!field.kind.empty()) entry.set("kind", field.kind);
  if (!field.choices.empty())
    entry.set("choices", List(field.choices.begin(), field.choices.end()));
  if (field.required)
    entry.set("required", true);
  else
    entry.set("default", field.default_value.is_object() ? Value(to_text(field.default_value))
                                                         : field.default_value);
  return entry;
}

Value describe(const ClassInfo& info) {
  List options;
  for (const Field& field : info.schema.fields) options.push_back(describe_option(field));
  return Dict{{"kind", info.kind},
              {"name", info.name},
              {"aliases", List(info.aliases.begin(), info.aliases.end())},
              {"plugin", info.plugin},
              {"doc", info.schema.description},
              {"options", std::move(options)}};
}

bool is_path(const std::string& text) {
  return text.find('/') != text.npos || text.ends_with(".so");
}

}  // namespace
}  // namespace crescent::c

using namespace crescent;
using namespace crescent::c;

const char* crescent_version(void) { return CRESCENT_VERSION; }

int crescent_c_version(void) { return CRESCENT_C_VERSION; }

void crescent_set_warning_handler(void (*handler)(void* user, const char* text), void* user) {
  const std::lock_guard lock(warning_mutex);
  warning_handler = {handler, user};
  set_warning_handler(handler ? &pass_warning : nullptr);
}

crescent_error* crescent_set_seed(int64_t seed) {
  return guarded(__func__, [&] { set_random_seed(seed); });
}

crescent_error* crescent_set_device(const char* name, const char* options) {
  return guarded(__func__, [&] { set_device(text_of(name, "name"), options_of(options)); });
}

crescent_error* crescent_load_plugin(const char* path_or_name) {
  return guarded(__func__, [&] {
    const std::string text = text_of(path_or_name, "path_or_name");
    is_path(text) ? load_plugin(text) : load_plugin_by_name(text);
  });
}

crescent_error* crescent_list_classes(const char* kind, char** names) {
  return guarded(__func__, [&] {
    require(names, "names");
    const std::vector<std::string> class_names = registry().names(text_of(kind, "kind"));
    *names = new_text(to_json(List(class_names.begin(), class_names.end())));
  });
}

crescent_error* crescent_describe_class(const char* kind, const char* name, char** description) {
  return guarded(__func__, [&] {
    require(description, "description");
    const auto info = registry().get(text_of(kind, "kind"), text_of(name, "name"));
    *description = new_text(to_strict_json(describe(*info)));
  });
}

crescent_error* crescent_interruption_of_thread(crescent_interruption** result) {
  return guarded(__func__, [&] {
    require(result, "result");
    const uintptr_t handle = add_handle(HandleKind::interruption, Interruption::current());
    *result = reinterpret_cast<crescent_interruption*>(handle);
  });
}

crescent_error* crescent_interruption_request(const crescent_interruption* interruption) {
  return guarded(__func__, [&] {
    require(interruption, "interruption");
    const auto interruption_object = find_handle(HandleKind::interruption, interruption);
    if (!interruption_object) fail_argument("'interruption' is none, or one that was freed");
    std::static_pointer_cast<Interruption>(interruption_object)->request();
  });
}

void crescent_interruption_free(crescent_interruption* interruption) {
  remove_handle(HandleKind::interruption, interruption);
}

void crescent_interrupt(void) { interrupt(); }
