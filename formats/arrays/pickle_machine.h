// The machine that pickles are programs for: a stack, a memory, and opcodes that make objects.
#pragma once
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "crescent/base/error.h"

namespace crescent::arrays {

struct PickleObject;

/// A number, or something bigger that may be in several places.
struct Cell {
  enum class Kind : uint8_t { none, boolean, integer, real, object } kind = Kind::none;
  int64_t integer = 0;
  double real = 0;
  PickleObject* object = nullptr;  ///< of the machine
};

struct PickleObject {
  enum class Kind { text, list, tuple, dict, name, dtype, array } kind;
  std::string text;           ///< of a text; "module name"; "f8" of a dtype; the values of an array
  std::vector<Cell> cells;    ///< items; keys and values in turn; objects of an array
  std::vector<int64_t> dims;  ///< of an array
  std::string element;        ///< of an array: "<f8"
  bool fortran = false;
};

class PickleMachine {
 public:
  PickleMachine(const std::string& path, std::string_view bytes) : path_(path), bytes_(bytes) {}
  /// Lives as long as the machine. Fails for what is no pickle of plain things, naming the offset.
  Cell run();

 private:
  template <class... Pieces>
  [[noreturn]] void refuse(const Pieces&... pieces) const {
    fail("'", path_, "' offset ", at_, ": ", pieces...);
  }
  std::string_view take(uint64_t count);
  uint64_t word(size_t bytes);  ///< little endian
  std::string_view line();
  Cell pop();
  PickleObject& top_object(PickleObject::Kind kind);
  std::vector<Cell> pop_to_mark();
  void push(Cell cell) { stack_.push_back(std::move(cell)); }
  void push_integer(int64_t n) { push({Cell::Kind::integer, n, 0, nullptr}); }
  PickleObject& push_object(PickleObject::Kind kind, std::string_view text = {},
                            std::vector<Cell> cells = {});
  void push_long(std::string_view digits);

  bool step(unsigned char code);
  bool step_number(unsigned char code);
  bool step_text(unsigned char code);
  bool step_container(unsigned char code);
  bool step_memory(unsigned char code);
  bool step_object(unsigned char code);
  void push_name(const std::string& module, const std::string& name);
  void reduce();
  void build();
  void build_array(PickleObject& array, const std::vector<Cell>& state);

  const std::string& path_;
  std::string_view bytes_;
  size_t at_ = 0;
  std::deque<PickleObject> objects_;  ///< all of them, so that none has to end another
  std::vector<Cell> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint64_t, Cell> memory_;
};

}  // namespace crescent::arrays
