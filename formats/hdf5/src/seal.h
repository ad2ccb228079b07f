// Seals: checksums that bind what we save to its place in the file, so that an array or a list of
// names that was lost, exchanged with another or put elsewhere is seen as surely as a changed
// number.
//
// Datasets: the attribute crescent_crc32c has the checksum of the bytes in its lower 32 bits and
// the seal in the upper ones; files from before there were seals have 0 there. Groups: the
// attribute crescent_seals has a text for the group and one for each other attribute, "1a2b3c4d
// weight_names". The root is always sealed, which says that everything else in the file is.
//
// The whole: the root's attribute crescent_contents has a text for every other object, with the
// seal of the array, "1a2b3c4d model_weights/dense/kernel", or the checksum of the group's seals,
// "1a2b3c4d model_weights/dense/". So
// what is missing, was added, or comes from another file is named; the list's own seal is the hash
// of the whole. Files from before there was such a list have none.
//
// Arrays that stay in their file are compared piece by piece: larger ones than a piece have the
// attribute crescent_pieces, the checksum of each, which together give that of the array.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>

#include "tree.h"
#include "wire.h"

namespace crescent::hdf5 {

using AttributeValue = decltype(Attribute::value);

/// As the reader process sends it.
void pack(const AttributeValue& value, Packer& packer);

/// What the attribute crescent_crc32c of an array says; never negative.
int64_t sealed_checksum(const std::string& path, Element element,
                        const std::vector<uint64_t>& shape, uint32_t of_bytes);
/// The text for one attribute of the object at `path`.
std::string attribute_seal(const std::string& path, const Attribute& attribute);
/// The first text of all, for the object itself: it names no attribute.
std::string object_seal(const std::string& path);

/// The attribute that a text of crescent_seals is about, or the object of one of crescent_contents.
inline std::string_view sealed_name(std::string_view text) {
  constexpr size_t kDigits = 8;
  return text.substr(std::min(text.size(), kDigits + 1));
}

/// The text of crescent_contents for an array, from what its crescent_crc32c says.
std::string array_entry(const std::string& path, int64_t sealed_checksum);
/// The same for a group, from its crescent_seals.
std::string group_entry(const std::string& path, const std::vector<std::string>& seals);

}  // namespace crescent::hdf5
