// Ops whose classes come from a C table, and the functions of cr.ops that apply them.
#include <algorithm>

#include "crescent/layer/operation.h"
#include "crescent/program/op.h"
#include "errors.h"
#include "plugin_table.h"

namespace crescent::c {
namespace {

struct OpClass {
  crescent_op_class table;
  std::string name;  ///< the names of the plugin and of the op: "acme.ops.softcap"
};

/// The crescent_buffer structs that describe the inputs or the results of the compute callback.
struct Buffers {
  explicit Buffers(size_t count) : all_buffers(count) {
    for (crescent_buffer& each : all_buffers) pointers.push_back(&each);
  }
  void set(size_t i, const Tensor& tensor, void* data) {
    all_buffers[i] = {
        sizeof(crescent_buffer), data,         static_cast<int32_t>(tensor.dtype()), tensor.rank(),
        tensor.shape().begin(),  tensor.size()};
  }
  std::vector<crescent_buffer> all_buffers;
  std::vector<crescent_buffer*> pointers;
};

/// Returns the specs that the infer callback gave. Fails if there are none, if one has the dtype
/// string, or if one has an unknown size although all input shapes are known: compute could not
/// fill in such a result.
TensorSpecs checked_results(std::span<const TensorSpec> inputs, TensorSpecs results) {
  if (results.empty()) fail("its infer gave no results");
  const bool is_known = std::all_of(inputs.begin(), inputs.end(),
                                    [](const TensorSpec& input) { return input.shape.is_known(); });
  for (const TensorSpec& result : results) {
    if (result.dtype == DType::string) fail("its infer gave strings, which an op cannot compute");
    if (is_known && !result.shape.is_known())
      fail("its infer gave the shape ", result.shape, " for inputs of known shapes");
  }
  return results;
}

class TableOp final : public Op {
 public:
  TableOp(const OpClass& op_class, std::string attributes)
      : class_(op_class), attributes_(std::move(attributes)) {}
  std::string_view name() const override { return class_.name; }
  TensorSpecs infer(std::span<const TensorSpec> inputs) const override {
    const SpecList input_specs(inputs);
    SpecList results(CRESCENT_MAX_RESULTS);
    size_t count = CRESCENT_MAX_RESULTS;
    throw_if(class_.table.infer(attributes_.c_str(), input_specs.data(), inputs.size(),
                                results.pointers(), &count));
    return checked_results(inputs, results.specs(count));
  }
  bool compute(std::span<const Tensor> inputs, std::span<Tensor> outputs) const override {
    Buffers input_buffers(inputs.size()), results(outputs.size());
    for (size_t i = 0; i < inputs.size(); ++i)
      input_buffers.set(i, inputs[i], const_cast<void*>(inputs[i].raw()));
    for (size_t i = 0; i < outputs.size(); ++i)
      results.set(i, outputs[i], outputs[i].mutable_raw());
    throw_if(class_.table.compute(attributes_.c_str(), input_buffers.pointers.data(), inputs.size(),
                                  results.pointers.data(), outputs.size()));
    return true;
  }
  bool computes() const override { return true; }
  Tensors vjp(const Vjp& v) const override {
    if (!class_.table.gradient) return Op::vjp(v);
    const LentTensors inputs(v.inputs), outputs(v.outputs), gradients(v.gradients);
    ReturnedTensors results(inputs.size());
    throw_if(class_.table.gradient(attributes_.c_str(), inputs.data(), inputs.size(),
                                   outputs.data(), gradients.data(), outputs.size(),
                                   results.data()));
    return results.tensors(inputs.size());
  }
  bool equals(const Op& other) const override {
    const auto* other_op = dynamic_cast<const TableOp*>(&other);
    return other_op && &other_op->class_ == &class_ && other_op->attributes_ == attributes_;
  }
  size_t hash() const override {
    return std::hash<std::string>()(attributes_) ^ std::hash<const void*>()(&class_);
  }
  std::string text() const override { return class_.name + "(" + attributes_ + ")"; }

 private:
  const OpClass& class_;
  std::string attributes_;
};

/// Applies the op to its tensor arguments; the remaining arguments become attributes of the op.
class OpAccess final : public MethodAccess {
 public:
  explicit OpAccess(const OpClass& op_class) : class_(op_class) {}
  Value call(void*, const Method& method, const Dict& arguments) const override {
    Tensors inputs;
    Dict attributes;
    for (size_t i = 0; i < method.parameters.fields.size(); ++i) {
      const Field& field = method.parameters.fields[i];
      const Value* argument = arguments.find(field.name);
      if (!argument && field.required) fail(class_.table.name, ": '", field.name, "' is missing");
      const Value& value = argument ? *argument : field.default_value;
      if (i < class_.table.input_count)
        inputs.push_back(Codec<Tensor>::decode(value));
      else
        attributes.set(field.name, value);
    }
    OpPtr op = std::make_shared<TableOp>(class_, to_json(attributes));
    return results_of(crescent::apply(std::move(op), std::span<const Tensor>(inputs)));
  }

 private:
  static Value results_of(const Tensors& tensors) {
    if (tensors.size() == 1) return Codec<Tensor>::encode(tensors.front());
    List list;
    for (const Tensor& each : tensors) list.push_back(Codec<Tensor>::encode(each));
    return list;
  }
  const OpClass& class_;
};

class OpFactory final : public Factory {
 public:
  explicit OpFactory(std::shared_ptr<const OperationSchema> schema) : schema_(std::move(schema)) {}
  std::shared_ptr<Configurable> make(const Dict& options) const override {
    if (!options.empty()) fail(schema_->functions.front(), ": an operation has no options");
    return std::make_shared<Operation>(schema_);
  }

 private:
  std::shared_ptr<const OperationSchema> schema_;
};

std::vector<Parameter> parameters_of(const crescent_op_class& table) {
  auto parameters = parse_parameters(text_of(table.parameters, "op->parameters"));
  if (table.input_count == 0 || table.input_count > parameters.size())
    fail(table.name, ": input_count is ", table.input_count, " of ", parameters.size(),
         " parameters");
  for (const Parameter& each : parameters) required_name(each.name.c_str(), "op->parameters");
  for (size_t i = 0; i < table.input_count; ++i) {
    parameters[i].is_tensor = parameters[i].in_call = true;
    parameters[i].type = Codec<Tensor>::type();
  }
  return parameters;
}

std::shared_ptr<const OperationSchema> schema_of(const OpClass& op_class,
                                                 const std::string& plugin) {
  const auto schema = std::make_shared<OperationSchema>();
  schema->functions = {op_class.table.name};
  schema->module = plugin;
  schema->keras_class = op_class.table.name;
  schema->signature.name = op_class.table.name;
  schema->signature.parameters = parameters_of(op_class.table);
  schema->signature.doc = op_class.table.doc ? op_class.table.doc : "";
  schema->signature.result = Codec<Tensor>::type();
  schema->result = OperationResult::tensor_or_tuple;
  schema->method.name = op_class.table.name;
  schema->method.result = schema->signature.result;
  schema->method.parameters.title = op_class.table.name;
  schema->method.parameters.word = "argument";
  schema->method.parameters.description = schema->signature.doc;
  for (const Parameter& parameter : schema->signature.parameters) {
    Field field;
    static_cast<Parameter&>(field) = parameter;
    field.takes_dict = !parameter.is_tensor;
    schema->method.parameters.fields.push_back(std::move(field));
  }
  schema->method.access = std::make_shared<OpAccess>(op_class);
  return schema;
}

}  // namespace

void register_op(const crescent_op_class& op_class, const std::string& plugin, Registry& registry) {
  // The struct is never freed, because the registered class refers to it until the process ends.
  const auto* stored_class = new OpClass{read_struct(&op_class, "op"), ""};
  if (!stored_class->table.infer || !stored_class->table.compute)
    fail("an op lacks its infer or its compute");
  const std::string name = required_name(stored_class->table.name, "op->name");
  const_cast<OpClass*>(stored_class)->name = plugin + "." + name;
  const auto schema = schema_of(*stored_class, plugin);
  ClassInfo info;
  info.kind = Operation::kKind;
  info.name = name;
  info.schema.title = name;
  info.schema.description = schema->signature.doc;
  info.schema.traits = {{"functions", Value(schema->functions)},
                        {"parameters", std::string(stored_class->table.parameters)},
                        {"method", true}};
  if (!schema->signature.doc.empty()) info.schema.traits.set("doc", schema->signature.doc);
  info.factory = std::make_shared<OpFactory>(schema);
  registry.add(std::move(info));
}

}  // namespace crescent::c
