// The records of a zip archive (PKWARE APPNOTE 6.3): their signatures and lengths, and readers and
// writers of their numbers, which are little-endian and unaligned.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace crescent::zip {

inline constexpr uint32_t kLocalSignature = 0x04034b50, kEntrySignature = 0x02014b50,
                          kEndSignature = 0x06054b50, kEnd64Signature = 0x06064b50,
                          kLocatorSignature = 0x07064b50;
inline constexpr uint64_t kLocalLength = 30, kEntryLength = 46, kEndLength = 22, kEnd64Length = 56,
                          kLocatorLength = 20;
/// The value of a 32-bit or 16-bit field (kInZip64Extra16) whose number does not fit into the field
/// and is in the zip64 extra field instead.
inline constexpr uint32_t kInZip64Extra = 0xffffffff;
inline constexpr uint16_t kInZip64Extra16 = 0xffff;
inline constexpr uint16_t kZip64Extra = 1;
inline constexpr uint16_t kStored = 0, kDeflated = 8;

/// Reads numbers from the front of a record. Reading past its end returns zero and sets `ok` to
/// false.
struct FieldReader {
  std::string_view remaining;
  bool ok = true;

  template <class T>
  T number() {
    T value{};
    const std::string_view bytes = text(sizeof value);
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }
  std::string_view text(size_t byte_count) {
    if (byte_count > remaining.size()) ok = false, byte_count = 0;
    const std::string_view bytes_read = remaining.substr(0, byte_count);
    remaining.remove_prefix(byte_count);
    return bytes_read;
  }
};

/// Appends numbers to a record.
struct Record {
  std::string bytes;

  template <class T>
  Record& add(T value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
};

}  // namespace crescent::zip
