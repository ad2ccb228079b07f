#include "tensors/vectorize.h"

#include <algorithm>

#include "crescent/program/program.h"
#include "tensors/structure.h"
#include "values/function.h"

namespace crescent::lua {
namespace {

/// The number of axes that the function expects of each argument, read from its signature: {1, 1}
/// for "(n),(m)->(k)".
std::vector<int> core_ranks(const std::string& signature) {
  const std::string arguments = signature.substr(0, signature.find("->"));
  std::vector<int> ranks;
  for (size_t open = 0; (open = arguments.find('(', open)) != std::string::npos;) {
    const size_t close = arguments.find(')', open);
    if (close == std::string::npos) break;
    const std::string names = arguments.substr(open + 1, close - open - 1);
    const bool is_scalar_argument = names.find_first_not_of(' ') == std::string::npos;
    ranks.push_back(
        is_scalar_argument ? 0 : 1 + static_cast<int>(std::count(names.begin(), names.end(), ',')));
    open = close;
  }
  if (ranks.empty() || signature.find("->") == std::string::npos)
    fail("vectorize: expected a signature such as '(n),(n)->()', got '", signature, "'");
  return ranks;
}

/// The options of cr.ops.vectorize.
struct VectorizeOptions {
  std::vector<int64_t> excluded_positions;  ///< the positions, from 1, of arguments that are passed
                                            ///< whole to each call
  /// for each other argument, the number of axes that the function expects; if empty, it expects
  /// scalars
  std::vector<int> ranks;
  int rank(size_t i) const { return ranks.empty() ? 0 : ranks[i]; }
};

Shape leading_shape(const Tensor& x, int core_rank) {
  if (x.rank() < core_rank)
    fail("vectorize: expected an argument of at least ", core_rank, " axes, got shape ", x.shape());
  return x.shape().slice(0, x.rank() - core_rank);
}

int64_t size_or_unknown(const Shape& shape) { return shape.is_known() ? shape.size() : -1; }

/// Calls f on parts of the arguments. A part has the last axes of its argument, as many as f
/// expects of this argument. The leading axes of all arguments are broadcast against each other.
/// The calls are recorded as a scan.
Value call_vectorized(const ValueFunction& f, const VectorizeOptions& options, List arguments) {
  std::vector<size_t> mapped_indices;
  Tensors rows;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto argument_number = static_cast<int64_t>(i) + 1;
    if (std::find(options.excluded_positions.begin(), options.excluded_positions.end(),
                  argument_number) != options.excluded_positions.end())
      continue;
    mapped_indices.push_back(i);
    rows.push_back(tensor_in(arguments[i]));
  }
  if (!options.ranks.empty() && options.ranks.size() != rows.size())
    fail("vectorize: the signature has ", options.ranks.size(), " arguments, got ", rows.size());
  if (rows.empty()) return f(arguments);
  Shape batch;
  for (size_t i = 0; i < rows.size(); ++i)
    batch = broadcast_shapes(batch, leading_shape(rows[i], options.rank(i)), "vectorize");
  for (size_t i = 0; i < rows.size(); ++i) {
    const int core_rank = options.rank(i), rank = rows[i].rank();
    const Shape core_shape = rows[i].shape().slice(rank - core_rank, rank);
    rows[i] = ops::reshape(ops::broadcast_to(rows[i], batch.concat(core_shape)),
                           Shape{size_or_unknown(batch)}.concat(core_shape));
  }
  Value result_structure;
  const auto step = [&](const Tensors&, const Tensors& row) {
    for (size_t i = 0; i < mapped_indices.size(); ++i)
      arguments[mapped_indices[i]] = Codec<Tensor>::encode(row[i]);
    result_structure = f(arguments);
    return ops::ScanResult{{}, tensors_in(result_structure)};
  };
  Tensors results = ops::scan(step, {}, rows).outputs;
  for (Tensor& result : results)
    result = ops::reshape(result, batch.concat(result.shape().slice(1, result.rank())));
  return with_tensors(result_structure, results);
}

class CallVectorized final : public Callable {
 public:
  CallVectorized() : Callable("vectorized function", {}, "") {}
  int call(lua_State* L) const override {
    List arguments;
    for (int i = 1; i <= lua_gettop(L); ++i) arguments.push_back(to_value(L, i));
    VectorizeOptions options;
    options.excluded_positions = to_integers(L, lua_upvalueindex(3));
    if (lua_isstring(L, lua_upvalueindex(4)))
      options.ranks = core_ranks(text_of(L, lua_upvalueindex(4)));
    const Value result =
        call_vectorized(function_at(lua_upvalueindex(2)), options, std::move(arguments));
    push_value(L, result);
    return 1;
  }
};

OnStack vectorize(Any pyfunc, Any excluded, std::optional<std::string> signature) {
  static const CallVectorized call;
  lua_State* L = current();
  expect_callable(L, pyfunc.index);
  if (signature) core_ranks(*signature);
  to_integers(L, excluded.index);
  lua_pushvalue(L, pyfunc.index);
  lua_pushvalue(L, excluded.index);
  signature ? push_string(L, *signature) : lua_pushnil(L);
  push_closure(L, call, 3);
  return {};
}

}  // namespace

CallablePtr vectorize_function() {
  return bound("vectorize -> a function", &vectorize,
               {"pyfunc: a function", "excluded: a list of positions=nil", "signature=nil"},
               "Makes a function of tensors from one of scalars, or of parts of tensors by a "
               "signature such as \"(n),(n)->()\", by applying it to all of them; `excluded` lists "
               "positions of arguments to pass unchanged.");
}

}  // namespace crescent::lua
