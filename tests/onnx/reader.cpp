#include "reader.h"

#include <cstring>
#include <functional>
#include <string_view>

#include "crescent/base/error.h"
#include "crescent/system/file.h"

namespace crescent::onnx_test {
namespace {

struct Field {
  int number;
  uint64_t integer;       ///< value of a varint or fixed32 field
  std::string_view text;  ///< value of a length-delimited field
};

uint64_t varint(std::string_view& bytes) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (bytes.empty()) fail("a number ends too early");
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  fail("a number of more than 10 bytes");
}

std::string_view take_bytes(std::string_view& bytes, uint64_t count) {
  if (count > bytes.size()) fail("a field of ", count, " bytes goes beyond its message");
  const std::string_view part = bytes.substr(0, count);
  bytes.remove_prefix(count);
  return part;
}

using Reader = std::function<void(const Field&)>;

void for_each_field(std::string_view bytes, const Reader& read) {
  while (!bytes.empty()) {
    const uint64_t tag = varint(bytes);
    Field field{static_cast<int>(tag >> 3), 0, {}};
    const uint64_t wire_type = tag & 7;
    if (wire_type == 0) {
      field.integer = varint(bytes);
    } else if (wire_type == 2) {
      field.text = take_bytes(bytes, varint(bytes));
    } else if (wire_type == 5) {
      std::memcpy(&field.integer, take_bytes(bytes, 4).data(), 4);
    } else {
      fail("wire type ", wire_type);
    }
    read(field);
  }
}

[[noreturn]] void unknown(const char* message, const Field& field) {
  fail("unknown field ", field.number, " of ", message);
}

Graph graph_in(std::string_view bytes);

std::pair<std::string, Attribute> attribute_in(std::string_view bytes) {
  std::string name;
  Attribute value;
  for_each_field(bytes, [&](const Field& f) {
    const auto number = static_cast<int64_t>(f.integer);
    if (f.number == 1)
      name = f.text;
    else if (f.number == 2)
      std::memcpy(&value.real, &f.integer, 4);
    else if (f.number == 3)
      value.integer = number;
    else if (f.number == 6)
      value.graph = std::make_shared<Graph>(graph_in(f.text));
    else if (f.number == 8)
      value.integers.push_back(number);
    else if (f.number != 20)
      unknown("an attribute", f);
  });
  return {name, value};
}

Node node_in(std::string_view bytes) {
  Node node;
  for_each_field(bytes, [&](const Field& f) {
    if (f.number == 1)
      node.inputs.emplace_back(f.text);
    else if (f.number == 2)
      node.outputs.emplace_back(f.text);
    else if (f.number == 4)
      node.type = f.text;
    else if (f.number == 5)
      node.attributes.insert(attribute_in(f.text));
    else if (f.number != 3)
      unknown("a node", f);
  });
  return node;
}

std::pair<std::string, Tensor> tensor_in(std::string_view bytes) {
  std::string name;
  std::vector<int64_t> dims;
  int64_t type = 0;
  std::string_view raw;
  for_each_field(bytes, [&](const Field& f) {
    if (f.number == 1)
      dims.push_back(static_cast<int64_t>(f.integer));
    else if (f.number == 2)
      type = static_cast<int64_t>(f.integer);
    else if (f.number == 8)
      name = f.text;
    else if (f.number == 9)
      raw = f.text;
    else
      unknown("a tensor", f);
  });
  return {name, Tensor::from_bytes(raw.data(), raw.size(), {dtype_numbered(type), Shape(dims)})};
}

/// Reads a ValueInfo type: a tensor type (field 1) with element type (1) and shape (2) of dims (1).
ValueInfo value_info_in(std::string_view bytes) {
  ValueInfo info;
  const Reader dim = [&](const Field& f) {
    info.dims.push_back(f.number == 1 ? std::to_string(f.integer) : std::string(f.text));
  };
  const Reader shape = [&](const Field& f) { for_each_field(f.text, dim); };
  const Reader tensor = [&](const Field& f) {
    if (f.number == 1)
      info.dtype = dtype_numbered(static_cast<int64_t>(f.integer));
    else
      for_each_field(f.text, shape);
  };
  const Reader type = [&](const Field& f) { for_each_field(f.text, tensor); };
  for_each_field(bytes, [&](const Field& f) {
    if (f.number == 1)
      info.name = f.text;
    else
      for_each_field(f.text, type);
  });
  return info;
}

Graph graph_in(std::string_view bytes) {
  Graph graph;
  for_each_field(bytes, [&](const Field& f) {
    if (f.number == 1)
      graph.nodes.push_back(node_in(f.text));
    else if (f.number == 5 && !graph.constants.insert(tensor_in(f.text)).second)
      fail("two constants of one name");
    else if (f.number == 11)
      graph.inputs.push_back(value_info_in(f.text));
    else if (f.number == 12)
      graph.outputs.push_back(value_info_in(f.text));
    else if (f.number != 2 && f.number != 5)
      unknown("a graph", f);
  });
  return graph;
}

}  // namespace

int64_t Node::integer(const std::string& name, int64_t default_value) const {
  const auto it = attributes.find(name);
  return it == attributes.end() ? default_value : it->second.integer;
}

std::vector<int64_t> Node::integers(const std::string& name,
                                    std::vector<int64_t> default_value) const {
  const auto it = attributes.find(name);
  return it == attributes.end() ? default_value : it->second.integers;
}

DType dtype_numbered(int64_t number) {
  const std::map<int64_t, DType> types{
      {1, DType::float32}, {2, DType::uint8},    {6, DType::int32},    {7, DType::int64},
      {9, DType::boolean}, {10, DType::float16}, {11, DType::float64}, {16, DType::bfloat16}};
  const auto it = types.find(number);
  if (it == types.end()) fail("no type of elements has the number ", number);
  return it->second;
}

File read_onnx(const std::string& path) {
  const std::string bytes = read_file(path);
  File file;
  const Reader opset = [&](const Field& f) {
    if (f.number == 2) file.opset = static_cast<int64_t>(f.integer);
  };
  for_each_field(bytes, [&](const Field& f) {
    if (f.number == 1)
      file.ir_version = static_cast<int64_t>(f.integer);
    else if (f.number == 7)
      file.graph = graph_in(f.text);
    else if (f.number == 8)
      for_each_field(f.text, opset);
    else if (f.number != 2 && f.number != 3)
      unknown("a model", f);
  });
  return file;
}

}  // namespace crescent::onnx_test
