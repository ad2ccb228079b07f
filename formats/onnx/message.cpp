#include "message.h"

#include <bit>

namespace crescent::onnx {
namespace {

constexpr int kVarint = 0, kLengthDelimited = 2, kFixed32 = 5;

}  // namespace

Message& Message::integer(int field, int64_t value) {
  write_tag(field, kVarint);
  write_varint(static_cast<uint64_t>(value));
  return *this;
}

Message& Message::real(int field, float value) {
  write_tag(field, kFixed32);
  const auto bits = std::bit_cast<uint32_t>(value);
  for (int shift = 0; shift < 32; shift += 8) bytes_ += static_cast<char>(bits >> shift & 0xff);
  return *this;
}

Message& Message::text(int field, std::string_view bytes) {
  write_tag(field, kLengthDelimited);
  write_varint(bytes.size());
  bytes_ += bytes;
  return *this;
}

Message& Message::integers(int field, std::span<const int64_t> values) {
  for (int64_t value : values) integer(field, value);
  return *this;
}

/// Writes seven bits per byte, the lowest first; the eighth bit says that more bytes follow.
void Message::write_varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7f) | 0x80);
  bytes_ += static_cast<char>(value);
}

void Message::write_tag(int field, int wire_type) {
  write_varint(static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(wire_type));
}

}  // namespace crescent::onnx
