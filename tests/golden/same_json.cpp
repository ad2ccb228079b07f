#include "golden/same_json.h"

namespace crescent::golden {
namespace {

/// Keys that Keras writes although they do not describe the model or only repeat a default.
const std::set<std::string> kNotWritten = {"build_config", "compile_config", "quantization_config",
                                           "use_gate"};

/// Whether the argument of a call has its default value.
bool is_usual(const std::string& name, const Value& value) {
  return value.is_null() || (name == "training" && value == Value(false));
}

void compare(const Value& written, const Value& keras, const std::string& location,
             std::set<std::string>& found_differences);

void compare_dicts(const Dict& written, const Dict& keras, const std::string& location,
                   std::set<std::string>& found_differences) {
  for (const DictEntry& entry : keras)
    if (!written.contains(entry.key) && !is_usual(entry.key, entry.value) &&
        !kNotWritten.contains(entry.key))
      found_differences.insert(location + "/" + entry.key + " is not written");
  for (const DictEntry& entry : written) {
    if (const Value* keras_value = keras.find(entry.key))
      compare(entry.value, *keras_value, location + "/" + entry.key, found_differences);
    else if (!entry.value.is_null())
      found_differences.insert(location + "/" + entry.key + " is written");
  }
}

void compare(const Value& written, const Value& keras, const std::string& location,
             std::set<std::string>& found_differences) {
  if (written.is_list() && keras.is_list() && written.as_list().size() == keras.as_list().size()) {
    for (size_t i = 0; i < written.as_list().size(); ++i)
      compare(written.as_list()[i], keras.as_list()[i], concat(location, "/", i),
              found_differences);
  } else if (written.is_dict() && keras.is_dict()) {
    compare_dicts(written.as_dict(), keras.as_dict(), location, found_differences);
  } else if (!(written == keras)) {
    found_differences.insert(concat(location, ": ", written, " instead of ", keras));
  }
}

}  // namespace

std::set<std::string> differences(const Value& written, const Value& keras,
                                  const std::string& location) {
  std::set<std::string> found_differences;
  compare(written, keras, location, found_differences);
  return found_differences;
}

}  // namespace crescent::golden
