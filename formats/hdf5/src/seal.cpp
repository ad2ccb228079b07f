#include "seal.h"

#include <cstdio>

#include "files/crc32c.h"

namespace crescent::hdf5 {
namespace {

struct ValuePacker {
  Packer& packer;
  void operator()(const std::string& text) const { packer.add(AttributeKind::text).add(text); }
  void operator()(const std::vector<std::string>& texts) const {
    packer.add(AttributeKind::texts).add(static_cast<uint64_t>(texts.size()));
    for (const std::string& text : texts) packer.add(text);
  }
  void operator()(int64_t number) const { packer.add(AttributeKind::integer).add(number); }
  void operator()(double number) const { packer.add(AttributeKind::real).add(number); }
};

uint32_t checksum_of(const Packer& packer) {
  return files::crc32c(packer.bytes().data(), packer.bytes().size());
}

/// The text of a seal, that is, of a checksum that belongs to a name: the checksum, then the name
/// of the attribute or the path of the object from which it was computed, as in "1a2b3c4d kernel".
std::string seal_text(uint32_t checksum, const std::string& name) {
  char digits[9];
  std::snprintf(digits, sizeof digits, "%08x", checksum);
  return digits + (" " + name);
}

}  // namespace

void pack(const AttributeValue& value, Packer& packer) { std::visit(ValuePacker{packer}, value); }

int64_t sealed_checksum(const std::string& path, ElementType type,
                        const std::vector<uint64_t>& shape, uint32_t bytes_checksum) {
  Packer packer;
  packer.add(path).add(info(type).name);
  for (uint64_t dim : shape) packer.add(dim);
  packer.add(bytes_checksum);
  uint64_t seal = checksum_of(packer) & 0x7fffffff;
  return static_cast<int64_t>(seal << 32 | bytes_checksum);
}

std::string attribute_seal(const std::string& path, const Attribute& attribute) {
  Packer packer;
  packer.add(path).add(attribute.name);
  pack(attribute.value, packer);
  return seal_text(checksum_of(packer), attribute.name);
}

std::string object_seal(const std::string& path) {
  return attribute_seal(path, {"", std::string()});
}

std::string array_entry(const std::string& path, int64_t sealed_checksum) {
  return seal_text(static_cast<uint32_t>(sealed_checksum >> 32), path);
}

std::string group_entry(const std::string& path, const std::vector<std::string>& seals) {
  Packer packer;
  ValuePacker{packer}(seals);
  return seal_text(checksum_of(packer), path + "/");
}

}  // namespace crescent::hdf5
