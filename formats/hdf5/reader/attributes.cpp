#include "attributes.h"

#include <algorithm>

#include "refusal.h"

namespace crescent::hdf5 {
namespace {

constexpr uint64_t kMaxAttributeBytes = uint64_t{64} << 20;
constexpr uint64_t kMaxTexts = uint64_t{1} << 20;

std::string trimmed(const char* text, size_t size, H5T_str_t padding) {
  size = std::find(text, text + size, '\0') - text;
  while (padding == H5T_STR_SPACEPAD && size > 0 && text[size - 1] == ' ') --size;
  return {text, size};
}

std::vector<std::string> fixed_texts(hid_t attribute, hid_t type, uint64_t count) {
  uint64_t width = H5Tget_size(type), total_bytes = 0;
  if (__builtin_mul_overflow(width, count, &total_bytes) || total_bytes > kMaxAttributeBytes)
    refuse("it is impossibly large");
  std::vector<char> bytes(total_bytes);
  check(H5Aread(attribute, type, bytes.data()));
  std::vector<std::string> texts;
  for (uint64_t i = 0; i < count; ++i)
    texts.push_back(trimmed(bytes.data() + i * width, width, H5Tget_strpad(type)));
  return texts;
}

std::vector<std::string> variable_texts(hid_t attribute, hid_t type, hid_t space, uint64_t count) {
  std::vector<char*> pointers(count);
  check(H5Aread(attribute, type, pointers.data()));
  std::vector<std::string> texts;
  for (const char* text : pointers) texts.emplace_back(text ? text : "");
  H5Dvlen_reclaim(type, space, H5P_DEFAULT, pointers.data());
  return texts;
}

std::vector<std::string> texts_of(hid_t attribute, hid_t type, hid_t space, uint64_t count) {
  htri_t is_variable = H5Tis_variable_str(type);
  check(is_variable);
  return is_variable ? variable_texts(attribute, type, space, count)
                     : fixed_texts(attribute, type, count);
}

AttributeValue value_of(const OpenAttribute& attribute) {
  bool is_list = !attribute.dims.empty();
  if (attribute.has_class(H5T_STRING) && !is_list) {
    auto texts = attribute.texts();
    return texts.empty() ? "" : texts.front();
  }
  if (is_list && (attribute.has_class(H5T_STRING) || attribute.count == 0))
    // For an empty list of texts h5py writes an array of float64 without elements.
    return attribute.texts();
  if (!is_list && attribute.has_class(H5T_INTEGER)) return attribute.integer();
  if (!is_list && attribute.has_class(H5T_FLOAT)) return attribute.real();
  refuse("expected a text, a list of texts or a number");
}

/// The texts in the attributes name0, name1, ..., into which Keras splits a list of more than 64
/// KB.
std::vector<std::string> numbered_texts(hid_t object, const std::string& name) {
  std::vector<std::string> texts;
  for (hsize_t i = 0; i < kMaxAttributes && has_attribute(object, name + std::to_string(i)); ++i) {
    OpenAttribute piece(object, name + std::to_string(i));
    if (!piece.has_class(H5T_STRING)) refuse("expected a list of texts");
    for (std::string& text : piece.texts()) texts.push_back(std::move(text));
    if (texts.size() > kMaxTexts) refuse("it is larger than any attribute of a model");
  }
  return texts;
}

}  // namespace

bool has_attribute(hid_t object, const std::string& name) {
  htri_t exists = H5Aexists(object, name.c_str());
  check(exists);
  return exists > 0;
}

OpenAttribute::OpenAttribute(hid_t object, const std::string& name)
    : id(checked_handle(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose)),
      type(checked_handle(H5Aget_type(id), H5Tclose)),
      space(checked_handle(H5Aget_space(id), H5Sclose)),
      is_null(H5Sget_simple_extent_type(space) == H5S_NULL),
      dims(is_null ? std::vector<hsize_t>{} : dims_of(space)),
      count(is_null ? 0 : element_count(dims)) {
  if (dims.size() > 1 || count > kMaxTexts || H5Aget_storage_size(id) > kMaxAttributeBytes)
    refuse("it is larger than any attribute of a model");
}

std::vector<std::string> OpenAttribute::texts() const {
  return count == 0 ? std::vector<std::string>{} : texts_of(id, type, space, count);
}

int64_t OpenAttribute::integer() const {
  int64_t number = 0;
  check(H5Aread(id, H5T_NATIVE_INT64, &number));
  return number;
}

double OpenAttribute::real() const {
  double number = 0;
  check(H5Aread(id, H5T_NATIVE_DOUBLE, &number));
  return number;
}

std::optional<AttributeValue> find_value(hid_t object, const std::string& name) {
  if (has_attribute(object, name)) return value_of(OpenAttribute(object, name));
  auto pieces = numbered_texts(object, name);
  if (pieces.empty()) return std::nullopt;
  return pieces;
}

}  // namespace crescent::hdf5
