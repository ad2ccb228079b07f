// Attributes of objects in an untrusted file.
#pragma once
#include <hdf5.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../src/handle.h"
#include "../src/seal.h"

namespace crescent::hdf5 {

/// The largest number of attributes of an object; callers check this limit.
inline constexpr hsize_t kMaxAttributes = 4096;

bool has_attribute(hid_t object, const std::string& name);

/// The type, space and number of elements of an attribute whose header has passed all checks.
struct OpenAttribute {
  OpenAttribute(hid_t object, const std::string& name);
  bool has_class(H5T_class_t type_class) const { return H5Tget_class(type) == type_class; }
  std::vector<std::string> texts() const;
  int64_t integer() const;
  double real() const;

  Handle id, type, space;
  bool is_null;
  std::vector<hsize_t> dims;
  uint64_t count;
};

/// The value of an attribute, or the list that Keras split into the attributes name0, name1, ...;
/// nullopt if there is none.
std::optional<AttributeValue> find_value(hid_t object, const std::string& name);

}  // namespace crescent::hdf5
