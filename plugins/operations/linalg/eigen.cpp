// Eigenvalues and eigenvectors of any square matrices, by the QR algorithm in complex numbers.
#include <complex>
#include <limits>

#include "crescent/registry/registration.h"
#include "matrices.h"

namespace crescent::operations {
namespace {

using Number = std::complex<double>;

class Square {
 public:
  explicit Square(int64_t n) : n_(n), values_(n * n) {}
  static Square identity(int64_t n) {
    Square result(n);
    for (int64_t i = 0; i < n; ++i) result(i, i) = 1;
    return result;
  }
  int64_t size() const { return n_; }
  Number& operator()(int64_t i, int64_t j) { return values_[i * n_ + j]; }

 private:
  int64_t n_;
  std::vector<Number> values_;
};

/// Turns rows p and q of `a` so that a(q, column) becomes 0, its columns and those of `basis` back.
struct Rotation {
  Number c, s;
  static Rotation clearing(const Number& x, const Number& y) {
    const double length = std::hypot(std::abs(x), std::abs(y));
    return length == 0 ? Rotation{1, 0} : Rotation{std::conj(x) / length, std::conj(y) / length};
  }
  void rows(Square& a, int64_t p, int64_t q) const {
    for (int64_t j = 0; j < a.size(); ++j) {
      const Number x = a(p, j), y = a(q, j);
      a(p, j) = c * x + s * y;
      a(q, j) = -std::conj(s) * x + std::conj(c) * y;
    }
  }
  void columns(Square& a, int64_t p, int64_t q) const {
    for (int64_t i = 0; i < a.size(); ++i) {
      const Number x = a(i, p), y = a(i, q);
      a(i, p) = std::conj(c) * x + std::conj(s) * y;
      a(i, q) = -s * x + c * y;
    }
  }
};

/// Zeros below the first subdiagonal.
void make_hessenberg(Square& a, Square& basis) {
  for (int64_t column = 0; column + 2 < a.size(); ++column)
    for (int64_t row = column + 2; row < a.size(); ++row) {
      if (a(row, column) == Number(0)) continue;
      const Rotation turn = Rotation::clearing(a(column + 1, column), a(row, column));
      turn.rows(a, column + 1, row);
      turn.columns(a, column + 1, row);
      turn.columns(basis, column + 1, row);
    }
}

/// The eigenvalue of the last 2 x 2 block before `end` that is nearer to its corner (Wilkinson).
Number shift_of(Square& a, int64_t end) {
  const Number p = a(end - 2, end - 2), q = a(end - 1, end - 1);
  const Number half = (p - q) * 0.5, product = a(end - 2, end - 1) * a(end - 1, end - 2);
  const Number root = std::sqrt(half * half + product);
  const Number sum = std::abs(half + root) > std::abs(half - root) ? half + root : half - root;
  return sum == Number(0) ? q : q - product / sum;
}

bool is_negligible(Square& a, int64_t i) {
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  return std::abs(a(i, i - 1)) <= kEpsilon * (std::abs(a(i, i)) + std::abs(a(i - 1, i - 1)));
}

/// One step on rows and columns [begin, end).
void iterate(Square& a, Square& basis, int64_t begin, int64_t end, const Number& shift) {
  std::vector<Rotation> turns;
  for (int64_t i = begin; i < end; ++i) a(i, i) -= shift;
  for (int64_t i = begin; i + 1 < end; ++i) {
    turns.push_back(Rotation::clearing(a(i, i), a(i + 1, i)));
    turns.back().rows(a, i, i + 1);
  }
  for (int64_t i = begin; i + 1 < end; ++i) {
    turns[i - begin].columns(a, i, i + 1);
    turns[i - begin].columns(basis, i, i + 1);
  }
  for (int64_t i = begin; i < end; ++i) a(i, i) += shift;
}

/// Upper triangular, with the eigenvalues on the diagonal (Schur's form).
void make_triangular(Square& a, Square& basis) {
  make_hessenberg(a, basis);
  const int64_t most = 60 * a.size();
  int64_t end = a.size(), tries = 0;
  for (int64_t step = 0; end > 1; ++step) {
    if (step == most) fail("eig: the eigenvalues of a matrix were not found");
    if (is_negligible(a, end - 1)) {
      --end;
      a(end, end - 1) = 0;
      tries = 0;
      continue;
    }
    int64_t begin = end - 1;
    while (begin > 0 && !is_negligible(a, begin)) --begin;
    const bool is_stuck = ++tries % 11 == 10;
    const Number shift =
        is_stuck ? a(end - 1, end - 1) + std::abs(a(end - 1, end - 2)) : shift_of(a, end);
    iterate(a, basis, begin, end, shift);
  }
}

/// Column k of `vectors` in the basis in which the matrix is triangular.
void solve_for(Square& a, int64_t k, Square& vectors) {
  constexpr double kTiny = 1e-300;
  double norm = 0;
  for (int64_t i = 0; i < a.size(); ++i)
    for (int64_t j = i; j < a.size(); ++j) norm = std::max(norm, std::abs(a(i, j)));
  const double least = std::max(kTiny, norm * std::numeric_limits<double>::epsilon());
  vectors(k, k) = 1;
  for (int64_t i = k; i-- > 0;) {
    Number sum = 0;
    for (int64_t j = i + 1; j <= k; ++j) sum += a(i, j) * vectors(j, k);
    const Number gap = a(k, k) - a(i, i);
    vectors(i, k) = sum / (std::abs(gap) < least ? Number(least) : gap);
  }
}

/// Of length 1, and turned so that its largest element is real.
void normalize(std::vector<Number>& vector) {
  double square = 0;
  for (const Number& x : vector) square += std::norm(x);
  const Number& largest = *std::max_element(
      vector.begin(), vector.end(),
      [](const Number& a, const Number& b) { return std::norm(a) < std::norm(b); });
  const Number scale = std::conj(largest) / (std::abs(largest) * std::sqrt(square));
  for (Number& x : vector) x *= scale;
}

/// a (n, n) -> eigenvalues (n), eigenvectors as columns.
void find_pairs(Square& a, std::complex<float>* values, std::complex<float>* columns) {
  const int64_t n = a.size();
  Square basis = Square::identity(n), vectors(n);
  make_triangular(a, basis);
  for (int64_t k = 0; k < n; ++k) {
    values[k] = std::complex<float>(a(k, k));
    solve_for(a, k, vectors);
    std::vector<Number> column(n);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j <= k; ++j) column[i] += basis(i, j) * vectors(j, k);
    normalize(column);
    for (int64_t i = 0; i < n; ++i) columns[i * n + k] = std::complex<float>(column[i]);
  }
}

// ---- the gradient

/// Complex numbers in float64.
struct ComplexParts {
  Tensor re, im;
};
ComplexParts parts_of(const Tensor& x) {
  const Tensors parts = ops::split(doubled(ops::view_as_real(x)), {1, 1}, -1);
  return {ops::squeeze(parts[0], -1), ops::squeeze(parts[1], -1)};
}
ComplexParts adjoint(const ComplexParts& x) { return {transposed(x.re), -transposed(x.im)}; }
ComplexParts product(const ComplexParts& a, const ComplexParts& b) {
  return {ops::matmul(a.re, b.re) - ops::matmul(a.im, b.im),
          ops::matmul(a.re, b.im) + ops::matmul(a.im, b.re)};
}
/// The x with a x = b, as a system of real numbers.
ComplexParts solution_of(const ComplexParts& a, const ComplexParts& b) {
  const Tensor above = ops::concatenate(Tensors{a.re, -a.im}, -1),
               below = ops::concatenate(Tensors{a.im, a.re}, -1);
  const int64_t n = a.re.dim(-1);
  const Tensors x = ops::split(
      solve(ops::concatenate(Tensors{above, below}, -2), ops::concatenate(Tensors{b.re, b.im}, -2)),
      {n, n}, -2);
  return {x[0], x[1]};
}

/// (x, angles) -> x. An eigenvector may be turned by any angle: a target that depends on it has no
/// gradient.
struct OfNoAngle final : OpOf<OfNoAngle> {
  static constexpr const char* kName = "eig_of_no_angle";
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override { return {in[0]}; }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    constexpr double kMost = 1e-2;
    const double* angle = in[1].data<double>();
    for (int64_t i = 0; i < in[1].size(); ++i)
      if (std::abs(angle[i]) > kMost)
        fail("eig: there is no gradient of what depends on the angles of complex eigenvectors, ",
             "which are arbitrary");
    std::copy_n(in[0].data<double>(), in[0].size(), out[0].mutable_data<double>());
    return true;
  }
};

/// Of vectors v with gradients g: v^H g, without what changes lengths, over the conjugate distances
/// of the eigenvalues; 0 between equal ones.
ComplexParts turned(const ComplexParts& values, const ComplexParts& v, const ComplexParts& g) {
  const Tensor eye = ops::eye(values.re.dim(-1), values.re.dim(-1), DType::float64);
  const ComplexParts p = product(adjoint(v), g), square = product(adjoint(v), v);
  const Tensor length = as_columns(ops::sum(p.re * eye, {-2}));
  const Tensor re = p.re - square.re * length;
  const Tensor im = apply1(OfNoAngle{}, {p.im - square.im * length, ops::sum(p.im * eye, {-2})});
  const Tensor x = as_columns(values.re) - as_rows(values.re),
               y = as_columns(values.im) - as_rows(values.im);
  const Tensor distance = x * x + y * y, same = ops::equal(distance, 0);
  const Tensor scale = ops::where(same, 0, ops::reciprocal(ops::where(same, 1, distance)));
  return {(re * x - im * y) * scale, (re * y + im * x) * scale};
}

/// v^-H (diag(gw) + turned) v^H, by Boeddeker et al., On the computation of complex-valued
/// gradients (2017), with vectors of length 1.
Tensor gradient_of_pairs(const Vjp& pairs) {
  const ComplexParts values = parts_of(pairs.outputs[0]), v = parts_of(pairs.outputs[1]);
  const Tensor eye = ops::eye(v.re.dim(-1), v.re.dim(-1), DType::float64);
  ComplexParts inner{ops::zeros_like(v.re), ops::zeros_like(v.re)};
  if (pairs.gradients[1]) inner = turned(values, v, parts_of(pairs.gradients[1]));
  if (pairs.gradients[0]) {
    const ComplexParts g = parts_of(pairs.gradients[0]);
    inner = {inner.re + as_columns(g.re) * eye, inner.im + as_columns(g.im) * eye};
  }
  const ComplexParts result = solution_of(adjoint(v), product(inner, adjoint(v)));
  return ops::stack(Tensors{result.re, result.im}, -1);
}

/// (pairs (..., n, n, 2) of float64) -> eigenvalues, eigenvectors.
struct Eig final : OpOf<Eig> {
  static constexpr const char* kName = "eig";
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override {
    const Shape shape = in[0].shape.slice(0, -1);
    return {{DType::complex64, shape.slice(0, -1)}, {DType::complex64, shape}};
  }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    const int64_t n = in[0].dim(-2);
    const auto* from = reinterpret_cast<const Number*>(in[0].data<double>());
    auto* values = static_cast<std::complex<float>*>(out[0].mutable_raw());
    auto* vectors = static_cast<std::complex<float>*>(out[1].mutable_raw());
    for (int64_t at = 0; at < out[1].size(); at += n * n, values += n) {
      Square a(n);
      for (int64_t i = 0; i < n * n; ++i) {
        a(i / n, i % n) = from[at + i];
        if (!std::isfinite(std::abs(from[at + i]))) fail("eig: the matrix is not finite");
      }
      find_pairs(a, values, vectors + at);
    }
    return true;
  }
  Tensors vjp(const Vjp& v) const override { return {gradient_of_pairs(v)}; }
};

std::tuple<Tensor, Tensor> eig(const Tensor& x) {
  expect_square("eig", x.shape());
  const Tensor pairs = x.dtype() == DType::complex64
                           ? doubled(ops::view_as_real(x))
                           : ops::stack(Tensors{doubled(x), ops::zeros_like(doubled(x))}, -1);
  const Tensors result = apply(Eig{}, {pairs});
  return {result[0], result[1]};
}

}  // namespace

CRESCENT_REGISTER(eigen) {
  Operations(registry, "keras.src.ops.linalg")
      .add("Eig", "eig(x)", &eig, "Eigenvalues and eigenvectors, complex.");
}

}  // namespace crescent::operations
