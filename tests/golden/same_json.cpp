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

void compare(const Value& ours, const Value& keras, const std::string& place,
             std::set<std::string>& found);

void compare_dicts(const Dict& ours, const Dict& keras, const std::string& place,
                   std::set<std::string>& found) {
  for (const DictEntry& entry : keras)
    if (!ours.contains(entry.key) && !is_usual(entry.key, entry.value) &&
        !kNotWritten.contains(entry.key))
      found.insert(place + "/" + entry.key + " is not written");
  for (const DictEntry& entry : ours) {
    if (const Value* theirs = keras.find(entry.key))
      compare(entry.value, *theirs, place + "/" + entry.key, found);
    else if (!entry.value.is_null())
      found.insert(place + "/" + entry.key + " is written");
  }
}

void compare(const Value& ours, const Value& keras, const std::string& place,
             std::set<std::string>& found) {
  if (ours.is_list() && keras.is_list() && ours.as_list().size() == keras.as_list().size()) {
    for (size_t i = 0; i < ours.as_list().size(); ++i)
      compare(ours.as_list()[i], keras.as_list()[i], concat(place, "/", i), found);
  } else if (ours.is_dict() && keras.is_dict()) {
    compare_dicts(ours.as_dict(), keras.as_dict(), place, found);
  } else if (!(ours == keras)) {
    found.insert(concat(place, ": ", ours, " instead of ", keras));
  }
}

}  // namespace

std::set<std::string> differences(const Value& ours, const Value& keras, const std::string& place) {
  std::set<std::string> found;
  compare(ours, keras, place, found);
  return found;
}

}  // namespace crescent::golden
