// Records the call of a model as a program and converts its ops to ONNX nodes. An op that cannot be
// written as nodes (op_emitters.h) is first decomposed into other ops.
#include "export.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "crescent/device/lowering.h"
#include "op_emitters.h"

namespace crescent::onnx {
namespace {

/// A device that supports exactly the ops that can be written as ONNX nodes. The program is lowered
/// for this device, which decomposes all other ops; the device computes nothing.
class EmittableOps final : public Device {
 public:
  bool supports(const Op& op, std::span<const TensorSpec>,
                std::span<const TensorSpec>) const override {
    return has_emitter(op.name());
  }
  std::unique_ptr<Executable> compile(const Program&) override {
    fail("onnx: programs are written, not run");
  }
  Dict information() const override { return {}; }
};

/// The dtypes and shapes of the model's inputs, whose dynamic axes get the given sizes.
TensorSpecs input_specs(const Model& model, const int64_t (&sizes)[kMaxDynamicAxes]) {
  TensorSpecs specs;
  for (const Symbol& symbol : model.inputs()) {
    TensorSpec spec = symbol.spec();
    for (int axis = 0; axis < std::min(spec.shape.rank(), kMaxDynamicAxes); ++axis)
      if (spec.shape[axis] < 0) spec.shape.set(axis, sizes[axis]);
    if (!spec.shape.is_known())
      fail("input '", symbol.layer()->name(), "' has shape ", symbol.shape(),
           ": ONNX export needs every size but those of the first ", kMaxDynamicAxes,
           " axes; make the model with an Input of known shape");
    specs.push_back(spec);
  }
  return specs;
}

void check_ops(const Program& program) {
  for (const Program::Instruction& i : program.code) {
    if (auto* scan = dynamic_cast<const Scan*>(i.op.get())) check_ops(*scan->body);
    if (!has_emitter(i.op->name())) fail(location_of(program, i), ": it has no form in ONNX");
  }
}

/// Removes the updates of metrics inside layers from the program, since they do not change the
/// prediction.
void drop_metrics(Program& program, Model& model) {
  std::set<const void*> metric_variables;
  for (const Layer* layer : model.flatten_layers())
    for (const auto& metric : layer->metrics())
      for (const Variable& variable : metric->variables()) metric_variables.insert(variable.id());
  for (Program::Binding& binding : program.variables)
    if (metric_variables.contains(binding.variable.id())) binding.result = -1;
}

/// Removes instructions and variables on which no result depends.
void drop_unread(Program& program) {
  std::vector<bool> is_read(program.values.size());
  for (const int value : program.outputs) is_read[value] = true;
  for (const Program::Binding& binding : program.variables)
    if (binding.result >= 0) is_read[binding.result] = true;
  std::vector<Program::Instruction> needed_code;
  for (auto i = program.code.rbegin(); i != program.code.rend(); ++i) {
    const bool is_needed = i->op->effect() == Effect::ordered ||
                           std::any_of(i->outputs.begin(), i->outputs.end(),
                                       [&](int value) { return is_read[value]; });
    if (!is_needed) continue;
    for (const int value : i->inputs) is_read[value] = true;
    needed_code.push_back(std::move(*i));
  }
  program.code.assign(std::make_move_iterator(needed_code.rbegin()),
                      std::make_move_iterator(needed_code.rend()));
  std::erase_if(program.variables, [&](const Program::Binding& binding) {
    return binding.result < 0 && !is_read[binding.value];
  });
}

Program record_program(Model& model, const int64_t (&sizes)[kMaxDynamicAxes]) {
  auto call = [&](const Tensors& x) { return model(x, CallOptions{}); };
  Program program = trace(call, input_specs(model, sizes));
  drop_metrics(program, model);
  drop_unread(program);
  for (const Program::Binding& binding : program.variables)
    if (binding.result >= 0)
      fail("'", binding.variable.path(),
           "' changes from batch to batch, which a graph of ONNX cannot do");
  program = lower(std::move(program), EmittableOps());
  check_ops(program);
  return program;
}

void check_graph(const Model& model) {
  if (!model.is_graph())
    fail("ONNX export needs a model that is a graph of layers, with known inputs: ", model.name(),
         " is none; a Sequential must be built or have an Input");
}

void name_inputs(File& file, Emitter& emitter, const Model& model, const TracedProgram& traced) {
  const Names names = model.input_names();
  for (size_t i = 0; i < names.size(); ++i) {
    const int value = traced.program.inputs[i];
    const auto index = static_cast<size_t>(value);
    const std::string name = unique_name(file, names[i]);
    file.main.inputs.push_back({name, traced.program.values[index].dtype, traced.sizes[index]});
    emitter.bind(value, name);
  }
}

void name_outputs(File& file, Emitter& emitter, const Names& names, const TracedProgram& traced) {
  for (size_t i = 0; i < names.size(); ++i) {
    const int value = traced.program.outputs[i];
    const auto index = static_cast<size_t>(value);
    const std::string internal_name = emitter.name_of(value);
    file.main.nodes.push_back({"Identity", {internal_name}, {names[i]}, {}});
    file.main.outputs.push_back(
        {names[i], traced.program.values[index].dtype, traced.sizes[index]});
  }
}

}  // namespace

bool has_emitter(std::string_view op) {
  for (std::span<const OpEmitter> emitters :
       {elementwise_emitters(), shape_emitters(), window_emitters(), recurrent_emitters()})
    for (const OpEmitter& emitter : emitters)
      if (emitter.op == op) return true;
  return false;
}

void emit(Emitter& emitter, const Op& op) {
  for (std::span<const OpEmitter> emitters :
       {elementwise_emitters(), shape_emitters(), window_emitters(), recurrent_emitters()})
    for (const OpEmitter& op_emitter : emitters)
      if (op_emitter.op == op.name()) return op_emitter.emit(emitter, op);
}

Graph graph_of(Model& model) {
  check_graph(model);
  const TracedProgram traced = compare_programs(record_program(model, kTracedSizes[0]),
                                                record_program(model, kTracedSizes[1]));
  File file;
  file.main.name = model.name();
  Emitter emitter(file, file.main, traced);
  name_inputs(file, emitter, model, traced);
  Names outputs;
  for (const std::string& name : model.output_names()) outputs.push_back(unique_name(file, name));
  for (const Program::Binding& binding : traced.program.variables)
    emitter.bind(binding.value, binding.variable.value());
  emitter.run();
  name_outputs(file, emitter, outputs, traced);
  return std::move(file.main);
}

}  // namespace crescent::onnx
