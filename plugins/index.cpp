// crescent-index FOLDER writes FOLDER/index.json for the plugins in the folder; the build runs it.
#include <cstdio>
#include <exception>

#include "crescent/registry/loader.h"

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fprintf(stderr, "usage: crescent-index FOLDER\n");
    return 2;
  }
  crescent::write_plugin_index(argv[1]);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "crescent-index: %s\n", error.what());
  return 1;
}
