// A writer of protobuf: a message is the sequence of its fields, each with its number.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace crescent::onnx {

class Message {
 public:
  Message& integer(int field, int64_t value);
  Message& real(int field, float value);
  /// Adds a text, bytes or a nested message, which have the same form.
  Message& text(int field, std::string_view bytes);
  Message& message(int field, const Message& nested_message) {
    return text(field, nested_message.bytes_);
  }
  Message& integers(int field, std::span<const int64_t> values);
  const std::string& bytes() const { return bytes_; }

 private:
  void write_varint(uint64_t value);
  void write_tag(int field, int wire_type);

  std::string bytes_;
};

}  // namespace crescent::onnx
