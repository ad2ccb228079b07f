// Fuzzes the reader of zip archives: for any bytes it must return members or an error.
#include <cstring>

#include "files/zip/archive.h"

using namespace crescent::zip;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint64_t kMaxMemberBytes = 1 << 20;
  try {
    const Archive archive(size, [&](uint64_t offset, std::span<std::byte> target) {
      if (offset > size || target.size() > size - offset) __builtin_trap();
      std::memcpy(target.data(), data + offset, target.size());
    });
    for (const Member& listed_member : archive.members()) {
      const Member* member = archive.find(listed_member.name);
      if (!member || member->size > kMaxMemberBytes) continue;
      try {
        archive.text(*member);
        archive.check(*member);
      } catch (const ArchiveError&) {
      }
    }
  } catch (const ArchiveError&) {
  }
  return 0;
}
