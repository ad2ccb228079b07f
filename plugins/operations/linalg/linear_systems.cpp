// Systems of linear equations, inverses and determinants, by factors of matrices.
#include <cmath>

#include "batches.h"
#include "crescent/registry/registration.h"

namespace crescent::operations {
namespace {

// ---- triangular systems

/// (a, b) -> x with a x = b, where only one triangle of a counts.
struct TriangularSolve final : OpOf<TriangularSolve> {
  static constexpr const char* kName = "tri_solve";
  bool lower = false;
  auto fields() const { return std::tie(lower); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override { return {in[1]}; }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    return compute_each(*this, in, out);
  }
  int64_t work(const Shape&) const { return 0; }
  void one(const MatrixParts& x, double*) const {
    copy(x.in[1], x.out[0]);
    solve(x.in[0], x.out[0]);
  }
  Tensors vjp(const Vjp& v) const override {
    TriangularSolve op;
    op.lower = !lower;
    const Tensor gb = apply1(op, {transposed(v.inputs[0]), v.gradients[0]});
    const Tensor ga = -ops::matmul(gb, v.outputs[0], false, true);
    const int64_t n = ga.dim(-1);
    const Tensor offset = positions(n, 1, 2) - positions(n, 0, 2);
    const Tensor inside = lower ? ops::less_equal(offset, 0) : ops::greater_equal(offset, 0);
    return {ops::where(inside, ga, 0), gb};
  }

 private:
  void solve(const Matrix& a, const Matrix& b) const {
    for (int64_t k = 0; k < a.rows; ++k) {
      const int64_t i = lower ? k : a.rows - 1 - k;
      for (int64_t j = lower ? 0 : i + 1; j < (lower ? i : a.rows); ++j)
        for (int64_t c = 0; c < b.columns; ++c) b(i, c) -= a(i, j) * b(j, c);
      for (int64_t c = 0; c < b.columns; ++c) b(i, c) /= a(i, i);
    }
  }
};

Tensor triangular(const Tensor& a, const Tensor& b, bool lower) {
  TriangularSolve op;
  op.lower = lower;
  return apply1(op, {a, b});
}

}  // namespace

Tensor upper_solved(const Tensor& r, const Tensor& b) { return triangular(r, b, false); }

namespace {

/// Both, in a dtype, as batches of matrices with the same leading axes; a vector is a matrix of one
/// column.
template <class F>
Tensor solved(const char* name, const Tensor& a, const Tensor& b, DType dtype, F f) {
  expect_square(name, a.shape());
  const bool vector = b.rank() == a.rank() - 1;
  const Tensor left = ops::cast(a, dtype),
               right = ops::cast(vector ? ops::expand_dims(b, -1) : b, dtype);
  if (right.rank() < 2 || right.dim(-2) != left.dim(-1))
    fail(name, ": shapes ", a.shape(), " and ", b.shape(), " do not fit");
  const Shape batch = broadcast_shapes(left.shape().slice(0, left.rank() - 2),
                                       right.shape().slice(0, right.rank() - 2), name);
  const auto widened = [&](const Tensor& x) {
    return ops::broadcast_to(x, batch.concat(x.shape().slice(-2, x.rank())));
  };
  const Tensor x = f(widened(left), widened(right));
  return as_was(vector ? ops::squeeze(x, -1) : x, b);
}

Tensor solve_triangular(const Tensor& a, const Tensor& b, bool lower) {
  return solved("solve_triangular", a, b, DType::float64,
                [&](const Tensor& x, const Tensor& y) { return triangular(x, y, lower); });
}

// ---- LU

/// In place, with the row that each was exchanged with; the sign of the exchanges.
double factor(const Matrix& a, int32_t* pivots) {
  double sign = 1;
  for (int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
    int64_t best = k;
    for (int64_t i = k + 1; i < a.rows; ++i)
      if (std::abs(a(i, k)) > std::abs(a(best, k))) best = i;
    pivots[k] = static_cast<int32_t>(best);
    if (best != k) {
      sign = -sign;
      for (int64_t j = 0; j < a.columns; ++j) std::swap(a(k, j), a(best, j));
    }
    if (a(k, k) == 0) continue;
    for (int64_t i = k + 1; i < a.rows; ++i) {
      a(i, k) /= a(k, k);
      for (int64_t j = k + 1; j < a.columns; ++j) a(i, j) -= a(i, k) * a(k, j);
    }
  }
  return sign;
}

/// (a) -> LU, pivots (from 0), and of square ones sign and logarithm of the determinant.
struct Lu final : OpOf<Lu> {
  static constexpr const char* kName = "lu_factor";
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override {
    const Shape& shape = in[0].shape;
    const Shape batch = shape.slice(0, shape.rank() - 2);
    return {in[0],
            {DType::int32, batch.concat({std::min(shape[-2], shape[-1])})},
            {DType::float64, batch},
            {DType::float64, batch}};
  }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    return compute_each(*this, in, out);
  }
  int64_t work(const Shape&) const { return 0; }
  void one(const MatrixParts& x, double*) const {
    const Matrix& a = x.out[0];
    copy(x.in[0], a);
    double sign = factor(a, x.as<int32_t>(1)), log = 0;
    for (int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
      sign *= a(k, k) < 0 ? -1 : a(k, k) == 0 ? 0 : 1;
      log += std::log(std::abs(a(k, k)));
    }
    *x.as<double>(2) = sign, *x.as<double>(3) = log;
  }
  Tensors vjp(const Vjp& v) const override;
};

/// (a, b) -> a^-1 b
struct Solve final : OpOf<Solve> {
  static constexpr const char* kName = "solve";
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override { return {in[1]}; }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    if (in[0].dtype() == DType::float64) return compute_each(*this, in, out);
    const auto widened = [](const Tensor& x) {
      Tensor wide(x.shape(), DType::float64);
      std::copy_n(x.data<float>(), x.size(), wide.mutable_data<double>());
      return wide;
    };
    const Tensors wide{widened(in[0]), widened(in[1])};
    Tensors found{Tensor(out[0].shape(), DType::float64)};
    compute_each(*this, wide, found);
    std::transform(found[0].data<double>(), found[0].data<double>() + found[0].size(),
                   out[0].mutable_data<float>(), [](double x) { return static_cast<float>(x); });
    return true;
  }
  /// For the factors and the rows that were exchanged.
  int64_t work(const Shape& a) const { return a[-1] * (a[-1] + 1); }
  void one(const MatrixParts& x, double* work) const {
    const int64_t n = x.in[0].rows;
    const Matrix factors{work, n, n};
    copy(x.in[0], factors);
    copy(x.in[1], x.out[0]);
    solve(factors, x.out[0], reinterpret_cast<int32_t*>(work + n * n));
  }
  Tensors vjp(const Vjp& v) const override {
    const Tensor gb = apply1(Solve{}, {transposed(v.inputs[0]), v.gradients[0]});
    return {-ops::matmul(gb, v.outputs[0], false, true), gb};
  }

 private:
  static void solve(const Matrix& a, const Matrix& b, int32_t* pivots) {
    factor(a, pivots);
    for (int64_t k = 0; k < a.rows; ++k)
      for (int64_t c = 0; c < b.columns && pivots[k] != k; ++c) std::swap(b(k, c), b(pivots[k], c));
    for (int64_t i = 0; i < a.rows; ++i)
      for (int64_t j = 0; j < i; ++j)
        for (int64_t c = 0; c < b.columns; ++c) b(i, c) -= a(i, j) * b(j, c);
    for (int64_t i = a.rows - 1; i >= 0; --i)
      for (int64_t c = 0; c < b.columns; ++c) {
        for (int64_t j = i + 1; j < a.rows; ++j) b(i, c) -= a(i, j) * b(j, c);
        b(i, c) /= a(i, i);
      }
  }
};

/// Large float32 matrices are factored in float32, as that takes half the time.
DType dtype_for(const Tensor& a) {
  constexpr int64_t kLarge = 128;  // rows
  const bool large = a.rank() >= 2 && a.dim(-1) >= kLarge;
  return large && a.dtype() == DType::float32 ? DType::float32 : DType::float64;
}

Tensor identity_like(const Tensor& x) {
  return ops::broadcast_to(ops::eye(x.dim(-1), x.dim(-1), x.dtype()), x.shape());
}
Tensor inverse(const Tensor& x) { return apply1(Solve{}, {x, identity_like(x)}); }

Tensors Lu::vjp(const Vjp& v) const {
  if (v.gradients[0]) fail("lu_factor: there is no gradient of the factors");
  if (!v.gradients[3]) return {Tensor()};
  const Tensor g = ops::expand_dims(ops::expand_dims(v.gradients[3], -1), -1);
  return {g * transposed(inverse(v.inputs[0]))};
}

}  // namespace

Tensor solve(const Tensor& a, const Tensor& b) {
  const DType dtype = b.dtype() == DType::float64 ? DType::float64 : dtype_for(a);
  return solved("solve", a, b, dtype, [](const Tensor& x, const Tensor& y) {
    return apply1(Solve{}, {x, y});
  });
}

namespace {

Tensor inv(const Tensor& x) {
  expect_square("inv", x.shape());
  return as_was(inverse(ops::cast(x, dtype_for(x))), x);
}

std::tuple<Tensor, Tensor> lu_factor(const Tensor& x) {
  if (x.rank() < 2) fail("lu_factor: expected matrices, got shape ", x.shape());
  const Tensors result = apply(Lu{}, {doubled(x)});
  return {as_was(result[0], x), result[1]};
}

std::tuple<Tensor, Tensor> slogdet(const Tensor& x) {
  expect_square("slogdet", x.shape());
  const Tensors result = apply(Lu{}, {doubled(x)});
  return {as_was(ops::stop_gradient(result[2]), x), as_was(result[3], x)};
}

Tensor logdet(const Tensor& x) { return std::get<1>(slogdet(x)); }

Tensor det(const Tensor& x) {
  expect_square("det", x.shape());
  const Tensors result = apply(Lu{}, {doubled(x)});
  return as_was(ops::stop_gradient(result[2]) * ops::exp(result[3]), x);
}

// ---- Cholesky

/// (a) -> lower l with l l' = a.
struct Cholesky final : OpOf<Cholesky> {
  static constexpr const char* kName = "cholesky";
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override { return {in[0]}; }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    return compute_each(*this, in, out);
  }
  int64_t work(const Shape&) const { return 0; }
  void one(const MatrixParts& x, double*) const {
    copy(x.in[0], x.out[0]);
    decompose_one(x.out[0]);
  }
  Tensors vjp(const Vjp& v) const override {
    const Tensor& l = v.outputs[0];
    const int64_t n = l.dim(-1);
    const Tensor offset = positions(n, 1, 2) - positions(n, 0, 2);
    const Tensor product = ops::matmul(l, v.gradients[0], true, false);
    const Tensor half = ops::where(ops::equal(offset, 0), product * 0.5,
                                   ops::where(ops::less(offset, 0), product, 0));
    // l^-T half l^-1
    const Tensor left = triangular(transposed(l), half, false);
    const Tensor both = transposed(triangular(transposed(l), transposed(left), false));
    return {(both + transposed(both)) * 0.5};
  }

 private:
  static void decompose_one(const Matrix& a) {
    for (int64_t j = 0; j < a.rows; ++j)
      for (int64_t i = 0; i < a.rows; ++i) {
        if (i < j) {
          a(i, j) = 0;
          continue;
        }
        double rest = a(i, j);
        for (int64_t k = 0; k < j; ++k) rest -= a(i, k) * a(j, k);
        a(i, j) = i == j ? std::sqrt(rest) : rest / a(j, j);
      }
  }
};

Tensor cholesky(const Tensor& x, bool upper) {
  expect_square("cholesky", x.shape());
  const Tensor l = apply1(Cholesky{}, {doubled(x)});
  return as_was(upper ? transposed(l) : l, x);
}

/// The inverse of the matrix that has this factor.
Tensor cholesky_inverse(const Tensor& x, bool upper) {
  expect_square("cholesky_inverse", x.shape());
  const Tensor factor = doubled(x), l = upper ? transposed(factor) : factor;
  const Tensor half = triangular(l, identity_like(l), true);
  return as_was(ops::matmul(half, half, true, false), x);
}

}  // namespace

CRESCENT_REGISTER(linear_systems) {
  registry.add<MatricesKernel<TriangularSolve>>(TriangularSolve::kName);
  registry.add<MatricesKernel<Lu>>(Lu::kName);
  registry.add<MatricesKernel<Solve>>(Solve::kName);
  registry.add<MatricesKernel<Cholesky>>(Cholesky::kName);
  Operations(registry, "keras.src.ops.linalg")
      .add("Cholesky", "cholesky(x, upper=False)", &cholesky,
           "The triangular matrix whose product with its transpose is x.")
      .add("CholeskyInverse", "cholesky_inverse(x, upper=False)", &cholesky_inverse,
           "The inverse of the matrix with this factor.")
      .add("Det", "det(x)", &det, "The determinants of matrices.")
      .add("Inv", "inv(x)", &inv, "The inverses of matrices.")
      .add("LuFactor", "lu_factor(x)", &lu_factor,
           "The factors L and U of matrices, in one, and the exchanges of rows.")
      .add("Solve", "solve(a, b)", &solve, "The x for which a x = b.")
      .add("SolveTriangular", "solve_triangular(a, b, lower=False)", &solve_triangular,
           "The x for which a x = b, where a is triangular.");
  Operations(registry, "keras.src.ops.numpy")
      .add("Slogdet", "slogdet(x)", &slogdet, "Sign and logarithm of the determinant.");
  Operations(registry, "keras.src.ops.math")
      .add("Logdet", "logdet(x)", &logdet,
           "The logarithms of the determinants of positive definite matrices.");
}

}  // namespace crescent::operations
