#include "crescent/layer/operation.h"

#include <algorithm>
#include <cassert>

#include "crescent/base/mapped.h"
#include "crescent/tensor/strings.h"
#include "model/operation_layer.h"
#include "program/run_compiled.h"
#include "registry/blame.h"

namespace crescent {
namespace {

std::vector<std::string> split_names(std::string_view text) {
  std::vector<std::string> names;
  for (size_t separator; (separator = text.find('|')) != std::string_view::npos;
       text.remove_prefix(separator + 1))
    names.emplace_back(text.substr(0, separator));
  names.emplace_back(text);
  return names;
}

class OperationFactory final : public Factory {
 public:
  explicit OperationFactory(std::shared_ptr<const OperationSchema> schema)
      : schema_(std::move(schema)) {}
  std::shared_ptr<Configurable> make(const Dict& options) const override {
    if (!options.empty())
      fail(schema_->functions.front(),
           ": an operation has no options; it is called with arguments");
    return std::make_shared<Operation>(schema_);
  }

 private:
  std::shared_ptr<const OperationSchema> schema_;
};

/// Removes null arguments whose default is null.
Dict without_defaults(const SchemaData& parameters, const Dict& arguments) {
  Dict result;
  for (const DictEntry& entry : arguments) {
    const Field* parameter = parameters.find(entry.key);
    if (!entry.value.is_null() || !parameter || !parameter->default_value.is_null())
      result.set(entry.key, entry.value);
  }
  return result;
}

/// Replaces symbols by abstract tensors with their specs.
Dict abstract_tensors(const Dict& arguments) {
  return mapped(arguments,
                [](const Value& value) -> std::optional<Value> {
                  if (auto boxed = value.object_as<BoxedSymbol>())
                    return Codec<Tensor>::encode(boxed->symbol.abstract());
                  return std::nullopt;
                })
      .as_dict();
}

/// Converts numbers to tensors where the parameter is a tensor, as Keras does: integers to int32,
/// or to int64 when they are too large.
Dict with_tensors(const SchemaData& parameters, Dict arguments) {
  for (DictEntry& entry : arguments) {
    const Field* parameter = parameters.find(entry.key);
    if (!entry.value.is_number() || !parameter || parameter->type != Codec<Tensor>::type())
      continue;
    const ops::Operand number = Codec<NumberOrTensor>::decode(entry.value);
    entry.value =
        Codec<Tensor>::encode(Tensor::scalar(number.number, ops::result_dtype(number, number)));
  }
  return arguments;
}

/// The values of a part of a tensor as nested lists, or a number for a scalar. The part has the
/// axes from `axis` on; `offset` is its flat index along the axes before.
Value nested_values(const Tensor& tensor, const std::vector<double>& values, int axis = 0,
                    int64_t offset = 0) {
  if (axis == tensor.rank()) {
    const double value = values[static_cast<size_t>(offset)];
    return is_floating(tensor.dtype()) ? Value(value) : Value(static_cast<int64_t>(value));
  }
  List list;
  for (int64_t i = 0; i < tensor.dim(axis); ++i)
    list.push_back(nested_values(tensor, values, axis + 1, offset * tensor.dim(axis) + i));
  return list;
}

/// The largest rank of a tensor that a user may pass for this parameter in place of numbers: 0 for
/// a number, 1 for a list of numbers; nullopt for a parameter that takes no numbers.
std::optional<int> max_number_rank(const Parameter& parameter) {
  const std::string_view type = parameter.type;
  if (parameter.is_tensor) return std::nullopt;
  if (type == Codec<Shape>::type()) return 1;
  if (!type.starts_with("an integer") && !type.starts_with("a number")) return std::nullopt;
  return type.find("lists of") != type.npos ? Shape::kMaxRank : type.find("list of") != type.npos;
}

/// Replaces tensors by their values where the parameter is a number or a list of numbers.
Dict with_numbers(const Signature& signature, Dict arguments) {
  for (DictEntry& argument : arguments) {
    if (!argument.value.is_list() && !argument.value.object_as<BoxedTensor>()) continue;
    const auto parameter =
        std::find_if(signature.parameters.begin(), signature.parameters.end(),
                     [&](const Parameter& candidate) { return candidate.name == argument.key; });
    if (parameter == signature.parameters.end()) continue;
    const auto max_rank = max_number_rank(*parameter);
    if (!max_rank) continue;
    argument.value = mapped(argument.value, [&](const Value& value) -> std::optional<Value> {
      const auto boxed = value.object_as<BoxedTensor>();
      if (!boxed || boxed->tensor.rank() > *max_rank) return std::nullopt;
      const DType dtype = boxed->tensor.dtype();
      if (!is_floating(dtype) && !is_integer(dtype)) return std::nullopt;
      if (boxed->tensor.is_abstract())
        fail(signature.name, ": argument '", argument.key, "': expected ", parameter->type,
             ", got a tensor ", boxed->tensor.spec(),
             " whose values are not known before the recorded program runs; sizes of axes are "
             "known: x.shape");
      return nested_values(boxed->tensor, boxed->tensor.to_vector());
    });
  }
  return arguments;
}

/// Runs f. If an op in f fails because it reads elements of an abstract tensor, the error names the
/// operation that the user called instead of this op.
template <class F>
Value name_operation_in_refusals(const std::string& operation, F f) try {
  return f();
} catch (const Error& error) {
  const std::string_view text = error.what();
  const size_t end = text.find(" takes no ");
  if (end == text.npos || text.find_first_of(" :") != end) throw;
  fail(operation, text.substr(end));
}

/// Runs f. The message of an error names the operation that the user called, even if an op inside
/// it raises the error.
template <class F>
Value name_operation_in_errors(const std::string& operation, F f) try {
  return f();
} catch (const Interrupted&) {
  throw;
} catch (Error& error) {
  if (error.layer().empty()) name_thrower(error, operation);
  throw;
}

bool has_symbol(const Value& value) {
  const auto entry_has_symbol = [](const DictEntry& entry) { return has_symbol(entry.value); };
  if (value.is_list())
    return std::any_of(value.as_list().begin(), value.as_list().end(), has_symbol);
  if (value.is_dict())
    return std::any_of(value.as_dict().begin(), value.as_dict().end(), entry_has_symbol);
  return value.object_as<BoxedSymbol>() != nullptr;
}

}  // namespace

// ---- calling

Value Operation::operator()(const Dict& arguments) const {
  const bool has_symbols =
      std::any_of(arguments.begin(), arguments.end(),
                  [](const DictEntry& argument) { return has_symbol(argument.value); });
  const Dict converted_arguments = with_numbers(schema_->signature, arguments);
  return has_symbols ? on_symbols(converted_arguments) : on_tensors(converted_arguments);
}

Value Operation::on_tensors(const Dict& arguments) const {
  const SchemaData& parameters = schema_->method.parameters;
  const Dict all_arguments = with_tensors(parameters, without_defaults(parameters, arguments));
  const auto call = [this](const Dict& call_arguments) {
    return blaming(*this, [&] {
      return name_operation_in_refusals(
          name(), [&] { return schema_->method.call(nullptr, call_arguments); });
    });
  };
  return name_operation_in_errors(name(), [&] {
    return schema_->result == OperationResult::host_value
               ? call(all_arguments)
               : run_compiled(schema_, all_arguments, call);
  });
}

Value Operation::on_symbols(const Dict& arguments) const {
  if (schema_->result == OperationResult::host_value)
    return on_tensors(abstract_tensors(arguments));
  std::vector<Symbol> inputs;
  const auto layer = OperationLayer::make(*this, arguments, inputs);
  List outputs;
  for (const Symbol& symbol : (*layer)(inputs))
    outputs.push_back(Value(std::make_shared<BoxedSymbol>(symbol)));
  const bool has_one_result =
      schema_->result == OperationResult::tensor ||
      (schema_->result == OperationResult::tensor_or_tuple && outputs.size() == 1);
  return has_one_result ? outputs.front() : Value(std::move(outputs));
}

namespace {

/// Moves keyword arguments that match no parameter into a dictionary, which becomes the argument of
/// the parameter `catch_all` (**kwargs).
Dict gather_keywords(const SchemaData& parameters, const std::string& catch_all,
                     const Dict& keywords) {
  Dict result, other_keywords;
  for (const DictEntry& entry : keywords)
    (parameters.find(entry.key) ? result : other_keywords).set(entry.key, entry.value);
  if (!other_keywords.empty()) result.set(catch_all, std::move(other_keywords));
  return result;
}

}  // namespace

Dict Operation::arguments(const List& positional, const Dict& keywords) const {
  const auto& parameters = schema_->signature.parameters;
  const auto variadic = std::find_if(parameters.begin(), parameters.end(),
                                     [](const Parameter& p) { return p.variadic; });
  if (variadic != parameters.end() && !variadic->is_list)
    return schema_->method.parameters.by_name(
        positional, gather_keywords(schema_->method.parameters, variadic->name, keywords));
  if (variadic == parameters.end()) return schema_->method.parameters.by_name(positional, keywords);
  const auto fixed_count =
      std::min(variadic - parameters.begin(), static_cast<std::ptrdiff_t>(positional.size()));
  const auto fixed_end = positional.begin() + fixed_count;
  Dict all_arguments =
      schema_->method.parameters.by_name(List(positional.begin(), fixed_end), keywords);
  const bool is_single_list = positional.end() - fixed_end == 1 && fixed_end->is_list();
  if (fixed_end != positional.end())
    all_arguments.set(variadic->name,
                      is_single_list ? *fixed_end : Value(List(fixed_end, positional.end())));
  return all_arguments;
}

Value Codec<AxisList>::encode(const AxisList& member) { return std::vector<int>(member); }
AxisList Codec<AxisList>::decode(const Value& value) {
  AxisList axes;
  if (value.is_null() || value == Value(false)) return axes;
  for (int64_t axis : Codec<std::vector<int64_t>>::decode(value))
    axes.push_back(Codec<int>::decode(axis));
  return axes;
}
std::string Codec<AxisList>::type() { return Codec<std::vector<int64_t>>::type(); }

Value Codec<NumberOrTensor>::encode(const NumberOrTensor& member) {
  if (member.tensor) return Codec<Tensor>::encode(member.tensor);
  return member.whole ? Value(static_cast<int64_t>(member.number)) : Value(member.number);
}
NumberOrTensor Codec<NumberOrTensor>::decode(const Value& value) {
  if (value.is_int()) return ops::Operand(value.as_int());
  if (value.is_number()) return ops::Operand(value.as_float());
  if (value.is_string()) return ops::Operand(string_tensor({&value.as_string(), 1}, {}));
  const Tensor tensor = Codec<Tensor>::decode(value);
  if (!tensor) fail("expected ", type(), ", got ", value);
  return ops::Operand(tensor);
}
std::string Codec<NumberOrTensor>::type() { return "a tensor or a number"; }

// ---- registering

Operations::Operations(Registry& registry, std::string module)
    : SchemaBuilder("ops"), registry_(registry), module_(std::move(module)) {}

void Operations::begin(const char* keras_class, const char* signature, const char* doc,
                       std::unique_ptr<const MethodAccess> access, OperationResult result,
                       std::string type) {
  schema_ = std::make_shared<OperationSchema>();
  std::string_view text = signature;
  const size_t parenthesis = text.find('(');
  schema_->functions = split_names(text.substr(0, parenthesis));
  schema_->module = module_;
  schema_->keras_class = keras_class;
  schema_->result = result;
  text = text.substr(parenthesis + 1, text.size() - parenthesis - 2);
  signature_ = text;
  schema_->signature.name = schema_->functions.front();
  schema_->signature.parameters = parse_parameters(text);
  schema_->signature.doc = doc;
  schema_->signature.result = type;
  data_.methods.clear();
  add_method(schema_->functions.front(), doc, std::move(type), std::move(access));
  data_.methods.back().parameters.title = schema_->functions.front();
}

void Operations::add(size_t index, const MemberType& type, std::ptrdiff_t offset, bool is_tensor,
                     bool is_list) {
  if (index >= schema_->signature.parameters.size())
    fail(schema_->functions.front(), ": the signature (", signature_, ") lacks parameter ",
         index + 1);
  Parameter& parameter = schema_->signature.parameters[index];
  parameter.in_call = parameter.in_call || parameter.variadic || is_tensor;
  parameter.is_list = is_list;
  parameter.is_tensor = is_tensor;
  parameter.type = type.type();
  add_parameter(type, offset);
  name_parameter(parameter.name, "", parameter.required ? nullptr : &parameter.default_value);
}

void Operations::finish() {
  schema_->method = std::move(data_.methods.back());
  if (schema_->method.parameters.fields.size() != schema_->signature.parameters.size())
    fail(schema_->functions.front(), ": the signature (", signature_, ") has more than ",
         schema_->method.parameters.fields.size(), " parameters");
  ClassInfo info;
  info.kind = Operation::kKind;
  info.name = schema_->functions.front();
  info.aliases.assign(schema_->functions.begin() + 1, schema_->functions.end());
  info.aliases.push_back(schema_->keras_class);
  info.schema.title = info.name;
  info.schema.description = schema_->method.parameters.description;
  const std::vector<Parameter>& parameters = schema_->signature.parameters;
  const bool has_leading_tensor =
      !parameters.empty() && parameters.front().is_tensor && !parameters.front().is_list;
  info.schema.traits = {
      {"functions", Value(schema_->functions)},
      {"parameters", signature_},
      {"method", has_leading_tensor && schema_->result != OperationResult::host_value}};
  if (!info.schema.description.empty()) info.schema.traits.set("doc", info.schema.description);
  info.factory = std::make_shared<OperationFactory>(schema_);
  registry_.add(std::move(info));
}

}  // namespace crescent
