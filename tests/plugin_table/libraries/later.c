// A plugin built against a later header: its structs have members that this host does not know, and
// it asks for functions that the host may not have.
#include "common.h"

typedef struct {
  crescent_layer_class known;
  void (*later)(void);
} LaterLayerClass;
static const LaterLayerClass layer = {
    .known = {.struct_size = sizeof(LaterLayerClass), .name = "TableLater", .call = pass_on}};
static const crescent_layer_class* const layers[] = {&layer.known};

typedef struct {
  crescent_plugin known;
  const void* later[4];
} LaterPlugin;

static crescent_error* start_later(const crescent_host* given) {
  host = given;
  if (!CRESCENT_HOST_HAS(host, extension)) return host->error_new("this host is too old");
  if (host->extension("crescent.dreams") != NULL) return host->error_new("a dream came true");
  return NULL;
}

__attribute__((visibility("default"), used, section(CRESCENT_TABLE_SECTION)))
const LaterPlugin crescent_plugin_table = {.known = {CRESCENT_TABLE_MAGIC, sizeof(LaterPlugin),
                                                     CRESCENT_TABLE_VERSION, "table.later", "9.0.0",
                                                     start_later, layers, 1, NULL, 0, NULL}};
