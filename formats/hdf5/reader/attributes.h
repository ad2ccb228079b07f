// Attributes of objects in a file that nobody vouches for.
#pragma once
#include <hdf5.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../src/handle.h"
#include "../src/seal.h"

namespace crescent::hdf5 {

/// Objects with more are refused by who asks.
inline constexpr hsize_t kMostAttributes = 4096;

bool has_attribute(hid_t object, const std::string& name);

/// Type, space and count of an attribute, with everything checked that its header says.
struct OpenAttribute {
  OpenAttribute(hid_t object, const std::string& name);
  bool is(H5T_class_t wanted) const { return H5Tget_class(type) == wanted; }
  std::vector<std::string> texts() const;
  int64_t integer() const;
  double real() const;

  Handle id, type, space;
  bool null;
  std::vector<hsize_t> dims;
  uint64_t count;
};

/// Lists that Keras cut into pieces too; nothing when the object has no such attribute.
std::optional<AttributeValue> value_if_any(hid_t object, const std::string& name);

}  // namespace crescent::hdf5
