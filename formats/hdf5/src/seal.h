// Seals: checksums that bind what we save to its place in the file, so that an array or a list of
// names that was lost, exchanged with another or put elsewhere is seen as surely as a changed
// number.
//
// Datasets: the attribute crescent_crc32c has the checksum of the bytes in its lower 32 bits and
// the seal in the upper ones; files from before there were seals have 0 there. Groups: the
// attribute crescent_seals has a text for the group and one for each other attribute, "1a2b3c4d
// weight_names". The root is always sealed, which says that everything else in the file is.
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

/// The attribute that a text of crescent_seals is about.
inline std::string_view sealed_name(std::string_view text) {
  constexpr size_t kDigits = 8;
  return text.substr(std::min(text.size(), kDigits + 1));
}

}  // namespace crescent::hdf5
