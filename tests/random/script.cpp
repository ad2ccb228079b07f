// Writes random programs (recipes) as Lua scripts.
#include <sstream>

#include "crescent/layer/operation.h"
#include "random/recipe.h"

namespace crescent::random_programs {
namespace {

constexpr const char* kHead = R"(local cr = require "crescent"
local ops = cr.ops

local function values(dtype, shape, style, phase)
  local n, list = 1, {}
  for _, d in ipairs(shape) do n = n * d end
  for i = 1, n do
    local w = math.sin(i * 12.9898 + phase)
    local x = style == "halves" and math.floor(w * 6.5) / 2 or style == "smooth" and w * 2
      or style == "small" and w * 0.002 or w > 0.6 and w * 2 or 0.0
    if not dtype:find "float" then x = math.floor(style == "small" and x * 63000 or x * 2) end
    if dtype == "uint8" then x = math.abs(x) end
    if dtype == "bool" then x = x > 0 and 1 or 0 end
    list[i] = x
  end
  return cr.tensor(list, "float64"):reshape(shape):cast(dtype)
end
)";

constexpr const char* kTail = R"(
local once, compiled = { f(table.unpack(inputs)) }, { cr.compiled(f)(table.unpack(inputs)) }
local wide = {}
for i, x in ipairs(inputs) do wide[i] = x.dtype:find "float" and x:cast "float64" or x end
local exact = { f(table.unpack(wide)) }
for i = 1, #once do
  local function distance(a, b)
    return ops.max(ops.abs(a:cast "float64" - b:cast "float64")):item()
  end
  print("result " .. i, "compiled and op by op", distance(compiled[i], once[i]),
    "compiled and float64", distance(compiled[i], exact[i]),
    "op by op and float64", distance(once[i], exact[i]))
end
)";

const char* name_of(ValueDistribution distribution) {
  switch (distribution) {
    case ValueDistribution::halves:
      return "halves";
    case ValueDistribution::smooth:
      return "smooth";
    case ValueDistribution::small:
      return "small";
    case ValueDistribution::mostly_zero:
      break;
  }
  return "mostly zero";
}

std::string lua_of(const Value& value) {
  if (value.is_null()) return "nil";
  if (value.is_list()) {
    std::string text = "{";
    for (const Value& item : value.as_list()) text += (text.size() > 1 ? ", " : "") + lua_of(item);
    return text + "}";
  }
  if (value.is_dict()) {
    std::string text = "{";
    for (const DictEntry& entry : value.as_dict())
      text += (text.size() > 1 ? ", " : "") + entry.key + " = " + lua_of(entry.value);
    return text + "}";
  }
  return to_json(value);
}

std::string name_of_value(const std::string& prefix, int i) {
  return prefix + std::to_string(i + 1);
}

std::string lua_of(const Argument& argument, const std::string& prefix) {
  if (const auto* single_value = std::get_if<int>(&argument.value))
    return name_of_value(prefix, *single_value);
  if (const auto* value_list = std::get_if<std::vector<int>>(&argument.value)) {
    std::string text = "{";
    for (int value : *value_list)
      text += (text.size() > 1 ? ", " : "") + name_of_value(prefix, value);
    return text + "}";
  }
  return lua_of(std::get<Value>(argument.value));
}

bool is_variadic(const OperationSchema& schema, const std::string& name) {
  for (const Parameter& parameter : schema.signature.parameters)
    if (parameter.name == name) return parameter.variadic;
  return false;
}

/// The arguments of a call: variadic ones by position, the others by name.
std::string arguments_of(const Node& node, const OperationSchema& schema,
                         const std::string& prefix) {
  std::string positional, named_arguments;
  const std::vector<Parameter>& parameters = schema.signature.parameters;
  bool is_positional = true;
  for (size_t i = 0; i < node.arguments.size(); ++i) {
    const Argument& argument = node.arguments[i];
    is_positional = is_positional && i < parameters.size() && parameters[i].name == argument.name &&
                    argument.value.index() != 2;
    const std::string text = lua_of(argument, prefix);
    if (text == "nil") continue;
    if (is_variadic(schema, argument.name))
      positional += (positional.empty() ? "" : ", ") + text.substr(1, text.size() - 2);
    else if (is_positional)
      positional += (positional.empty() ? "" : ", ") + text;
    else
      named_arguments += (named_arguments.empty() ? "" : ", ") + argument.name + " = " + text;
  }
  if (named_arguments.empty()) return positional;
  return (positional.empty() ? "" : positional + ", ") + "{ " + named_arguments + " }";
}

std::string call_of(const Node& node, const std::string& prefix) {
  const OperationSchema& schema = get<Operation>(Value(node.function))->schema();
  const std::string call = "ops." + node.function + "(" + arguments_of(node, schema, prefix) + ")";
  if (schema.result == OperationResult::list)
    return call + "[" + std::to_string(node.result + 1) + "]";
  return node.result == 0 ? call
                          : "(select(" + std::to_string(node.result + 1) + ", " + call + "))";
}

void write_scan(std::ostringstream& out, const Node& node, const std::string& name) {
  const auto& captured = std::get<std::vector<int>>(node.arguments[2].value);
  const int first = 2 + static_cast<int>(captured.size());
  out << "  local _, " << name << " = nil, (select(" << node.result + 1
      << ", ops.scan(function(s1, s2)\n";
  for (size_t i = 0; i < captured.size(); ++i)
    out << "    local s" << i + 3 << " = v" << captured[i] + 1 << "\n";
  for (size_t i = 0; i < node.body.size(); ++i)
    out << "    local s" << first + static_cast<int>(i) + 1 << " = " << call_of(node.body[i], "s")
        << "\n";
  const int last_value = first + static_cast<int>(node.body.size());
  out << "    return s" << last_value;
  if (node.stacks_outputs) out << ", s" << last_value - 1;
  out << "\n  end, v" << std::get<int>(node.arguments[0].value) + 1 << ", v"
      << std::get<int>(node.arguments[1].value) + 1;
  if (node.arguments.size() > 3) out << ", { reverse = true }";
  out << ")))\n";
}

/// The list of results that the function f returns.
std::string results_of(const Recipe& recipe) {
  std::string results;
  for (int output : recipe.outputs)
    results += (results.empty() ? "" : ", ") + name_of_value("v", output);
  return results;
}

}  // namespace

std::string to_lua(const Recipe& recipe) {
  std::ostringstream out;
  out << kHead << "local inputs = {\n";
  std::string parameters, watched;
  const auto input = [&](const TensorSpec& spec, ValueDistribution distribution, int phase) {
    out << "  values(\"" << crescent::name_of(spec.dtype) << "\", "
        << lua_of(Value(List(spec.shape.begin(), spec.shape.end()))) << ", \""
        << name_of(distribution) << "\", " << phase << "),\n";
  };
  const auto parameter = [&](const std::string& name) {
    parameters += (parameters.empty() ? "" : ", ") + name;
  };
  for (int i : recipe.inputs()) {
    const Node& node = recipe.nodes[static_cast<size_t>(i)];
    input(node.spec, node.distribution, node.phase < 0 ? i : node.phase);
    parameter(name_of_value("v", i));
    if (is_floating(node.spec.dtype))
      watched += (watched.empty() ? "" : ", ") + name_of_value("v", i);
  }
  std::string loss;
  for (size_t i = 0; recipe.has_gradients && i < recipe.outputs.size(); ++i) {
    const TensorSpec& spec = recipe.nodes[static_cast<size_t>(recipe.outputs[i])].spec;
    if (!is_floating(spec.dtype)) continue;
    input(spec, ValueDistribution::smooth, 100 + static_cast<int>(i));
    const std::string upstream = name_of_value("u", static_cast<int>(i));
    parameter(upstream);
    loss += (loss.empty() ? "" : " + ") + ("ops.sum(" + name_of_value("v", recipe.outputs[i])) +
            " * " + upstream + ")";
  }
  out << "}\n\nlocal function forward(" << parameters << ")\n";
  for (size_t i = 0; i < recipe.nodes.size(); ++i) {
    const Node& node = recipe.nodes[i];
    const std::string name = name_of_value("v", static_cast<int>(i));
    if (node.function == "scan")
      write_scan(out, node, name);
    else if (!node.function.empty())
      out << "  local " << name << " = " << call_of(node, "v") << "  -- " << to_text(node.spec)
          << "\n";
  }
  const bool differentiates = recipe.has_gradients && !loss.empty() && !watched.empty();
  out << "  return " << results_of(recipe) << (differentiates ? ", " + loss : "") << "\nend\n";
  if (!differentiates) {
    out << "local f = forward\n" << kTail;
    return out.str();
  }
  out << "local function f(" << parameters << ")\n"
      << "  local results\n"
      << "  local tape = cr.GradientTape(function() results = { forward(" << parameters
      << ") } end, { " << watched << " })\n"
      << "  local loss = table.remove(results)\n"
      << "  for _, gradient in ipairs(tape:gradient(loss, { " << watched << " })) do\n"
      << "    if gradient then results[#results + 1] = gradient end\n  end\n"
      << "  return table.unpack(results)\nend\n"
      << kTail;
  return out.str();
}

}  // namespace crescent::random_programs
