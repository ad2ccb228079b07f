// Chains: sequences of steps that are compiled as one loop, so that each array is loaded and stored
// once. The results are bit-identical to those of the single steps. The table contains the chains
// that run over all weights or all pixels in every training step, and chains whose single steps
// would be slower than memory.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "elementwise/loops_chain.cpp"
#include <hwy/foreach_target.h>

#include <array>
#include <utility>

#include "elementwise/evaluate-inl.h"
#include "kernel/columns-inl.h"
#include "kernel/loops.h"
#include "kernel/sums-inl.h"

#ifndef CRESCENT_CPU_LOOPS_CHAIN_ONCE
#define CRESCENT_CPU_LOOPS_CHAIN_ONCE
namespace crescent::cpu {

constexpr FusedStep chain_step(UnaryKind kind, int x) {
  return {FusedStep::Kind::unary, kind, {}, DType::float32, {x, 0, 0}};
}
constexpr FusedStep chain_test(UnaryKind kind, int x) {
  return {FusedStep::Kind::unary, kind, {}, DType::boolean, {x, 0, 0}};
}
constexpr FusedStep chain_test(BinaryKind kind, int a, int b) {
  return {FusedStep::Kind::binary, {}, kind, DType::boolean, {a, b, 0}};
}
constexpr FusedStep chain_select(int condition, int a, int b) {
  return {FusedStep::Kind::select, {}, {}, DType::float32, {condition, a, b}};
}
constexpr FusedStep chain_step(BinaryKind kind, int a, int b) {
  return {FusedStep::Kind::binary, {}, kind, DType::float32, {a, b, 0}};
}

/// The update of Adam with the gradient g: m += (g - m) * s; v += (g^2 - v) * t;
/// w -= m * rate / (sqrt(v) + epsilon).
struct AdamChain {
  static constexpr bool kHasRowLoop = false, kHasSum = false;
  static constexpr int kG = 0, kM = 1, kS = 2, kV = 3, kT = 4, kEpsilon = 5, kRate = 6, kW = 7,
                       kInputs = 8;
  static constexpr std::array<bool, kInputs> kIsScalar = {false, false, true, false,
                                                          true,  true,  true, false};
  static constexpr std::array<bool, kInputs> kIsStream = {true,  true,  false, true,
                                                          false, false, false, true};
  static constexpr std::array kSteps = {
      chain_step(BinaryKind::subtract, kG, kM),  chain_step(BinaryKind::multiply, 8, kS),
      chain_step(BinaryKind::add, kM, 9),        chain_step(UnaryKind::square, kG),
      chain_step(BinaryKind::subtract, 11, kV),  chain_step(BinaryKind::multiply, 12, kT),
      chain_step(BinaryKind::add, kV, 13),       chain_step(UnaryKind::sqrt, 14),
      chain_step(BinaryKind::add, 15, kEpsilon), chain_step(BinaryKind::multiply, 10, kRate),
      chain_step(BinaryKind::divide, 17, 16),    chain_step(BinaryKind::subtract, kW, 18)};
  static constexpr std::array<int, 3> kOutputs = {10, 14, 19};
};

/// The update of AdamW: w is replaced by w - w * kDecayRate * kDecay and then updated as in
/// AdamChain.
struct AdamWChain {
  static constexpr bool kHasRowLoop = false, kHasSum = false;
  static constexpr int kW = 0, kDecayRate = 1, kDecay = 2, kG = 3, kM = 4, kS = 5, kV = 6, kT = 7,
                       kEpsilon = 8, kRate = 9, kInputs = 10;
  static constexpr std::array<bool, kInputs> kIsScalar = {false, true,  true, false, false,
                                                          true,  false, true, true,  true};
  static constexpr std::array<bool, kInputs> kIsStream = {true,  false, false, true,  true,
                                                          false, true,  false, false, false};
  static constexpr std::array kSteps = {chain_step(BinaryKind::multiply, kW, kDecayRate),
                                        chain_step(BinaryKind::multiply, 10, kDecay),
                                        chain_step(BinaryKind::subtract, kW, 11),
                                        chain_step(BinaryKind::subtract, kG, kM),
                                        chain_step(BinaryKind::multiply, 13, kS),
                                        chain_step(BinaryKind::add, kM, 14),
                                        chain_step(UnaryKind::square, kG),
                                        chain_step(BinaryKind::subtract, 16, kV),
                                        chain_step(BinaryKind::multiply, 17, kT),
                                        chain_step(BinaryKind::add, kV, 18),
                                        chain_step(UnaryKind::sqrt, 19),
                                        chain_step(BinaryKind::add, 20, kEpsilon),
                                        chain_step(BinaryKind::multiply, 15, kRate),
                                        chain_step(BinaryKind::divide, 22, 21),
                                        chain_step(BinaryKind::subtract, 12, 23)};
  static constexpr std::array<int, 3> kOutputs = {15, 19, 24};
};

/// The update of Lion with d = g - m: m += d * s; w -= rate * sign(m_old + d * t).
struct LionChain {
  static constexpr bool kHasRowLoop = false, kHasSum = false;
  static constexpr int kG = 0, kM = 1, kS = 2, kT = 3, kRate = 4, kW = 5, kInputs = 6;
  static constexpr std::array<bool, kInputs> kIsScalar = {false, false, true, true, true, false};
  static constexpr std::array<bool, kInputs> kIsStream = {true, true, false, false, false, true};
  static constexpr std::array kSteps = {
      chain_step(BinaryKind::subtract, kG, kM),    chain_step(BinaryKind::multiply, 6, kS),
      chain_step(BinaryKind::add, kM, 7),          chain_step(BinaryKind::multiply, 6, kT),
      chain_step(BinaryKind::add, kM, 9),          chain_step(UnaryKind::sign, 10),
      chain_step(BinaryKind::multiply, kRate, 11), chain_step(BinaryKind::subtract, kW, 12)};
  static constexpr std::array<int, 2> kOutputs = {8, 13};
};

/// The update of RMSprop with the gradient g: v += (g^2 - v) * s;
/// w -= rate * g / sqrt(v + epsilon).
struct RmsPropChain {
  static constexpr bool kHasRowLoop = false, kHasSum = false;
  static constexpr int kG = 0, kV = 1, kS = 2, kEpsilon = 3, kRate = 4, kW = 5, kInputs = 6;
  static constexpr std::array<bool, kInputs> kIsScalar = {false, false, true, true, true, false};
  static constexpr std::array<bool, kInputs> kIsStream = {true, true, false, false, false, true};
  static constexpr std::array kSteps = {
      chain_step(UnaryKind::square, kG),           chain_step(BinaryKind::subtract, 6, kV),
      chain_step(BinaryKind::multiply, 7, kS),     chain_step(BinaryKind::add, kV, 8),
      chain_step(BinaryKind::add, 9, kEpsilon),    chain_step(UnaryKind::rsqrt, 10),
      chain_step(BinaryKind::multiply, kRate, kG), chain_step(BinaryKind::multiply, 12, 11),
      chain_step(BinaryKind::subtract, kW, 13)};
  static constexpr std::array<int, 2> kOutputs = {9, 14};
};

/// The base of chains of one array x and `scalar_count` scalar inputs.
template <size_t scalar_count>
struct FunctionChain {
  static constexpr bool kHasRowLoop = false, kHasSum = false;
  static constexpr int kX = 0, kFirstScalar = 1, kSecondScalar = 2, kThirdScalar = 3,
                       kInputs = 1 + scalar_count;
  static constexpr auto kIsScalar = [] {
    std::array<bool, kInputs> is_scalar{};
    for (size_t i = 1; i < is_scalar.size(); ++i) is_scalar[i] = true;
    return is_scalar;
  }();
  static constexpr std::array<bool, kInputs> kIsStream = {true};
};

/// x, or the scalar where x is NaN.
struct NanChain : FunctionChain<1> {
  static constexpr bool kHasSum = true;
  static constexpr std::array kSteps = {chain_test(UnaryKind::isnan, kX),
                                        chain_select(2, kFirstScalar, kX)};
  static constexpr std::array<int, 1> kOutputs = {3};
};

/// x clipped to two limits.
struct ClipChain : FunctionChain<2> {
  static constexpr std::array kSteps = {chain_step(BinaryKind::maximum, kX, kFirstScalar),
                                        chain_step(BinaryKind::minimum, 3, kSecondScalar)};
  static constexpr std::array<int, 1> kOutputs = {4};
};

/// x clipped to 0 and a limit.
struct LimitedReluChain : FunctionChain<1> {
  static constexpr std::array kSteps = {chain_step(UnaryKind::relu, kX),
                                        chain_step(BinaryKind::minimum, 2, kFirstScalar)};
  static constexpr std::array<int, 1> kOutputs = {3};
};

/// x where it is positive, slope x elsewhere.
struct LeakyReluChain : FunctionChain<2> {
  static constexpr std::array kSteps = {chain_step(BinaryKind::multiply, kX, kFirstScalar),
                                        chain_test(BinaryKind::greater, kX, kSecondScalar),
                                        chain_select(4, kX, 3)};
  static constexpr std::array<int, 1> kOutputs = {5};
};

/// x above a limit, a scalar elsewhere.
struct ThresholdChain : FunctionChain<2> {
  static constexpr std::array kSteps = {chain_test(BinaryKind::greater, kX, kFirstScalar),
                                        chain_select(3, kX, kSecondScalar)};
  static constexpr std::array<int, 1> kOutputs = {4};
};

/// elu(x): x above 0, e^x - 1 below.
struct EluChain : FunctionChain<1> {
  static constexpr std::array kSteps = {
      chain_step(BinaryKind::minimum, kX, kFirstScalar), chain_step(UnaryKind::expm1, 2),
      chain_test(BinaryKind::greater, kX, kFirstScalar), chain_select(4, kX, 3)};
  static constexpr std::array<int, 1> kOutputs = {5};
};

/// selu(x): scale x above 0, scale alpha (e^x - 1) below.
struct SeluChain : FunctionChain<3> {
  static constexpr std::array kSteps = {chain_step(BinaryKind::minimum, kX, kFirstScalar),
                                        chain_step(UnaryKind::expm1, 4),
                                        chain_step(BinaryKind::multiply, 5, kSecondScalar),
                                        chain_test(BinaryKind::greater, kX, kFirstScalar),
                                        chain_select(7, kX, 6),
                                        chain_step(BinaryKind::multiply, kThirdScalar, 8)};
  static constexpr std::array<int, 1> kOutputs = {9};
};

/// celu(x): relu(x) + (e^min(x, 0) - 1).
struct CeluChain : FunctionChain<1> {
  static constexpr std::array kSteps = {
      chain_step(BinaryKind::minimum, kX, kFirstScalar), chain_step(UnaryKind::expm1, 2),
      chain_step(UnaryKind::relu, kX), chain_step(BinaryKind::add, 4, 3)};
  static constexpr std::array<int, 1> kOutputs = {5};
};

/// hard_sigmoid(x): x / 6 + 1/2 clipped to [0, 1]. If `is_multiplied`, the result is multiplied by
/// x (hard_silu).
template <bool is_multiplied>
struct HardSigmoidChain : FunctionChain<3> {
  static constexpr auto kSteps = [] {
    std::array<FusedStep, 4 + is_multiplied> steps = {
        chain_step(BinaryKind::divide, kX, kFirstScalar),
        chain_step(BinaryKind::add, 4, kSecondScalar), chain_step(UnaryKind::relu, 5),
        chain_step(BinaryKind::minimum, 6, kThirdScalar)};
    if (is_multiplied) steps[4] = chain_step(BinaryKind::multiply, kX, 7);
    return steps;
  }();
  static constexpr std::array<int, 1> kOutputs = {7 + is_multiplied};
};

/// x, or 0 where |x| is at most a limit.
struct HardShrinkChain : FunctionChain<2> {
  static constexpr std::array kSteps = {chain_step(UnaryKind::abs, kX),
                                        chain_test(BinaryKind::less_equal, 3, kFirstScalar),
                                        chain_select(4, kSecondScalar, kX)};
  static constexpr std::array<int, 1> kOutputs = {5};
};

/// x moved towards 0 by a limit; 0 where |x| is at most the limit.
struct SoftShrinkChain : FunctionChain<2> {
  static constexpr std::array kSteps = {chain_step(UnaryKind::sign, kX),
                                        chain_step(BinaryKind::multiply, 3, kFirstScalar),
                                        chain_step(BinaryKind::subtract, kX, 4),
                                        chain_step(UnaryKind::abs, kX),
                                        chain_test(BinaryKind::greater, 6, kFirstScalar),
                                        chain_select(7, 5, kSecondScalar)};
  static constexpr std::array<int, 1> kOutputs = {8};
};

/// x rounded towards 0.
struct TruncChain : FunctionChain<1> {
  static constexpr std::array kSteps = {
      chain_step(UnaryKind::floor, kX), chain_step(UnaryKind::ceil, kX),
      chain_test(BinaryKind::less, kX, kFirstScalar), chain_select(4, 3, 2)};
  static constexpr std::array<int, 1> kOutputs = {5};
};

/// gelu(x): x / 2 (erf(x / sqrt(2)) + 1).
struct GeluChain : FunctionChain<3> {
  static constexpr std::array kSteps = {chain_step(BinaryKind::multiply, kX, kFirstScalar),
                                        chain_step(BinaryKind::multiply, 4, kSecondScalar),
                                        chain_step(UnaryKind::erf, 5),
                                        chain_step(BinaryKind::add, 6, kThirdScalar),
                                        chain_step(BinaryKind::multiply, kX, kSecondScalar),
                                        chain_step(BinaryKind::multiply, 8, 7)};
  static constexpr std::array<int, 1> kOutputs = {9};
};

/// Whether another array is added to the normalized array, and as which operand of the addition.
enum class AddendSide { none, left, right };

/// relu((x - mean) rstd gamma + beta + addend); relu and addend are optional.
template <AddendSide addend_side, bool relu>
struct NormalizationChain {
  static constexpr int kX = 0, kMean = 1, kRstd = 2, kGamma = 3, kBeta = 4, kAddend = 5,
                       kHasAddend = addend_side != AddendSide::none, kInputs = 5 + kHasAddend,
                       kResult = kInputs + 3;
  static constexpr std::array<bool, kInputs> kIsScalar = {};
  static constexpr bool kHasRowLoop = true, kHasSum = false;
  static constexpr auto kIsStream = [] {
    std::array<bool, kInputs> is_stream{};
    is_stream[kX] = true;
    if (kHasAddend) is_stream[kInputs - 1] = true;
    return is_stream;
  }();
  static constexpr auto kSteps = [] {
    std::array<FusedStep, 4 + kHasAddend + relu> steps = {
        chain_step(BinaryKind::subtract, kX, kMean),
        chain_step(BinaryKind::multiply, kInputs, kRstd),
        chain_step(BinaryKind::multiply, kInputs + 1, kGamma),
        chain_step(BinaryKind::add, kInputs + 2, kBeta)};
    if (addend_side == AddendSide::left) steps[4] = chain_step(BinaryKind::add, kAddend, kResult);
    if (addend_side == AddendSide::right) steps[4] = chain_step(BinaryKind::add, kResult, kAddend);
    if (relu) steps[4 + kHasAddend] = chain_step(UnaryKind::relu, kResult + kHasAddend);
    return steps;
  }();
  static constexpr std::array<int, 1> kOutputs = {kResult + kHasAddend + relu};
};

}  // namespace crescent::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {
namespace {

template <class Chain, size_t i, class D, class V>
HWY_INLINE V evaluate_step(D d, const V* r) {
  constexpr FusedStep step = Chain::kSteps[i];
  if constexpr (step.kind == FusedStep::Kind::unary)
    return evaluate<step.unary>(d, r[step.args[0]]);
  else if constexpr (step.kind == FusedStep::Kind::select)
    return hn::IfThenElse(hn::MaskFromVec(r[step.args[0]]), r[step.args[1]], r[step.args[2]]);
  else
    return evaluate<step.binary>(r[step.args[0]], r[step.args[1]]);
}

template <class Chain, size_t... i, size_t... o>
void chain_loop(const void* const* in, void* const* out, size_t n, std::index_sequence<i...>,
                std::index_sequence<o...>) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  constexpr size_t kInputs = Chain::kInputs;
  const float* from[kInputs];
  for (size_t k = 0; k < kInputs; ++k) from[k] = static_cast<const float*>(in[k]);
  float* to[] = {static_cast<float*>(out[o])...};
  size_t element = 0;
  for_vectors(d, static_cast<int64_t>(n), [&](auto load, auto store) HWY_ATTR {
    V r[kInputs + sizeof...(i)];
#pragma GCC unroll 16
    for (size_t k = 0; k < kInputs; ++k) {
      if (Chain::kIsStream[k]) fetch_ahead(from[k] + element);
      r[k] = Chain::kIsScalar[k] ? hn::Set(d, *from[k]) : load(from[k]);
    }
    element += hn::Lanes(d);
    ((r[kInputs + i] = evaluate_step<Chain, i>(d, r)), ...);
    (store(r[Chain::kOutputs[o]], to[o]), ...);
  });
}

template <class Chain>
void run_chain(const void* const* in, void* const* out, size_t n) {
  chain_loop<Chain>(in, out, n, std::make_index_sequence<Chain::kSteps.size()>(),
                    std::make_index_sequence<Chain::kOutputs.size()>());
}

template <class Chain, size_t... i>
void chain_rows(const void* const* in, void* const* out, int64_t rows, int64_t columns,
                std::index_sequence<i...>) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  constexpr size_t kInputs = Chain::kInputs;
  const float* from[kInputs];
  for (size_t k = 0; k < kInputs; ++k) from[k] = static_cast<const float*>(in[k]);
  float* to = static_cast<float*>(out[0]);
  auto compute_rows = [&](int64_t row, int64_t last_row, auto n, auto load, auto store) HWY_ATTR {
    V shared_values[n][kInputs];
    for (int v = 0; v < n; ++v) {
      for (size_t k = 0; k < kInputs; ++k) shared_values[v][k] = load(from[k], v);
    }
    for (int64_t row_offset = row * columns; row_offset < last_row * columns;
         row_offset += columns) {
      for (int v = 0; v < n; ++v) {
        V r[kInputs + sizeof...(i)];
        for (size_t k = 0; k < kInputs; ++k) {
          r[k] = Chain::kIsStream[k] ? load(from[k] + row_offset, v) : shared_values[v][k];
        }
        ((r[kInputs + i] = evaluate_step<Chain, i>(d, r)), ...);
        store(r[Chain::kOutputs[0]], to + row_offset, v);
      }
    }
  };
  for_rows(d, rows, columns, compute_rows);
}

template <class Chain>
void run_chain_rows(const void* const* in, void* const* out, int64_t rows, int64_t columns) {
  chain_rows<Chain>(in, out, rows, columns, std::make_index_sequence<Chain::kSteps.size()>());
}

template <class Chain>
constexpr auto row_loop_of() -> decltype(&run_chain_rows<Chain>) {
  if constexpr (Chain::kHasRowLoop)
    return run_chain_rows<Chain>;
  else
    return nullptr;
}

/// The sum of a chain that has one array and scalars as inputs, and one output.
template <class Chain, size_t... i>
double chain_sum(const void* const* in, int64_t n, std::index_sequence<i...>) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  constexpr size_t kInputs = Chain::kInputs;
  const float* x = static_cast<const float*>(in[Chain::kX]);
  const auto result_of = [&](V elements) HWY_ATTR {
    V r[kInputs + sizeof...(i)];
#pragma GCC unroll 16
    for (size_t k = 0; k < kInputs; ++k)
      r[k] = Chain::kIsScalar[k] ? hn::Set(d, *static_cast<const float*>(in[k])) : elements;
    ((r[kInputs + i] = evaluate_step<Chain, i>(d, r)), ...);
    return r[Chain::kOutputs[0]];
  };
  int64_t begin = 0;  // index of the first element after the whole vectors
  double total = sum_of_lanes(sum_vectors(
      d, n, begin, [&](int64_t at) HWY_ATTR { return result_of(hn::LoadU(d, x + at)); }));
  HWY_ALIGN float last_results[hn::MaxLanes(d)];
  hn::Store(result_of(load_part(d, x + begin, n - begin)), d, last_results);
  for (int64_t k = 0; k < n - begin; ++k) total += static_cast<double>(last_results[k]);
  return total;
}

template <class Chain>
double run_chain_sum(const void* const* in, int64_t n) {
  return chain_sum<Chain>(in, n, std::make_index_sequence<Chain::kSteps.size()>());
}

template <class Chain>
constexpr auto sum_of() -> decltype(&run_chain_sum<Chain>) {
  if constexpr (Chain::kHasSum)
    return run_chain_sum<Chain>;
  else
    return nullptr;
}

template <class... Chains>
std::span<const Chain> chain_table() {
  static constexpr std::array<Chain, sizeof...(Chains)> kChains = {
      Chain{Chains::kSteps, Chains::kIsScalar, Chains::kOutputs, run_chain<Chains>,
            Chains::kIsStream, row_loop_of<Chains>(), sum_of<Chains>()}...};
  return kChains;
}

/// Longer chains come first, because the first one that matches is taken.
std::span<const Chain> find_chains() {
  return chain_table<
      AdamWChain, AdamChain, RmsPropChain, LionChain, NormalizationChain<AddendSide::left, true>,
      NormalizationChain<AddendSide::right, true>, NormalizationChain<AddendSide::left, false>,
      NormalizationChain<AddendSide::right, false>, NormalizationChain<AddendSide::none, true>,
      NormalizationChain<AddendSide::none, false>, NanChain, ClipChain, LimitedReluChain,
      LeakyReluChain, ThresholdChain, EluChain, SeluChain, CeluChain, HardSigmoidChain<true>,
      HardSigmoidChain<false>, HardShrinkChain, SoftShrinkChain, TruncChain, GeluChain>();
}

}  // namespace
}  // namespace crescent::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crescent::cpu {

HWY_EXPORT(find_chains);

std::span<const Chain> chains() { return HWY_DYNAMIC_DISPATCH(find_chains)(); }

}  // namespace crescent::cpu
#endif
