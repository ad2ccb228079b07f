// Signature: what one function is called with and gives, whoever calls it: an operation, a method
// of a schema, a function of Lua. A text declares it, as Python or Lua writes it:
//
//   std::vector<Parameter> of_clip = parse_parameters("x, low=0, high=None");
//   of_clip[1].default_value;                             // 0
//
// Help, completion, checks of arguments and the listing of `crescent describe` follow from it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "crescent/base/value.h"

namespace crescent {

/// A parameter of a function, or an option of a class.
struct CRESCENT_API Parameter {
  Parameter();
  Parameter(const Parameter&);
  Parameter(Parameter&&) noexcept;
  Parameter& operator=(const Parameter&);
  Parameter& operator=(Parameter&&) noexcept;
  ~Parameter();

  std::string name;
  std::string doc;
  std::string type;        ///< for help and messages: "an integer"; empty: anything
  Value default_value;     ///< of one that is not required
  bool required = false;   ///< it has no default
  bool variadic = false;   ///< takes all that is left, by position or by name
  bool is_list = false;    ///< a list is a value of it
  bool is_tensor = false;  ///< a tensor is
  bool in_call = false;    ///< a file of Keras 3 has it among the arguments of a call
};

struct CRESCENT_API Signature {
  Signature();
  Signature(const Signature&);
  Signature(Signature&&) noexcept;
  Signature& operator=(const Signature&);
  Signature& operator=(Signature&&) noexcept;
  ~Signature();

  std::string name;
  std::vector<Parameter> parameters;
  std::string doc;
  std::string result;  ///< type of what it gives; empty: nothing, or it is not known
};

/// None, nil, True, true, 0.5, (0, 1), [0, 1], 'a text', a_word: the value of a default.
CRESCENT_API Value parse_default(std::string_view text);
/// "axis=None". One that starts with * takes all that is left by position (a list), with ** by name
/// (a dict); one with @ is no tensor, but Keras 3 keeps it with the call and not in the
/// configuration.
CRESCENT_API Parameter parse_parameter(std::string_view text);
/// "x, axis=None" -> its parameters.
CRESCENT_API std::vector<Parameter> parse_parameters(std::string_view text);

}  // namespace crescent
