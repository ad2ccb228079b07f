// Fuzzes the conversion of configurations: any JSON, taken as a model's configuration of any
// version of Keras, is converted or refused. The first byte selects the version. No model is built.
#include "crescent/base/error.h"
#include "keras/configs/config_in.h"

using namespace crescent;
using namespace crescent::keras;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool is_quiet = (set_warning_handler([](std::string_view) {}), true);
  constexpr const char* kVersions[] = {"3.15.1", "2.3.1", "2.15.0", "1"};
  if (!is_quiet || size == 0) return 0;
  try {
    const Value object = parse_json({reinterpret_cast<const char*>(data) + 1, size - 1});
    ConfigIn({kVersions[data[0] % std::size(kVersions)], ""}).model(object);
  } catch (const Error&) {
  }
  return 0;
}
