// The contents of an HDF5 file as plain data: groups and datasets by path.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "keras/model/own_attribute.h"

namespace crescent::hdf5 {

/// The types of elements that can be read from a file or written to one.
enum class ElementType : uint8_t {
  float32,
  float64,
  bfloat16,
  float16,
  int32,
  int64,
  uint8,
  boolean,
  int8,
  int16,
  complex64
};

struct ElementInfo {
  std::string_view name;
  uint64_t size;
};
inline constexpr ElementInfo kElements[] = {
    {"float32", 4}, {"float64", 8}, {"bfloat16", 2}, {"float16", 2}, {"int32", 4},    {"int64", 8},
    {"uint8", 1},   {"bool", 1},    {"int8", 1},     {"int16", 2},   {"complex64", 8}};
inline const ElementInfo& info(ElementType type) { return kElements[static_cast<size_t>(type)]; }

/// The size of an array in bytes; nullopt if it is 2^62 or more.
inline std::optional<uint64_t> byte_count(ElementType type, const std::vector<uint64_t>& shape) {
  uint64_t bytes = info(type).size;
  for (uint64_t dim : shape)
    if (__builtin_mul_overflow(bytes, dim, &bytes) || bytes >> 62) return std::nullopt;
  return bytes;
}

/// Replaces every byte that is not 0 by 1, because reading another byte as a bool is undefined
/// behaviour.
inline void normalize_booleans(std::byte* bytes, uint64_t size) {
  for (uint64_t i = 0; i < size; ++i) bytes[i] = std::byte{bytes[i] != std::byte{0}};
}

/// Row-major values in the byte order of this machine; `owner` keeps them alive.
struct Array {
  ElementType type = ElementType::float32;
  std::vector<uint64_t> shape;
  const void* bytes = nullptr;
  std::shared_ptr<const void> owner;
  /// Whether no value is NaN or infinite; computed only for float32 and float64 that were read from
  /// a file.
  bool is_finite = true;
};

using keras::kOwnAttribute;
/// The attributes that Crescent adds and Keras ignores. A dataset has the CRC-32C of its bytes with
/// its seal (kChecksum) and, if it is large, the CRC-32C of each piece (kPieces). A group has the
/// seals of its other attributes (kSeals), the root also those of all other objects (kContents);
/// see seal.h.
inline constexpr const char *kChecksum = "crescent_crc32c", *kPieces = "crescent_pieces",
                            *kSeals = "crescent_seals", *kContents = "crescent_contents";

struct Attribute {
  std::string name;
  std::variant<std::string, std::vector<std::string>, int64_t, double> value;
};

/// The largest number of groups and datasets in a path, for reading and writing.
inline constexpr size_t kMaxPathDepth = 1000;

/// A group, or a dataset if it has data. Paths begin at the root: "model_weights/dense_1"; "" is
/// the root.
struct Node {
  std::string path;
  std::vector<Attribute> attributes;
  std::optional<Array> data;
};
using Tree = std::vector<Node>;

}  // namespace crescent::hdf5
