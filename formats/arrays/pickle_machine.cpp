#include "pickle_machine.h"

#include <bit>
#include <charconv>
#include <cstring>
#include <set>

namespace crescent::arrays {

Cell PickleMachine::run() {
  for (;;) {
    const auto opcode = static_cast<unsigned char>(read_bytes(1)[0]);
    if (opcode == '.') return pop();
    if (!run_code(opcode))
      refuse("the instruction ", static_cast<int>(opcode), " is not read here");
  }
}

std::string_view PickleMachine::read_bytes(uint64_t count) {
  if (count > bytes_.size() - offset_) refuse("the pickle ends inside a value");
  const std::string_view bytes_read = bytes_.substr(offset_, count);
  offset_ += count;
  return bytes_read;
}

uint64_t PickleMachine::read_integer(size_t bytes) {
  const std::string_view bytes_read = read_bytes(bytes);
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; ++i)
    value |= uint64_t{static_cast<uint8_t>(bytes_read[i])} << (8 * i);
  return value;
}

std::string_view PickleMachine::read_line() {
  const size_t end = bytes_.find('\n', offset_);
  if (end == bytes_.npos) refuse("a line does not end");
  const std::string_view text = read_bytes(end - offset_);
  ++offset_;
  return text;
}

Cell PickleMachine::pop() {
  if (stack_.empty() || (!marks_.empty() && marks_.back() == stack_.size()))
    refuse("a value is missing");
  Cell cell = std::move(stack_.back());
  stack_.pop_back();
  return cell;
}

PickleObject& PickleMachine::top_object(PickleObject::Kind kind) {
  if (stack_.empty() || !stack_.back().object || stack_.back().object->kind != kind)
    refuse("an object of another kind was expected");
  return *stack_.back().object;
}

std::vector<Cell> PickleMachine::pop_to_mark() {
  if (marks_.empty()) refuse("a mark is missing");
  const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  marks_.pop_back();
  std::vector<Cell> cells(std::make_move_iterator(first), std::make_move_iterator(stack_.end()));
  stack_.erase(first, stack_.end());
  return cells;
}

PickleObject& PickleMachine::push_object(PickleObject::Kind kind, std::string_view text,
                                         std::vector<Cell> cells) {
  PickleObject& object = objects_.emplace_back();
  object.kind = kind;
  object.text = text;
  object.cells = std::move(cells);
  push({Cell::Kind::object, 0, 0, &object});
  return object;
}

/// Pushes an integer in two's complement with any number of bytes, the lowest byte first.
void PickleMachine::push_long(std::string_view bytes) {
  if (bytes.size() > 8) refuse("a number has more than 64 bits");
  uint64_t value = 0;
  if (!bytes.empty() && (bytes.back() & 0x80)) value = ~uint64_t{0};
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  push_integer(static_cast<int64_t>(value));
}

bool PickleMachine::run_code(unsigned char opcode) {
  return run_number_code(opcode) || run_text_code(opcode) || run_container_code(opcode) ||
         run_memory_code(opcode) || run_object_code(opcode);
}

bool PickleMachine::run_number_code(unsigned char opcode) {
  switch (opcode) {
    case 'N':
      return push({}), true;
    case 0x88:
    case 0x89:
      return push({Cell::Kind::boolean, opcode == 0x88, 0, nullptr}), true;
    case 'J':
      return push_integer(static_cast<int32_t>(read_integer(4))), true;
    case 'K':
      return push_integer(static_cast<int64_t>(read_integer(1))), true;
    case 'M':
      return push_integer(static_cast<int64_t>(read_integer(2))), true;
    case 0x8a:
      return push_long(read_bytes(read_integer(1))), true;
    case 0x8b:
      return push_long(read_bytes(read_integer(4))), true;
    case 'I':
    case 'L': {
      std::string_view digits = read_line();
      if (opcode == 'I' && (digits == "00" || digits == "01"))
        return push({Cell::Kind::boolean, digits == "01", 0, nullptr}), true;
      if (digits.ends_with('L')) digits.remove_suffix(1);
      int64_t n = 0;
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
      if (error != std::errc() || end != digits.data() + digits.size())
        refuse("a number of 64 bits was expected");
      return push_integer(n), true;
    }
    case 'F': {
      const std::string_view digits = read_line();
      double x = 0;
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), x);
      if (error != std::errc() || end != digits.data() + digits.size())
        refuse("a number was expected");
      return push({Cell::Kind::real, 0, x, nullptr}), true;
    }
    case 'G': {
      uint64_t bits = 0;
      for (const char byte : read_bytes(8)) bits = bits << 8 | static_cast<uint8_t>(byte);
      return push({Cell::Kind::real, 0, std::bit_cast<double>(bits), nullptr}), true;
    }
  }
  return false;
}

bool PickleMachine::run_text_code(unsigned char opcode) {
  const auto push_text = [&](size_t length_bytes) {
    const uint64_t length = read_integer(length_bytes);
    push_object(PickleObject::Kind::text, read_bytes(length));
    return true;
  };
  switch (opcode) {
    case 'U':
    case 'C':
    case 0x8c:
      return push_text(1);
    case 'T':
    case 'X':
    case 'B':
      return push_text(4);
    case 0x8d:
    case 0x8e:
    case 0x96:
      return push_text(8);
    case 'V':
      return push_object(PickleObject::Kind::text, read_line()), true;
    case 'S': {
      const std::string_view quoted = read_line();
      const bool is_plain =
          quoted.size() >= 2 && quoted.front() == quoted.back() && quoted.find('\\') == quoted.npos;
      if (!is_plain) refuse("a quoted text with escapes is not read here");
      return push_object(PickleObject::Kind::text, quoted.substr(1, quoted.size() - 2)), true;
    }
  }
  return false;
}

bool PickleMachine::run_container_code(unsigned char opcode) {
  const auto tuple_of = [&](size_t count) {
    std::vector<Cell> cells(count);
    for (size_t i = count; i-- > 0;) cells[i] = pop();
    push_object(PickleObject::Kind::tuple, {}, std::move(cells));
    return true;
  };
  const auto append = [&](PickleObject::Kind kind, std::vector<Cell> cells) {
    std::vector<Cell>& target_cells = top_object(kind).cells;
    target_cells.insert(target_cells.end(), std::make_move_iterator(cells.begin()),
                        std::make_move_iterator(cells.end()));
    return true;
  };
  switch (opcode) {
    case '(':
      return marks_.push_back(stack_.size()), true;
    case ')':
      return tuple_of(0);
    case 0x85:
    case 0x86:
    case 0x87:
      return tuple_of(opcode - 0x84u);
    case 't':
      return push_object(PickleObject::Kind::tuple, {}, pop_to_mark()), true;
    case ']':
      return push_object(PickleObject::Kind::list), true;
    case 'l':
      return push_object(PickleObject::Kind::list, {}, pop_to_mark()), true;
    case '}':
      return push_object(PickleObject::Kind::dict), true;
    case 'd':
      return push_object(PickleObject::Kind::dict, {}, pop_to_mark()), true;
    case 'a': {
      Cell item = pop();
      return append(PickleObject::Kind::list, {std::move(item)});
    }
    case 'e':
      return append(PickleObject::Kind::list, pop_to_mark());
    case 's': {
      Cell value = pop(), key = pop();
      return append(PickleObject::Kind::dict, {std::move(key), std::move(value)});
    }
    case 'u':
      return append(PickleObject::Kind::dict, pop_to_mark());
  }
  return false;
}

bool PickleMachine::run_memory_code(unsigned char opcode) {
  const auto store = [&](uint64_t index) {
    if (stack_.empty()) refuse("a value is missing");
    memory_[index] = stack_.back();
    return true;
  };
  const auto push_stored = [&](uint64_t index) {
    const auto found = memory_.find(index);
    if (found == memory_.end()) refuse("nothing was kept at ", index);
    return push(found->second), true;
  };
  const auto read_index = [&] {
    const std::string_view digits = read_line();
    uint64_t n = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), n);
    return n;
  };
  switch (opcode) {
    case 0x80:
      return read_bytes(1), true;
    case 0x95:
      return read_bytes(8), true;
    case '0':
      return pop(), true;
    case '1':
      return pop_to_mark(), true;
    case '2':
      if (stack_.empty()) refuse("a value is missing");
      return push(Cell(stack_.back())), true;
    case 'q':
      return store(read_integer(1));
    case 'r':
      return store(read_integer(4));
    case 'p':
      return store(read_index());
    case 0x94:
      return store(memory_.size());
    case 'h':
      return push_stored(read_integer(1));
    case 'j':
      return push_stored(read_integer(4));
    case 'g':
      return push_stored(read_index());
  }
  return false;
}

// ---- pickled objects of NumPy

bool PickleMachine::run_object_code(unsigned char opcode) {
  switch (opcode) {
    case 'c': {
      const std::string module(read_line()), name(read_line());
      return push_name(module, name), true;
    }
    case 0x93: {
      const Cell name = pop(), module = pop();
      if (!name.object || !module.object) refuse("a name was expected");
      return push_name(module.object->text, name.object->text), true;
    }
    case 'R':
      return reduce(), true;
    case 'b':
      return build(), true;
  }
  return false;
}

void PickleMachine::push_name(const std::string& module, const std::string& name) {
  static const std::set<std::string> kKnownNames = {"numpy.core.multiarray _reconstruct",
                                                    "numpy._core.multiarray _reconstruct",
                                                    "numpy.core.multiarray scalar",
                                                    "numpy._core.multiarray scalar",
                                                    "numpy ndarray",
                                                    "numpy dtype",
                                                    "_codecs encode"};
  const std::string full_name = module + " " + name;
  if (!kKnownNames.contains(full_name))
    refuse("the pickle calls ", module, ".", name,
           ", which is code; only numbers, texts, lists, dictionaries and arrays are read");
  push_object(PickleObject::Kind::name, full_name);
}

/// Converts a UTF-8 text to Latin-1: each code point below 256 becomes one byte.
std::string latin1(const std::string& text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<uint8_t>(text[i]);
    const bool is_two_bytes = (c & 0xfc) == 0xc0 && i + 1 < text.size();
    bytes += is_two_bytes ? static_cast<char>(c << 6 | (text[++i] & 0x3f)) : text[i];
  }
  return bytes;
}

void PickleMachine::reduce() {
  const Cell arguments = pop(), function = pop();
  const bool is_name_call = function.object && function.object->kind == PickleObject::Kind::name &&
                            arguments.object && arguments.object->kind == PickleObject::Kind::tuple;
  if (!is_name_call) refuse("a call of something else than a name");
  const std::string& name = function.object->text;
  const std::vector<Cell>& call_arguments = arguments.object->cells;
  const auto text_argument = [&](size_t i) -> const std::string& {
    if (i >= call_arguments.size() || !call_arguments[i].object)
      refuse("a text was expected as argument of ", name);
    return call_arguments[i].object->text;
  };
  if (name.ends_with("_reconstruct")) {
    push_object(PickleObject::Kind::array);
  } else if (name == "numpy dtype") {
    push_object(PickleObject::Kind::dtype, text_argument(0));
  } else if (name == "_codecs encode") {
    push_object(PickleObject::Kind::text, latin1(text_argument(0)));
  } else if (name.ends_with("scalar")) {
    const std::string type = text_argument(0), values = text_argument(1),
                      order = call_arguments[0].object->element_type;
    push_object(PickleObject::Kind::array, values).element_type =
        (order.empty() ? "|" : order) + type;
  } else {
    refuse("a call of ", name);
  }
}

void PickleMachine::build() {
  const Cell state = pop();
  if (!state.object || state.object->kind != PickleObject::Kind::tuple)
    refuse("a state of another kind");
  if (stack_.empty() || !stack_.back().object) refuse("a value is missing");
  PickleObject& object = *stack_.back().object;
  const std::vector<Cell>& cells = state.object->cells;
  if (object.kind == PickleObject::Kind::dtype) {
    if (cells.size() < 2 || !cells[1].object) refuse("a byte order was expected");
    object.element_type = cells[1].object->text;
  } else if (object.kind == PickleObject::Kind::array) {
    build_array(object, cells);
  } else {
    refuse("a state for something that has none");
  }
}

/// Sets an array from its pickled state, the tuple (version, shape, dtype, is_fortran, values).
void PickleMachine::build_array(PickleObject& array, const std::vector<Cell>& state) {
  if (state.size() != 5 || !state[1].object || !state[2].object || !state[4].object ||
      state[2].object->kind != PickleObject::Kind::dtype)
    refuse("an array of another form");
  for (const Cell& dim : state[1].object->cells) {
    if (dim.kind != Cell::Kind::integer || dim.integer < 0) refuse("a size of an array is wrong");
    array.dims.push_back(dim.integer);
  }
  const PickleObject& dtype = *state[2].object;
  array.element_type = (dtype.element_type.empty() ? "|" : dtype.element_type) + dtype.text;
  array.is_fortran_order = state[3].integer != 0;
  const PickleObject& values = *state[4].object;
  array.text = values.text;
  array.cells = values.cells;
}

}  // namespace crescent::arrays
