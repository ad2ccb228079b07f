#include "crescent/registry/signature.h"

#include <algorithm>
#include <cctype>

namespace crescent {

Parameter::Parameter() = default;
Parameter::Parameter(const Parameter&) = default;
Parameter::Parameter(Parameter&&) noexcept = default;
Parameter& Parameter::operator=(const Parameter&) = default;
Parameter& Parameter::operator=(Parameter&&) noexcept = default;
Parameter::~Parameter() = default;

Signature::Signature() = default;
Signature::Signature(const Signature&) = default;
Signature::Signature(Signature&&) noexcept = default;
Signature& Signature::operator=(const Signature&) = default;
Signature& Signature::operator=(Signature&&) noexcept = default;
Signature::~Signature() = default;

namespace {

/// Whether the default value in a signature is a text that is written without quotes, such as
/// float32 or mnist.npz.
bool is_word(std::string_view text) {
  const auto is_word_character = [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '.';
  };
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) &&
         std::all_of(text.begin(), text.end(), is_word_character);
}

/// Parses a number or a list of numbers; (0, 1) is a list like [0, 1].
Value parse_numbers(std::string_view text) {
  std::string json(text);
  std::replace(json.begin(), json.end(), '(', '[');
  std::replace(json.begin(), json.end(), ')', ']');
  return parse_json(json);
}

/// Removes the first parameter, up to a comma outside of parentheses and quotes, from `text` and
/// returns it.
std::string_view take_parameter(std::string_view& text) {
  int depth = 0;
  bool is_in_quotes = false;
  size_t end = 0;
  for (; end < text.size() && (is_in_quotes || depth > 0 || text[end] != ','); ++end) {
    is_in_quotes = is_in_quotes != (text[end] == '\'');
    depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
  }
  const std::string_view parameter = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  while (text.starts_with(' ')) text.remove_prefix(1);
  return parameter;
}

}  // namespace

Value parse_default(std::string_view text) {
  if (text == "None" || text == "nil") return {};
  if (text == "True" || text == "true") return true;
  if (text == "False" || text == "false") return false;
  if (text.size() >= 2 && text.front() == '\'' && text.back() == '\'')
    return text.substr(1, text.size() - 2);
  return is_word(text) ? Value(text) : parse_numbers(text);
}

Parameter parse_parameter(std::string_view text) try {
  Parameter parameter;
  parameter.in_call = text.starts_with('@');
  parameter.variadic = text.starts_with('*');
  while (text.starts_with('@') || text.starts_with('*')) text.remove_prefix(1);
  const size_t equals_position = text.find('=');
  const std::string_view parameter_name = text.substr(0, equals_position);
  const size_t colon = parameter_name.find(": ");
  parameter.name = parameter_name.substr(0, colon);
  if (colon != text.npos) parameter.type = parameter_name.substr(colon + 2);
  parameter.required = equals_position == text.npos;
  if (!parameter.required)
    parameter.default_value = parse_default(text.substr(equals_position + 1));
  return parameter;
} catch (Error& error) {
  error.add_context(concat("parameter '", text, "': "));
  throw;
}

std::vector<Parameter> parse_parameters(std::string_view text) {
  std::vector<Parameter> parameters;
  while (!text.empty()) parameters.push_back(parse_parameter(take_parameter(text)));
  return parameters;
}

}  // namespace crescent
