// Every case of ops.h5: outputs and gradients of a function of Keras, computed eagerly, compiled,
// and through symbols.
#include <algorithm>
#include <catch2/catch.hpp>

#include "crescent/base/mapped.h"
#include "golden/recorded.h"

using namespace crescent;
using namespace crescent::golden;

namespace {

/// Functions that are recorded but not implemented.
const std::set<std::string> kMissing = {};

/// Functions whose output size depends on values: they run only eagerly.
const std::set<std::string> kEagerOnly = {"bincount", "nonzero", "repeat", "unique"};

struct Case {
  const Recording& file;
  std::string name, note;
  std::shared_ptr<Operation> operation;
  Value args, kwargs;
  Tensors inputs, upstream;

  std::string path_of(const char* part) const { return name + "/" + part; }
};

/// The argument with placeholders replaced by the inputs and indices that they stand for.
std::optional<Value> argument(const Value& value, const List& inputs) {
  if (!value.is_dict() || value.as_dict().size() != 1) return std::nullopt;
  const auto& [key, placeholder] = *value.as_dict().begin();
  if (key == "tensor") return inputs.at(static_cast<size_t>(placeholder.as_int()));
  if (key == "ellipsis") return Value("...");
  if (key == "slice") {
    const List& slice_parts = placeholder.as_list();
    return Dict{{"start", slice_parts[0]}, {"stop", slice_parts[1]}, {"step", slice_parts[2]}};
  }
  if (key != "tensors") return std::nullopt;
  List tensors;
  for (const Value& i : placeholder.as_list())
    tensors.push_back(inputs.at(static_cast<size_t>(i.as_int())));
  return Value(std::move(tensors));
}

Dict arguments(const Case& c, const List& inputs) {
  const auto change = [&](const Value& value) { return argument(value, inputs); };
  return c.operation->arguments(mapped(c.args, change).as_list(),
                                mapped(c.kwargs, change).as_dict());
}

template <class Box, class T>
List boxed(const std::vector<T>& items) {
  List list;
  for (const T& item : items) list.push_back(Value(std::make_shared<Box>(item)));
  return list;
}

void add_tensors(const Value& value, Tensors& tensors) {
  if (value.is_list())
    for (const Value& item : value.as_list()) add_tensors(item, tensors);
  else if (value.is_int())
    tensors.push_back(Tensor::scalar(static_cast<double>(value.as_int()), DType::int32));
  else
    tensors.push_back(Codec<Tensor>::decode(value));
}

Tensors outputs(const Case& c, const Tensors& inputs) {
  Tensors results;
  add_tensors((*c.operation)(arguments(c, boxed<BoxedTensor>(inputs))), results);
  return results;
}

/// The outputs, and the gradients of sum(outputs * upstream) if they are recorded.
struct Results {
  Tensors outputs, grad_inputs;
};

template <class F>
Results run(const Case& c, const Tensors& inputs, F f) {
  if (c.upstream.empty()) return {f(inputs), {}};
  Tensors watched_tensors;
  GradientTape tape;
  for (const Tensor& x : inputs) {
    if (!is_floating(x.dtype())) continue;
    tape.watch(x);
    watched_tensors.push_back(x);
  }
  const Tensors results = f(inputs);
  tape.stop();
  Tensors targets;
  for (const Tensor& y : results)
    if (is_floating(y.dtype())) targets.push_back(y);
  Tensors gradients = tape.gradient(targets, watched_tensors, c.upstream);
  for (size_t i = 0; i < gradients.size(); ++i)
    if (!gradients[i]) gradients[i] = ops::zeros_like(watched_tensors[i]);
  return {results, gradients};
}

/// Calls the function on symbols; a function without inputs has no graph to run.
Tensors through_symbols(const Case& c, const Tensors& inputs) {
  std::vector<Symbol> symbols;
  for (const Tensor& x : inputs) {
    InputOptions options;
    options.batch_shape = x.shape();
    options.dtype = x.dtype();
    symbols.push_back(Input(options));
  }
  const Value result = (*c.operation)(arguments(c, boxed<BoxedSymbol>(symbols)));
  std::vector<Symbol> output_symbols;
  for (const Value& end : result.is_list() ? result.as_list() : List{result})
    output_symbols.push_back(end.object_as<BoxedSymbol>()->symbol);
  return (*Functional::make(symbols, output_symbols))(inputs);
}

/// The tensor in a form for comparison: complex numbers as pairs, without parts that the
/// recording's note leaves undefined.
Tensor comparable(const Case& c, const Tensor& result) {
  const Tensor x = result.dtype() == DType::complex64 ? ops::view_as_real(result) : result;
  return c.note.find("up to sign") == std::string::npos ? x : ops::abs(x);
}

void compare(const Case& c, const Tensors& got, const char* part, const char* mode,
             Tolerance tolerance) {
  if (!c.file.has(c.path_of(part))) return;
  const Tensors wanted = c.file.tensors(c.path_of(part));
  INFO(c.name << ", " << mode << ", " << part);
  REQUIRE(got.size() == wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    INFO("number " << i);
    const std::string dtype =
        c.file.dtype(c.path_of(part) + "/" + c.file.names(c.path_of(part))[i]);
    CHECK(name_of(got[i].dtype()) == dtype);
    CHECK(difference(comparable(c, got[i]), comparable(c, wanted[i]), tolerance) == "");
  }
}

void compare(const Case& c, const Results& results, const char* mode) {
  compare(c, results.outputs, "outputs", mode, kValues);
  compare(c, results.grad_inputs, "grad_inputs", mode, kGradients);
}

/// Checks a partition: elements before position k are not larger than the one there, elements after
/// it not smaller, and each index occurs once.
void check_partition(const Case& c, const Tensors& results) {
  const Tensor& x = c.inputs.front();
  const Tensor indices = results.front();
  CHECK(ops::all(ops::equal(ops::sum(ops::one_hot(indices, x.dim(-1)), {-2}), 1)).item() == 1);
  const Tensor partitioned = ops::gather_along_axis(x, indices, -1);
  const int64_t kth = c.args.as_list().at(1).as_int(), n = x.dim(-1);
  const Tensor pivot = ops::slice_axis(partitioned, -1, kth, kth + 1);
  CHECK(ops::all(ops::less_equal(ops::slice_axis(partitioned, -1, 0, kth), pivot)).item() == 1);
  CHECK(ops::all(ops::greater_equal(ops::slice_axis(partitioned, -1, kth, n), pivot)).item() == 1);
}

void run_case(const Case& c) {
  const auto call_directly = [&](const Tensors& inputs) { return outputs(c, inputs); };
  if (c.operation->name() == "argpartition") return check_partition(c, call_directly(c.inputs));
  compare(c, run(c, c.inputs, call_directly), "eager");
  if (kEagerOnly.contains(c.operation->name())) return;
  const Function compiled([&](const Tensors& inputs) {
    const Results results = run(c, inputs, call_directly);
    Tensors tensors = results.outputs;
    tensors.insert(tensors.end(), results.grad_inputs.begin(), results.grad_inputs.end());
    return tensors;
  });
  const Tensors tensors = compiled(c.inputs);
  const auto end =
      tensors.begin() + static_cast<std::ptrdiff_t>(c.file.names(c.path_of("outputs")).size());
  compare(c, {Tensors(tensors.begin(), end), Tensors(end, tensors.end())}, "compiled");
  if (c.inputs.empty() || c.operation->schema().result == OperationResult::host_value) return;
  compare(c, run(c, c.inputs, [&](const Tensors& inputs) { return through_symbols(c, inputs); }),
          "through symbols");
}

Tensor cast_to_dtype(const Tensor& x, DType dtype) {
  return dtype == DType::complex64 ? ops::view_as_complex(x) : ops::cast(x, dtype);
}

Tensors typed_tensors(const Recording& file, const std::string& group) {
  Tensors tensors = file.tensors(group);
  const auto names = file.names(group);
  for (size_t i = 0; i < tensors.size(); ++i)
    tensors[i] = cast_to_dtype(tensors[i], dtype_named(file.dtype(group + "/" + names[i])));
  return tensors;
}

void collect_cases(const Recording& file, const std::string& group,
                   std::vector<std::string>& names) {
  for (const std::string& name : file.names(group)) {
    const std::string case_path = group == "/" ? name : group + "/" + name;
    if (file.text_if_any(case_path, "op"))
      names.push_back(case_path);
    else
      collect_cases(file, case_path, names);
  }
}

}  // namespace

TEST_CASE("operations give Keras' outputs and gradients, eager, compiled and through symbols") {
  const std::string path = folder() + "/ops.h5";
  if (!is_there(path)) return;
  const Recording file(path);
  Tally tally(kMissing);
  std::vector<std::string> names;
  collect_cases(file, "/", names);
  for (const std::string& name : names) {
    const std::string op = file.text(name, "op");
    INFO(name << " (" << op << ")");
    if (!registry().find(Operation::kKind, op)) {
      tally.count_skipped(op);
      continue;
    }
    try {
      run_case({file, name, file.text_if_any(name, "note").value_or(""), get<Operation>(Value(op)),
                file.json(name, "args"), file.json(name, "kwargs"),
                typed_tensors(file, name + "/inputs"), file.tensors(name + "/upstream")});
      tally.count_compared();
    } catch (const Error& error) {
      FAIL_CHECK(name << ": " << error.what());
    }
  }
  tally.check();
}
