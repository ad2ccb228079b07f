// The parameters and the result of a function: of an operation, of a method of a schema, of a
// function of Lua. A text declares parameters as in Python or Lua:
//
//   std::vector<Parameter> of_clip = parse_parameters("x, low=0, high=None");
//   of_clip[1].default_value;                             // 0
//
// Signatures serve help, completion, checks of arguments and the listing of `crescent describe`.
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
  std::string type;        ///< for help and messages: "an integer"; empty: any type
  Value default_value;     ///< the default of an optional parameter
  bool required = false;   ///< whether the parameter has no default
  bool variadic = false;   ///< whether it takes all remaining arguments, positional or named
  bool is_list = false;    ///< whether the parameter accepts a list
  bool is_tensor = false;  ///< whether the parameter accepts a tensor
  bool in_call = false;    ///< whether Keras 3 files store the argument with the call
};

/// The name, the parameters and the result of a function.
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
  std::string result;  ///< the type of the result; empty: unknown
};

/// The value of a default that is written as None, nil, True, true, 0.5, (0, 1), [0, 1], 'a text'
/// or a_word.
CRESCENT_API Value parse_default(std::string_view text);
/// The parameter of a text such as "axis=None" or, with its type, "axis: an integer=None". A name
/// after * takes all remaining positional arguments (a list), a name after ** all remaining named
/// ones (a dictionary); a parameter after @ is no tensor, but Keras 3 stores it with the call and
/// not in the configuration.
CRESCENT_API Parameter parse_parameter(std::string_view text);
/// Parses parameters that are separated by commas, such as "x, axis=None".
CRESCENT_API std::vector<Parameter> parse_parameters(std::string_view text);

}  // namespace crescent
