#include <dlfcn.h>
#include <sys/stat.h>

#include "../samples/sample.h"

CRESCENT_PLUGIN("bad.changes", "1.0.0") {
  registry.add<Sample>("Changes");
  Dl_info info{};
  if (dladdr(&crescent_plugin, &info)) chmod(info.dli_fname, S_IRWXU);
}
