#include "layer/calls/call_arguments.h"

#include <algorithm>

#include "crescent/ops/ops.h"

namespace crescent {
namespace {

constexpr const char* kMask = "mask";

const Argument* find_argument(const std::vector<Argument>& declared_arguments,
                              std::string_view name) {
  for (const Argument& argument : declared_arguments)
    if (argument.name == name) return &argument;
  return nullptr;
}

[[noreturn]] void fail_unknown_argument(const Layer& layer, const std::string& name) {
  std::vector<std::string> argument_names;
  for (const Argument& argument : layer.call_arguments())
    if (argument.supported && argument.name != "training") argument_names.push_back(argument.name);
  argument_names.insert(argument_names.end(), {"training", kMask});
  const std::string suggestion = did_you_mean(name, argument_names);
  const bool is_from_lua = layer.info() && layer.info()->origin == "Lua";
  const std::string reason =
      is_from_lua ? concat("; a class declares what its call takes: subclass(name, options, {\"",
                           name, "\"})")
                  : "; call takes " + join(argument_names);
  fail("call has no argument '", name, "'", suggestion.empty() ? reason : suggestion);
}

void check_value_kind(const Argument& argument, const Value& value) {
  const Value& default_value = argument.default_value;
  if (default_value.is_null() || value.is_null() || default_value.kind() == value.kind() ||
      (default_value.is_number() && value.is_number()))
    return;
  fail("argument '", argument.name, "': expected ", describe_kind(default_value.kind()), ", got ",
       value);
}

bool is_position(const std::string& key) {
  return !key.empty() &&
         std::all_of(key.begin(), key.end(), [](char c) { return '0' <= c && c <= '9'; });
}

/// Renames the positional arguments "1", "2", ... to the names that the layer declares for them.
void name_positions(const Layer& layer, Dict& arguments) {
  const bool has_positions =
      std::any_of(arguments.begin(), arguments.end(),
                  [](const DictEntry& entry) { return is_position(entry.key); });
  if (!has_positions) return;
  const std::vector<std::string> names = layer.positional_arguments();
  Dict named_arguments;
  for (const DictEntry& entry : arguments) {
    if (!is_position(entry.key)) {
      named_arguments.set(entry.key, entry.value);
      continue;
    }
    const size_t ordinal = entry.key.size() < 9 ? std::stoul(entry.key) : names.size() + 1;
    if (ordinal == 0 || ordinal > names.size())
      fail("call takes the inputs and ", names.empty() ? "nothing" : join(names),
           " after them by position, got an argument ", ordinal + 1,
           "; several inputs go into a table: layer {a, b}");
    if (arguments.contains(names[ordinal - 1]))
      fail("argument '", names[ordinal - 1], "' is given twice, by position and by name");
    named_arguments.set(names[ordinal - 1], entry.value);
  }
  arguments = std::move(named_arguments);
}

void check_arguments(const Layer& layer, const Dict& arguments) {
  for (const DictEntry& entry : arguments) {
    if (entry.key == kMask) continue;  // every layer accepts the argument `mask`
    const Argument* argument = find_argument(layer.call_arguments(), entry.key);
    if (!argument) {
      const std::vector<std::string> names = layer.positional_arguments();
      if (std::find(names.begin(), names.end(), entry.key) != names.end()) continue;
      fail_unknown_argument(layer, entry.key);
    }
    if (!argument->supported && !entry.value.is_null())
      fail("argument '", entry.key, "' is not supported: ", argument->doc);
    check_value_kind(*argument, entry.value);
  }
}

Tensor unboxed(const Argument& argument, const Value& value, const Tensors&) {
  if (auto boxed = value.object_as<BoxedTensor>()) return boxed->tensor;
  fail("argument '", argument.name, "': expected tensors, as the inputs are, got ", value);
}

Symbol unboxed(const Argument& argument, const Value& value, const std::vector<Symbol>&) {
  if (auto boxed = value.object_as<BoxedSymbol>()) return boxed->symbol;
  fail("argument '", argument.name, "': expected symbols, as the inputs are, got ", value);
}

template <class T>
void append_inputs(const Argument& argument, const Value& value, std::vector<T>& inputs) {
  const auto ordinal = static_cast<size_t>(*argument.input);
  if (inputs.size() > ordinal)
    fail("argument '", argument.name, "' is given twice: it is input ", ordinal + 1, " of ",
         inputs.size(), " too");
  if (inputs.size() < ordinal)
    fail("argument '", argument.name, "' is input ", ordinal + 1, ": expected ", ordinal,
         " before it, got ", inputs.size());
  for (const Value& item : value.is_list() ? value.as_list() : List{value})
    inputs.push_back(unboxed(argument, item, inputs));
}

List masks_in(const Value& value) { return value.is_list() ? value.as_list() : List{value}; }

bool is_mask(const Value& item) { return !item.is_null() && item != Value(false); }

template <class T>
void check_masks(const Dict& arguments, const std::vector<T>& inputs) {
  const Value* mask_argument = arguments.find(kMask);
  if (!mask_argument) return;
  for (const Value& item : masks_in(*mask_argument))
    if (is_mask(item)) unboxed({kMask, "", {}, {}}, item, inputs);
}

template <class T>
void arrange_arguments_and_inputs(const Layer& layer, Dict& arguments, std::vector<T>& inputs) {
  if (arguments.empty()) return;
  name_positions(layer, arguments);
  check_arguments(layer, arguments);
  check_masks(arguments, inputs);
  for (const Argument& argument : layer.call_arguments()) {
    if (!argument.input) continue;
    if (const Value* argument_value = arguments.find(argument.name);
        argument_value && !argument_value->is_null())
      append_inputs(argument, *argument_value, inputs);
    arguments.erase(argument.name);
  }
}

Value replace_symbols_in(const Value& value,
                         const std::function<Value(const Symbol&)>& replacement) {
  if (auto boxed = value.object_as<BoxedSymbol>()) return replacement(boxed->symbol);
  if (value.is_dict()) return replace_symbols(value.as_dict(), replacement);
  if (!value.is_list()) return value;
  List list;
  for (const Value& item : value.as_list()) list.push_back(replace_symbols_in(item, replacement));
  return list;
}

}  // namespace

void arrange_arguments(const Layer& layer, Dict& arguments, Tensors& inputs) {
  arrange_arguments_and_inputs(layer, arguments, inputs);
  for (const Symbol& symbol : symbols_in(arguments))
    fail("the inputs are tensors, but an argument is ", symbol, ", which has no values");
}

void arrange_arguments(const Layer& layer, Dict& arguments, std::vector<Symbol>& inputs) {
  arrange_arguments_and_inputs(layer, arguments, inputs);
}

Tensors take_masks(Dict& arguments) {
  Tensors masks;
  const Value* mask_argument = arguments.find(kMask);
  if (!mask_argument) return masks;
  for (const Value& item : masks_in(*mask_argument)) {
    const Tensor mask = is_mask(item) ? item.object_as<BoxedTensor>()->tensor : Tensor();
    masks.push_back(mask && mask.dtype() != DType::boolean ? ops::cast(mask, DType::boolean)
                                                           : mask);
  }
  arguments.erase(kMask);
  return masks;
}

bool trains_by_itself(const Layer& layer) {
  const Argument* training = find_argument(layer.call_arguments(), "training");
  return training && training->default_value.as_bool();
}

Dict with_defaults(const std::vector<Argument>& declared_arguments, Dict arguments) {
  for (const Argument& argument : declared_arguments) {
    const Value* argument_value = arguments.find(argument.name);
    if ((!argument_value || argument_value->is_null()) && !argument.default_value.is_null())
      arguments.set(argument.name, argument.default_value);
  }
  return arguments;
}

Dict replace_symbols(const Dict& arguments,
                     const std::function<Value(const Symbol&)>& replacement) {
  Dict result;
  for (const DictEntry& entry : arguments)
    result.set(entry.key, replace_symbols_in(entry.value, replacement));
  return result;
}

std::vector<Symbol> symbols_in(const Dict& arguments) {
  std::vector<Symbol> symbols;
  replace_symbols(arguments,
                  [&](const Symbol& symbol) { return symbols.push_back(symbol), Value(); });
  return symbols;
}

namespace {

/// Returns the nested structure of the node's inputs with null in place of missing tensors, and
/// removes the missing tensors from `inputs`.
Value without_missing_inputs(const Value& structure, Tensors& inputs) {
  List presence;
  for (const Tensor& input : inputs) presence.push_back(input ? Value(true) : Value());
  std::erase_if(inputs, [](const Tensor& input) { return !input; });
  if (!structure.is_null()) return packed(structure, presence);
  return presence.size() == 1 ? presence.front() : Value(presence);
}

}  // namespace

Tensors call_again(const Node& node, const Tensors& tensors, std::optional<bool> training) {
  auto next_argument = tensors.end() - static_cast<std::ptrdiff_t>(node.argument_inputs);
  Tensors inputs(tensors.begin(), next_argument);
  CallOptions options;
  options.training = node.training ? node.training : training;
  options.structure = node.structure;
  if (std::any_of(inputs.begin(), inputs.end(), [](const Tensor& input) { return !input; }))
    options.structure = without_missing_inputs(node.structure, inputs);
  options.arguments =
      node.argument_inputs == 0
          ? node.arguments
          : replace_symbols(node.arguments, [&](const Symbol&) {
              const Tensor& tensor = *next_argument++;
              return tensor ? Value(std::make_shared<BoxedTensor>(tensor)) : Value();
            });
  return (*node.outbound_layer)(inputs, options);
}

const Value& Call::argument(std::string_view name) const {
  static const Value no_value;
  const Value* value = arguments.find(name);
  return value ? *value : no_value;
}

bool Call::flag(std::string_view name) const {
  return !argument(name).is_null() && argument(name).as_bool();
}

Tensor Call::tensor(std::string_view name) const {
  const Value& value = argument(name);
  if (value.is_null()) return {};
  auto boxed = value.object_as<BoxedTensor>();
  if (!boxed) fail("argument '", name, "': expected a tensor, got ", value);
  return boxed->tensor;
}

const std::vector<Argument>& Layer::call_arguments() const {
  static const std::vector<Argument> no_arguments;
  return info() ? info()->schema.arguments : no_arguments;
}

std::vector<std::string> Layer::positional_arguments() const {
  std::vector<const Argument*> positional;
  for (const Argument& argument : call_arguments())
    if (argument.input.value_or(0) > 0 && argument.supported) positional.push_back(&argument);
  std::sort(positional.begin(), positional.end(),
            [](const Argument* a, const Argument* b) { return *a->input < *b->input; });
  std::vector<std::string> names;
  for (const Argument* argument : positional) names.push_back(argument->name);
  return names;
}

}  // namespace crescent
