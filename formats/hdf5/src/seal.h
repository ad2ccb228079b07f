// Seals are checksums that bind an object to its path in the file, so a missing, exchanged or moved
// array or list of names is detected as surely as a changed number.
//
// Datasets: the attribute crescent_crc32c has the checksum of the bytes in its lower 32 bits and
// the seal in the upper ones, or 0 in files of versions without seals. Groups: the attribute
// crescent_seals has a text for the group and one for each other attribute, "1a2b3c4d
// weight_names". If the root has seals, all other objects must have some.
//
// File: the attribute crescent_contents of the root has a text for every other object, with the
// seal of the array, "1a2b3c4d model_weights/dense/kernel", or the checksum of the seals of the
// group, "1a2b3c4d model_weights/dense/". So errors can name an object that is missing, was added
// or comes from another file. The seal of this list covers the file as a whole. Files of earlier
// versions have no such list.
//
// Pieces: arrays that are larger than a piece have the attribute crescent_pieces with the checksum
// of each piece, by which arrays that stay in their file are checked when they are read. Together
// these checksums give that of the array.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>

#include "tree.h"
#include "wire.h"

namespace crescent::hdf5 {

using AttributeValue = decltype(Attribute::value);

/// Packs a value in the form in which the reader process sends it.
void pack(const AttributeValue& value, Packer& packer);

/// The value of the attribute crescent_crc32c of an array: the checksum of the values in the lower
/// 32 bits, the seal in the upper bits. It is never negative.
int64_t sealed_checksum(const std::string& path, ElementType type,
                        const std::vector<uint64_t>& shape, uint32_t bytes_checksum);
/// The seal (checksum) of the path of an object and of the name and value of one of its attributes,
/// as a text of the list crescent_seals.
std::string attribute_seal(const std::string& path, const Attribute& attribute);
/// The seal (checksum) of the path of an object alone: the first text of the list crescent_seals.
/// It names no attribute.
std::string object_seal(const std::string& path);

/// The name that a text such as "1a2b3c4d weight_names" contains after the checksum: in the
/// attribute crescent_seals the name of an attribute, in crescent_contents the path of an object.
inline std::string_view sealed_name(std::string_view text) {
  constexpr size_t kDigits = 8;
  return text.substr(std::min(text.size(), kDigits + 1));
}

/// The text in the list crescent_contents for an array; `sealed_checksum` is the value of the
/// array's attribute crescent_crc32c.
std::string array_entry(const std::string& path, int64_t sealed_checksum);
/// The text in the list crescent_contents for a group; `seals` is the group's attribute
/// crescent_seals.
std::string group_entry(const std::string& path, const std::vector<std::string>& seals);

}  // namespace crescent::hdf5
