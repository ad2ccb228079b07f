#include "random/reference/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "crescent/ops/ops.h"

namespace crescent::random_programs {
namespace {

bool is_integer_or_bool(DType dtype) { return is_integer(dtype) || dtype == DType::boolean; }

double within_range(double value, DType dtype) {
  const double largest_number = largest(dtype);
  if (std::isinf(value) || std::abs(value) <= largest_number / 16) return value;
  throw Unreliable("near the largest number");
}

/// The array as a float64 tensor if its dtype is floating-point, else as a tensor of its own dtype.
Tensor float64_tensor(const Array& array) {
  const Tensor values = Tensor::from(array.values, array.spec.shape);
  return is_floating(array.spec.dtype) ? values : ops::cast(values, array.spec.dtype);
}

/// Runs an op that has no reference implementation: the device runs it in float64. If all results
/// are elements of an input (or 0 or an infinity), the op only selected elements, so the results
/// are exact.
void run_on_device(const OpPtr& op, const Call& call) {
  constexpr double kUnits = 4;
  Tensors inputs;
  std::unordered_set<double> input_values{0, INFINITY, -INFINITY};
  double most = 0;
  for (const Array* in : call.in) {
    inputs.push_back(float64_tensor(*in));
    input_values.insert(in->values.begin(), in->values.end());
    for (double x : in->values) most = std::isfinite(x) ? std::max(most, std::abs(x)) : most;
    const bool is_exact_comparison =
        call.out[0].spec.dtype == DType::boolean && call.rounding.is_exact();
    for (double x : in->values)
      if (is_exact_comparison && is_floating(in->spec.dtype))
        refuse_near(x, std::nearbyint(x), in->read_as());
  }
  const Tensors results = crescent::apply(op, inputs);
  for (size_t i = 0; i < results.size(); ++i) {
    const DType dtype = call.out[i].spec.dtype;
    if (dtype == DType::complex64 || dtype == DType::string) throw Unreliable("no numbers");
    std::vector<double>& values = call.out[i].values;
    values = results[i].to_vector();
    const bool is_selection = std::all_of(values.begin(), values.end(),
                                          [&](double x) { return input_values.count(x) != 0; });
    for (double& x : values)
      if (!is_selection && x != 0) x = call.rounding(x, dtype, kUnits, most);
  }
}

Arrays pointers_to(const std::vector<Array>& arrays) {
  Arrays pointers;
  for (const Array& array : arrays) pointers.push_back(&array);
  return pointers;
}

/// The indices of the values that a multiplication reads, directly or through additions and casts.
std::unordered_set<int> scaled_values(const Program& program) {
  std::unordered_set<int> scaled_numbers;
  for (auto i = program.code.rbegin(); i != program.code.rend(); ++i) {
    const auto* binary = dynamic_cast<const Binary*>(i->op.get());
    const bool is_multiplication =
        binary && (binary->kind == BinaryKind::multiply || binary->kind == BinaryKind::divide);
    const bool keeps_scale =
        i->op->name() == Cast::kName ||
        (binary && (binary->kind == BinaryKind::add || binary->kind == BinaryKind::subtract));
    if (is_multiplication || (keeps_scale && scaled_numbers.count(i->outputs[0])))
      scaled_numbers.insert(i->inputs.begin(), i->inputs.end());
  }
  return scaled_numbers;
}

class Interpreter {
 public:
  Interpreter(Rounding& rounding, Equalities* equalities, bool is_inside_compound = false)
      : rounding_(rounding), equalities_(equalities), is_inside_compound_(is_inside_compound) {}

  std::vector<Array> run(const Program& program, const Arrays& inputs) {
    std::vector<Array> computed_values(program.values.size());
    Arrays values;
    for (const Array& value : computed_values) values.push_back(&value);
    size_t next_input = 0;
    for (int input : program.inputs) values[static_cast<size_t>(input)] = inputs[next_input++];
    for (const auto& binding : program.variables)
      values[static_cast<size_t>(binding.value)] = inputs[next_input++];
    for (const Program::Constant& constant : program.constants)
      computed_values[static_cast<size_t>(constant.value)] = constant_of(constant.tensor);
    const std::unordered_set<int> scaled_numbers = scaled_values(program);
    for (const Program::Instruction& instruction : program.code) {
      Arrays in;
      for (int v : instruction.inputs) in.push_back(values[static_cast<size_t>(v)]);
      std::vector<Array> out;
      for (int v : instruction.outputs) {
        const TensorSpec& spec = program.values[static_cast<size_t>(v)];
        const int64_t element_parts = spec.dtype == DType::complex64 ? 2 : 1;
        out.push_back(
            {spec, std::vector<double>(static_cast<size_t>(spec.shape.size() * element_parts))});
      }
      run_instruction(instruction.op, in, out,
                      !out.empty() && scaled_numbers.count(instruction.outputs[0]) != 0);
      for (size_t i = 0; i < out.size(); ++i)
        computed_values[static_cast<size_t>(instruction.outputs[i])] = std::move(out[i]);
    }
    std::vector<Array> outputs;
    outputs.reserve(program.outputs.size());
    for (int v : program.outputs) outputs.push_back(*values[static_cast<size_t>(v)]);
    return outputs;
  }

 private:
  void run_instruction(const OpPtr& op, const Arrays& in, std::vector<Array>& out, bool is_scaled) {
    const Call call{*op, in, out, rounding_, equalities_, is_scaled};
    refuse_complex(call);
    if (op->name() == Scan::kName) {
      scan(static_cast<const Scan&>(*op), call);
    } else if (!interpret_elementwise(call) && !interpret_moves(call) && !interpret_sums(call) &&
               !interpret_windows(call) && !interpret_matrices(call) && !interpret_signals(call) &&
               !interpret_bits(call) && !run_decomposition(op, call)) {
      run_on_device(op, call);
    }
    for (Array& result : out) check_range(result);
  }

  /// Throws Unreliable for ops that compute with complex numbers, which the reference can only view
  /// as pairs.
  static void refuse_complex(const Call& call) {
    const std::string_view name = call.op.name();
    if (name == Bitcast::kName || name == Reshape::kName || name == "eig") return;
    bool is_complex = false;
    for (const Array* x : call.in) is_complex = is_complex || x->spec.dtype == DType::complex64;
    for (const Array& y : call.out) is_complex = is_complex || y.spec.dtype == DType::complex64;
    if (is_complex) throw Unreliable("complex numbers");
  }

  /// A constant of the program. Throws Unreliable for an infinite constant where a kernel may
  /// compute in a wider dtype: in compound ops, and in fused ops of 16-bit floats, which compute in
  /// float32.
  Array constant_of(const Tensor& tensor) const {
    Array constant = array_of(tensor);
    const bool may_be_computed_wider = is_inside_compound_ || size_of(tensor.dtype()) == 2;
    for (double x : constant.values)
      if (may_be_computed_wider && std::isinf(x)) throw Unreliable("an infinite constant");
    return constant;
  }

  /// Runs the decomposition of a compound op, whose intermediate values are not limited to the
  /// range of their dtype.
  bool run_decomposition(const OpPtr& op, const Call& call) {
    TensorSpecs specs;
    for (const Array* in : call.in) specs.push_back(in->spec);
    bool has_decomposition = true;
    const Program decomposition = trace(
        [&](const Tensors& inputs) {
          const Tensors results = op->decompose(inputs);
          has_decomposition = !results.empty();
          return results;
        },
        specs);
    if (!has_decomposition) return false;
    call.out = Interpreter(rounding_, equalities_, true).run(decomposition, call.in);
    return true;
  }

  void scan(const Scan& op, const Call& call) {
    const size_t state_count = static_cast<size_t>(op.states),
                 sequences = static_cast<size_t>(op.sequences);
    const int64_t steps = call.in[state_count]->spec.shape[0];
    std::vector<Array> inputs;
    for (const Array* in : call.in) inputs.push_back(*in);
    const Arrays pointers = pointers_to(inputs);
    const size_t stacked_count = op.body->outputs.size() - state_count;
    for (int64_t k = 0; k < steps; ++k) {
      const int64_t t = op.reverse ? steps - 1 - k : k;
      for (size_t sequence_index = state_count; sequence_index < state_count + sequences;
           ++sequence_index) {
        const Array& sequence = *call.in[sequence_index];
        const Shape shape = sequence.spec.shape.slice(1, sequence.spec.shape.rank());
        const auto first = sequence.values.begin() + t * shape.size();
        inputs[sequence_index] = {{sequence.spec.dtype, shape}, {first, first + shape.size()}};
      }
      const auto store_part = [&](const Array& part, size_t output) {
        std::copy(part.values.begin(), part.values.end(),
                  call.out[output].values.begin() + t * static_cast<int64_t>(part.values.size()));
      };
      for (size_t s = 0; s < state_count && op.keep_states; ++s)
        store_part(inputs[s], state_count + stacked_count + s);
      const std::vector<Array> results =
          Interpreter(rounding_, equalities_, is_inside_compound_).run(*op.body, pointers);
      for (size_t s = 0; s < state_count; ++s) inputs[s] = results[s];
      for (size_t o = 0; o < stacked_count; ++o)
        store_part(results[state_count + o], state_count + o);
    }
    for (size_t s = 0; s < state_count; ++s) call.out[s].values = inputs[s].values;
  }

  void check_range(Array& result) const {
    const DType dtype = result.spec.dtype;
    if (dtype == DType::string) throw Unreliable("no numbers");
    if (is_integer_or_bool(dtype)) {
      for (double& x : result.values) {
        if (!(std::abs(x) < 0x1p53)) throw Unreliable("large integers");
        x = nearest(x, dtype);
      }
    } else if (!is_inside_compound_) {
      for (double x : result.values)
        if (!std::isnan(x)) within_range(x, dtype);
    }
  }

  Rounding& rounding_;
  Equalities* equalities_;
  bool is_inside_compound_;
};

}  // namespace

Array array_of(const Tensor& tensor) { return {tensor.spec(), tensor.to_vector()}; }

std::vector<Array> interpret(const Program& program, const std::vector<Array>& inputs,
                             Rounding rounding, Equalities* equalities) {
  if (equalities) equalities->begin();
  return Interpreter(rounding, equalities).run(program, pointers_to(inputs));
}

double unit_of(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return 0x1p-24;
    case DType::float64:  // for float64 the reference has rounding errors as well
      return 0x1p-50;
    case DType::float16:
      return 0x1p-11;
    case DType::bfloat16:
      return 0x1p-8;
    default:
      return 0;
  }
}

double smallest_normal(DType dtype) {
  return dtype == DType::float64   ? std::numeric_limits<double>::min()
         : dtype == DType::float16 ? 0x1p-14
                                   : 0x1p-126;
}

double largest(DType dtype) {
  return dtype == DType::float64   ? std::numeric_limits<double>::max()
         : dtype == DType::float16 ? 65504.0
                                   : 0x1p127;
}

double nearest(double value, DType dtype) {
  switch (dtype) {
    case DType::float32:
      return static_cast<float>(value);
    case DType::float16:
      return float16_to_float(float_to_float16(static_cast<float>(value)));
    case DType::bfloat16:
      return bfloat16_to_float(float_to_bfloat16(static_cast<float>(value)));
    case DType::int8:
      return static_cast<int8_t>(static_cast<int64_t>(value));
    case DType::uint8:
      return static_cast<uint8_t>(static_cast<int64_t>(value));
    case DType::int16:
      return static_cast<int16_t>(static_cast<int64_t>(value));
    case DType::int32:
      return static_cast<int32_t>(static_cast<int64_t>(value));
    case DType::boolean:
      return value != 0;
    default:
      return value;
  }
}

double Rounding::random() {
  state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
  return static_cast<double>(static_cast<int64_t>(state_)) * 0x1p-63 * scale_;
}

double Rounding::operator()(double result, DType dtype, double units, double extra_magnitude) {
  if (!is_perturbing_ || units == 0 || !is_floating(dtype) || !std::isfinite(result)) return result;
  if (rounds_results_) --units;
  const double unit = unit_of(dtype), smallest = smallest_normal(dtype);
  // 16-bit floats are summed in float32
  const double unit_of_sums = size_of(dtype) == 2 ? 8 * unit_of(DType::float32) : unit;
  double perturbed =
      result + random() * (unit * units * std::abs(result) + unit_of_sums * extra_magnitude);
  // Subnormal numbers may be flushed to 0, and they have fewer digits.
  if (std::abs(result) < smallest && result != 0)
    perturbed = dtype == DType::float16 ? perturbed + random() * unit * smallest
                : random() > 0          ? 0
                                        : perturbed;
  return rounds_results_ ? nearest(perturbed, dtype) : perturbed;
}

bool Rounding::is_short(double result, DType dtype) {
  return result * 4 == std::floor(result * 4) && std::abs(result) * 4 * unit_of(dtype) <= 1;
}

double Rounding::of_arithmetic(double a, double b, double result, DType dtype) {
  const bool is_exact = is_short(a, dtype) && is_short(b, dtype) && is_short(result, dtype);
  return is_exact ? result : (*this)(result, dtype, 1);
}

double Rounding::of_sum(double a, double b, DType dtype) {
  const double result = a + b;
  if (is_short(a, dtype) && is_short(b, dtype) && is_short(result, dtype)) return result;
  return (*this)(result, dtype, 1, rounds_results_ ? 0 : std::abs(a) + std::abs(b));
}

double Rounding::of_reading(double x, DType dtype) {
  return rounds_inputs_ && size_of(dtype) == 2 ? of_arithmetic(x, x, x, dtype) : x;
}

std::vector<int64_t> strides_of(const Shape& shape) {
  std::vector<int64_t> strides(static_cast<size_t>(shape.rank()));
  int64_t stride = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[static_cast<size_t>(i)] = stride;
    stride *= shape[i];
  }
  return strides;
}

}  // namespace crescent::random_programs
