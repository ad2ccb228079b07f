// Fuzzes the HDF5 reader, including its process: for any bytes it must return the data that loading
// a model requests, or an error. The mutator prefers bytes at the beginning of HDF5 structures.
#include <sys/mman.h>
#include <unistd.h>

#include "crescent/base/error.h"
#include "file_reader.h"
#include "mutation.h"

using namespace crescent;
using namespace crescent::hdf5;

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  if (seed % 2) return LLVMFuzzerMutate(data, size, max_size);
  std::string bytes(reinterpret_cast<const char*>(data), size);
  fuzz::Mutation(seed).apply(bytes);
  size = std::min(bytes.size(), max_size);
  std::copy_n(bytes.data(), size, data);
  return size;
}

namespace {

/// Reads those members of a group that can be datasets of a model.
void read_group(FileReader& file, const std::string& group) {
  std::vector<std::string> paths;
  for (const std::string& name : file.members(group).value_or(std::vector<std::string>()))
    paths.push_back(group.empty() ? name : group + "/" + name);
  for (const std::string& path : paths) {
    try {
      const auto infos = file.describe({path});
      if (!infos[0].shape.empty() && infos[0].shape[0] > 0 && infos[0].rows_per_chunk > 0)
        file.read_rows(path, infos[0], 0, 1);
    } catch (const Error&) {
      file.texts(path, "weight_names");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const int memory = memfd_create("fuzz", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(memory);
  if (ftruncate(memory, 0) != 0 || pwrite(memory, data, size, 0) != static_cast<ssize_t>(size))
    return 0;
  try {
    FileReader file(path);
    if (const auto config = file.text("", "model_config")) parse_json(*config);
    read_group(file, "");
    read_group(file, "model_weights");
    for (const std::string& layer :
         file.texts("model_weights", "layer_names").value_or(std::vector<std::string>())) {
      std::vector<std::string> names;
      const std::string group = "model_weights/" + layer;
      for (const std::string& name :
           file.texts(group, "weight_names").value_or(std::vector<std::string>()))
        names.push_back(group + "/" + name);
      file.describe(names);
    }
  } catch (const Error&) {
  }
  return 0;
}
