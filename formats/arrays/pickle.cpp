#include "pickle.h"

#include "crescent/plugin.h"
#include "crescent/system/file.h"
#include "npy.h"
#include "pickle_machine.h"

namespace crescent::arrays {
namespace {

/// Converts the objects of a pickle to values. An object with several references is copied for each
/// of them; the number of copies is limited, because a small pickle could become a huge value.
class PickleConverter {
 public:
  explicit PickleConverter(const std::string& path) : path_(path) {}

  Value value_of(const Cell& cell, int depth = 0) {
    constexpr int kMaxDepth = 32;
    constexpr int64_t kMaxValues = 100'000'000;
    if (depth > kMaxDepth || ++value_count_ > kMaxValues)
      fail("'", path_, "': a pickle of more than ", kMaxValues, " values, or nested more than ",
           kMaxDepth, " deep");
    switch (cell.kind) {
      case Cell::Kind::none:
        return {};
      case Cell::Kind::boolean:
        return cell.integer != 0;
      case Cell::Kind::integer:
        return cell.integer;
      case Cell::Kind::real:
        return cell.real;
      case Cell::Kind::object:
        return value_of(*cell.object, depth + 1);
    }
    return {};
  }

 private:
  Value value_of(const PickleObject& object, int depth) {
    switch (object.kind) {
      case PickleObject::Kind::text:
        return object.text;
      case PickleObject::Kind::list:
      case PickleObject::Kind::tuple:
        return list_of(object.cells, depth);
      case PickleObject::Kind::dict:
        return dict_of(object.cells, depth);
      case PickleObject::Kind::array:
        return object.element_type == "|O" || object.element_type == "|O8"
                   ? list_of(object.cells, depth)
                   : Value(std::make_shared<BoxedTensor>(tensor_of(object)));
      default:
        fail("'", path_, "': a name or a type stands where a value was expected");
    }
  }

  Value list_of(const std::vector<Cell>& cells, int depth) {
    List list;
    for (const Cell& cell : cells) list.push_back(value_of(cell, depth));
    return list;
  }

  Value dict_of(const std::vector<Cell>& cells, int depth) {
    Dict dict;
    for (size_t i = 0; i + 1 < cells.size(); i += 2) {
      const Value key = value_of(cells[i], depth);
      dict.set(key.is_string() ? key.as_string() : to_text(key), value_of(cells[i + 1], depth));
    }
    return dict;
  }

  /// Makes a tensor of an array, whose bytes are read as the npy file that NumPy would write.
  Tensor tensor_of(const PickleObject& array) {
    std::string dims;
    for (const int64_t dim : array.dims) dims += std::to_string(dim) + ", ";
    std::string header = concat("{'descr': '", array.element_type,
                                "', 'fortran_order': ", array.is_fortran_order ? "True" : "False",
                                ", 'shape': (", dims, "), }\n");
    const size_t length = header.size();
    std::string prefix("\x93NUMPY\x02\x00", 8);
    for (int shift = 0; shift < 32; shift += 8) prefix += static_cast<char>(length >> shift);
    return load(path_, prefix + header + array.text, npy_header);
  }

  const std::string& path_;
  int64_t value_count_ = 0;
};

}  // namespace

Value read_pickle(const std::string& path, std::string_view bytes) {
  PickleMachine machine(path, bytes);
  return PickleConverter(path).value_of(machine.run());
}

Ragged read_ragged_pickle(const std::string& path, std::string_view bytes) {
  PickleMachine machine(path, bytes);
  const Cell result = machine.run();
  std::vector<int64_t> values, lengths;
  const auto refuse = [&] { fail("'", path, "': expected lists of whole numbers"); };
  if (!result.object || result.object->cells.empty()) refuse();
  for (const Cell& list : result.object->cells) {
    if (!list.object) refuse();
    for (const Cell& item : list.object->cells) {
      if (item.kind != Cell::Kind::integer) refuse();
      values.push_back(item.integer);
    }
    lengths.push_back(static_cast<int64_t>(list.object->cells.size()));
  }
  const auto vector_shape = [](const auto& numbers) {
    return Shape{static_cast<int64_t>(numbers.size())};
  };
  return {Tensor::from(values, vector_shape(values)), Tensor::from(lengths, vector_shape(lengths))};
}

class Pickle final : public Format {
 public:
  static void describe(Schema<Pickle>& s) {
    s.doc("Python's pickles of numbers, texts, lists, dictionaries and arrays; no code is run.")
        .method("read", &Pickle::read, "What a file holds.")
        .arg("path", "Of the file.")
        .method("parse", &Pickle::parse, "What some bytes hold.")
        .arg("path", "Where they come from, for messages.")
        .arg("bytes", "A pickle.");
  }
  Value read(const std::string& path) { return read_pickle(path, read_file(path)); }
  Value parse(const std::string& path, const std::string& bytes) {
    return read_pickle(path, bytes);
  }
};

void add_pickle(Registry& registry) { registry.add<Pickle>("pickle"); }

}  // namespace crescent::arrays
