// The virtual machine that executes a Python pickle: a stack, a memory, and opcodes that make
// objects.
#pragma once
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "crescent/base/error.h"

namespace crescent::arrays {

struct PickleObject;

/// A value on the stack: a number, or a reference to an object, which may have several references.
struct Cell {
  enum class Kind : uint8_t { none, boolean, integer, real, object } kind = Kind::none;
  int64_t integer = 0;
  double real = 0;
  PickleObject* object = nullptr;  ///< the object, which the machine owns
};

/// An object that the pickle makes; `kind` determines which members are used.
struct PickleObject {
  enum class Kind { text, list, tuple, dict, name, dtype, array } kind;
  std::string text;  ///< a text; "module name" of a global; "f8" of a dtype; the values of an array
  /// the items of a list, the alternating keys and values of a dictionary, or the elements of an
  /// array of Python objects
  std::vector<Cell> cells;
  std::vector<int64_t> dims;  ///< the shape of an array
  std::string element_type;   ///< the type of elements of an array: "<f8"
  bool is_fortran_order = false;
};

class PickleMachine {
 public:
  PickleMachine(const std::string& path, std::string_view bytes) : path_(path), bytes_(bytes) {}
  /// Executes the opcodes of the pickle. Returns the top of the stack, which is valid while this
  /// object exists. Fails, naming the offset, unless the pickle contains only plain objects.
  Cell run();

 private:
  template <class... Pieces>
  [[noreturn]] void refuse(const Pieces&... pieces) const {
    fail("'", path_, "' offset ", offset_, ": ", pieces...);
  }
  std::string_view read_bytes(uint64_t count);
  uint64_t read_integer(size_t bytes);  ///< reads a little-endian integer of `bytes` bytes
  std::string_view read_line();
  Cell pop();
  PickleObject& top_object(PickleObject::Kind kind);
  std::vector<Cell> pop_to_mark();
  void push(Cell cell) { stack_.push_back(std::move(cell)); }
  void push_integer(int64_t n) { push({Cell::Kind::integer, n, 0, nullptr}); }
  PickleObject& push_object(PickleObject::Kind kind, std::string_view text = {},
                            std::vector<Cell> cells = {});
  void push_long(std::string_view bytes);

  /// Runs one opcode; returns whether it is known.
  bool run_code(unsigned char opcode);
  // Runs the opcode if it makes a number; returns whether it does. The functions below do the same
  // for opcodes that make texts or containers, use the memory, or make objects.
  bool run_number_code(unsigned char opcode);
  bool run_text_code(unsigned char opcode);
  bool run_container_code(unsigned char opcode);
  bool run_memory_code(unsigned char opcode);
  bool run_object_code(unsigned char opcode);
  void push_name(const std::string& module, const std::string& name);
  void reduce();
  void build();
  void build_array(PickleObject& array, const std::vector<Cell>& state);

  const std::string& path_;
  std::string_view bytes_;
  size_t offset_ = 0;  ///< the offset of the next byte that is read
  /// All objects. The machine owns them, so references between them may form cycles.
  std::deque<PickleObject> objects_;
  std::vector<Cell> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint64_t, Cell> memory_;
};

}  // namespace crescent::arrays
