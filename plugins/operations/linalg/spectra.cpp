// Eigenvalues, singular values and orthogonal factors of matrices, and what follows from them.
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "../given_axes.h"
#include "batches.h"
#include "crescent/registry/registration.h"
#include "jacobi.h"

namespace crescent::operations {
namespace {

/// (symmetric a) -> ascending eigenvalues, eigenvectors in columns; by Jacobi's rotations.
struct Eigh final : OpOf<Eigh> {
  static constexpr const char* kName = "eigh";
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override {
    const Shape& shape = in[0].shape;
    return {{DType::float64, shape.slice(0, shape.rank() - 1)}, in[0]};
  }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    Tensor a = in[0].clone();
    each_matrix(a, [&](int64_t i) {
      const Matrix one = matrix(a, i);
      diagonalize(one, out[0].mutable_data<double>() + i * one.rows, matrix(out[1], i));
    });
    return true;
  }
  Tensors vjp(const Vjp& v) const override {
    const Tensor &w = v.outputs[0], &vectors = v.outputs[1];
    const int64_t n = w.dim(-1);
    Tensor inner = ops::zeros_like(vectors);
    if (v.gradients[1]) {
      const Tensor gaps = ops::expand_dims(w, -2) - ops::expand_dims(w, -1);
      const Tensor same = ops::equal(gaps, 0);
      inner = ops::matmul(vectors, v.gradients[1], true, false) *
              ops::where(same, 0.0, ops::reciprocal(ops::where(same, 1.0, gaps)));
    }
    if (v.gradients[0]) inner = inner + as_columns(v.gradients[0]) * ops::eye(n, n, DType::float64);
    const Tensor g = ops::matmul(ops::matmul(vectors, inner), vectors, false, true);
    return {(g + transposed(g)) * 0.5};
  }

 private:
  /// Turns columns p and q, and with `rows` rows too.
  static void rotate(const Matrix& a, int64_t p, int64_t q, double c, double s, bool rows) {
    for (int64_t k = 0; k < a.rows; ++k) {
      double &x = rows ? a(p, k) : a(k, p), &y = rows ? a(q, k) : a(k, q);
      const double old = x;
      x = c * old - s * y;
      y = s * old + c * y;
    }
  }
  static void diagonalize(const Matrix& a, double* values, const Matrix& vectors) {
    const int64_t n = a.rows;
    Tensor basis({n, n}, DType::float64);
    const Matrix v = matrix(basis, 0);
    for (int64_t i = 0; i < n; ++i) v(i, i) = 1;
    for (int sweep = 0; sweep < 60; ++sweep) {
      double off = 0, total = 0;
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j) (i == j ? total : off) += a(i, j) * a(i, j);
      if (!(off > 1e-32 * (total + off))) break;
      for (int64_t p = 0; p < n; ++p)
        for (int64_t q = p + 1; q < n; ++q) {
          if (a(p, q) == 0) continue;
          const double angle = (a(q, q) - a(p, p)) / (2 * a(p, q));
          const double t = std::copysign(1 / (std::abs(angle) + std::hypot(1.0, angle)), angle);
          const double c = 1 / std::hypot(1.0, t);
          rotate(a, p, q, c, t * c, false);
          rotate(a, p, q, c, t * c, true);
          rotate(v, p, q, c, t * c, false);
        }
    }
    std::vector<int64_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int64_t i, int64_t j) { return a(i, i) < a(j, j); });
    for (int64_t j = 0; j < n; ++j) {
      values[j] = a(order[j], order[j]);
      for (int64_t i = 0; i < n; ++i) vectors(i, j) = v(i, order[j]);
    }
  }
};

std::tuple<Tensor, Tensor> eigh(const Tensor& x) {
  expect_square("eigh", x.shape());
  const Tensor lower = doubled(x);
  const Tensors result = apply(Eigh{}, {(lower + transposed(lower)) * 0.5});
  return {as_was(result[0], x), as_was(result[1], x)};
}

/// (a) -> u (m, k), descending s, v' (k, n), k = min(m, n).
struct BatchedSvd final : OpOf<BatchedSvd> {
  static constexpr const char* kName = "svd_batch";
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override {
    const Shape& shape = in[0].shape;
    const Shape batch = shape.slice(0, shape.rank() - 2);
    const int64_t m = shape[-2], n = shape[-1], k = std::min(m, n);
    return {{DType::float64, batch.concat({m, k})},
            {DType::float64, batch.concat({k})},
            {DType::float64, batch.concat({k, n})}};
  }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    const int64_t m = in[0].dim(-2), n = in[0].dim(-1);
    std::vector<double> work(svd_work(m, n) + kLine);
    for (int64_t i = 0; i < groups(in[0].shape()); ++i)
      decompose_group(in[0].shape(), i, in[0].data<double>(), out[0].mutable_data<double>(),
                      out[1].mutable_data<double>(), out[2].mutable_data<double>(), work.data());
    return true;
  }
  /// Townsend, Differentiating the singular value decomposition (2016).
  Tensors vjp(const Vjp& v) const override {
    const Tensor &u = v.outputs[0], &s = v.outputs[1], &vt = v.outputs[2];
    const int64_t k = s.dim(-1);
    const Tensor eye = ops::eye(k, k, DType::float64);
    Tensor inner = ops::zeros_like(ops::matmul(vt, vt, false, true)), sum;
    const auto add = [&](const Tensor& part) { sum = sum ? sum + part : part; };
    if (v.gradients[1]) inner = inner + as_columns(v.gradients[1]) * eye;
    const Tensor square = ops::square(s);
    const Tensor gaps = as_columns(square) - as_rows(square), same = ops::equal(gaps, 0);
    const Tensor factors = ops::where(same, 0.0, ops::reciprocal(ops::where(same, 1.0, gaps)));
    const Tensor none = ops::equal(s, 0);
    const Tensor inverse = ops::where(none, 0.0, ops::reciprocal(ops::where(none, 1.0, s)));
    if (const Tensor& gu = v.gradients[0]) {
      const Tensor product = ops::matmul(u, gu, true, false);
      inner = inner + factors * (product - transposed(product)) * as_columns(s);
      add(ops::matmul((gu - ops::matmul(u, product)) * as_columns(inverse), vt));
    }
    if (v.gradients[2]) {
      const Tensor gv = transposed(v.gradients[2]), product = ops::matmul(vt, gv);
      inner = inner + as_rows(s) * (factors * (product - transposed(product)));
      add(ops::matmul(u * as_columns(inverse),
                      transposed(gv - ops::matmul(vt, product, true, false)), false, false));
    }
    add(ops::matmul(ops::matmul(u, inner), vt));
    return {sum};
  }

  /// Matrices that are decomposed at once are a group.
  static int64_t groups(const Shape& a) {
    return (a.slice(0, a.rank() - 2).size() + kSvdLanes - 1) / kSvdLanes;
  }
  /// work: a line of the cache more than svd_work().
  static void decompose_group(const Shape& shape, int64_t group, const double* a, double* u,
                              double* s, double* vt, double* work) {
    const int64_t m = shape[-2], n = shape[-1], k = std::min(m, n), first = group * kSvdLanes;
    const int64_t count = shape.slice(0, shape.rank() - 2).size();
    void* aligned = work;
    size_t space = (svd_work(m, n) + kLine) * sizeof(double);
    std::align(kLine * sizeof(double), 1, aligned, space);
    svd_of_some(a + first * m * n, std::min(kSvdLanes, count - first), m, n, u + first * m * k,
                s + first * k, vt + first * k * n, static_cast<double*>(aligned));
  }
  static constexpr int64_t kLine = 8;  ///< numbers of a line of the cache
};

class SvdKernel final : public CpuKernel {
 public:
  static void describe(Schema<SvdKernel>& s) { s.doc("Some matrices a thread."); }
  bool prepare(const CpuRequest& r) override {
    shape_ = r.inputs[0].shape;
    groups_ = BatchedSvd::groups(shape_);
    work_ = svd_work(shape_[-2], shape_[-1]) + BatchedSvd::kLine;
    return true;
  }
  size_t scratch_bytes() const override { return workers() * work_ * sizeof(double); }
  void run(const CpuArguments& a) override {
    struct Job {
      const SvdKernel* kernel;
      const CpuArguments* a;
    } job{this, &a};
    a.threads.run(
        groups_,
        [](void* context, int64_t group, int worker) {
          const auto& [kernel, arguments] = *static_cast<Job*>(context);
          auto* work = reinterpret_cast<double*>(arguments->scratch) + worker * kernel->work_;
          BatchedSvd::decompose_group(kernel->shape_, group, arguments->in<double>(0),
                                      arguments->out<double>(0), arguments->out<double>(1),
                                      arguments->out<double>(2), work);
        },
        &job, workers());
  }

 private:
  int workers() const { return static_cast<int>(std::clamp<int64_t>(groups_, 1, 32)); }
  Shape shape_;
  int64_t groups_ = 0, work_ = 0;
};

/// (a) -> q (m, k), r (k, n) by Householder's reflections; k = m, or the smaller of both.
struct BatchedQr final : OpOf<BatchedQr> {
  static constexpr const char* kName = "qr_batch";
  bool complete = false;
  auto fields() const { return std::tie(complete); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override {
    const Shape& shape = in[0].shape;
    const Shape batch = shape.slice(0, shape.rank() - 2);
    const int64_t m = shape[-2], n = shape[-1], k = complete ? m : std::min(m, n);
    return {{DType::float64, batch.concat({m, k})}, {DType::float64, batch.concat({k, n})}};
  }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    return compute_each(*this, in, out);
  }
  /// A large matrix is for the op of the core, which divides one among all threads.
  Tensors decompose(std::span<const Tensor> in) const override {
    const Shape& a = in[0].shape();
    if (complete || a.rank() != 2) return {};
    const ops::QrResult result = ops::qr(in[0]);
    return {result.q, result.r};
  }
  Tensors vjp(const Vjp& v) const override;
  /// For the matrix, all of q and a reflection.
  int64_t work(const Shape& a) const { return a[-2] * (a[-1] + a[-2] + 1); }
  void one(const MatrixParts& x, double* work) const {
    const int64_t m = x.in[0].rows, n = x.in[0].columns;
    const Matrix a{work, m, n}, turn{work + m * n, m, m};
    copy(x.in[0], a);
    reflect(a, turn, turn.values + m * m, x.out[0], x.out[1]);
  }

 private:
  /// a becomes r; w: room for m numbers.
  static void reflect(const Matrix& a, const Matrix& turn, double* w, const Matrix& q,
                      const Matrix& r) {
    const int64_t m = a.rows, n = a.columns;
    std::fill_n(turn.values, m * m, 0.0);
    for (int64_t i = 0; i < m; ++i) turn(i, i) = 1;
    for (int64_t k = 0; k < std::min(m - 1, n); ++k) {
      double norm = 0;
      for (int64_t i = k; i < m; ++i) norm = std::hypot(norm, a(i, k));
      if (norm == 0) continue;
      double square = 0;
      for (int64_t i = k; i < m; ++i) {
        w[i] = a(i, k) + (i == k ? std::copysign(norm, a(k, k)) : 0);
        square += w[i] * w[i];
      }
      const auto apply_to = [&](const Matrix& x, bool columns) {
        for (int64_t j = 0; j < (columns ? x.columns : x.rows); ++j) {
          double dot = 0;
          for (int64_t i = k; i < m; ++i) dot += w[i] * (columns ? x(i, j) : x(j, i));
          for (int64_t i = k; i < m; ++i) (columns ? x(i, j) : x(j, i)) -= 2 * dot / square * w[i];
        }
      };
      apply_to(a, true);
      apply_to(turn, false);
    }
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < q.columns; ++j) q(i, j) = turn(i, j);
    for (int64_t i = 0; i < r.rows; ++i)
      for (int64_t j = 0; j < n; ++j) r(i, j) = j < i ? 0 : a(i, j);
  }
};

/// With the upper triangle for the lower one, too.
Tensor mirrored_lower(const Tensor& x) {
  const int64_t n = x.dim(-1);
  const Tensor offset = positions(n, 1, 2) - positions(n, 0, 2);
  const Tensor below = ops::where(ops::less(offset, 0), x, 0.0);
  return below + transposed(below) + ops::where(ops::equal(offset, 0), x, 0.0);
}

/// Of a = q r with a square r: (gq + q m) r^-T, where m is r gr' - gq' q with its lower triangle on
/// both sides (Walter and Lehmann, 2018).
Tensor gradient_of_square(const Tensor& q, const Tensor& r, const Tensor& gq, const Tensor& gr) {
  const Tensor m =
      mirrored_lower(ops::matmul(r, gr, false, true) - ops::matmul(gq, q, true, false));
  return transposed(upper_solved(r, transposed(gq + ops::matmul(q, m))));
}

/// Where there are more columns than rows, q is that of the first columns x, and r = (u, q' y).
Tensors BatchedQr::vjp(const Vjp& v) const {
  const Tensor &a = v.inputs[0], &q = v.outputs[0], &r = v.outputs[1];
  const int64_t m = a.dim(-2), n = a.dim(-1);
  if (q.dim(-1) > n)
    fail("qr: with mode='complete' there is no gradient of more rows than columns, got shape ",
         a.shape());
  const Tensor gq = v.gradients[0] ? v.gradients[0] : ops::zeros_like(q),
               gr = v.gradients[1] ? v.gradients[1] : ops::zeros_like(r);
  if (m >= n) return {gradient_of_square(q, r, gq, gr)};
  const Tensor y = ops::slice_axis(a, -1, m, n), gv = ops::slice_axis(gr, -1, m, n);
  const Tensor gx =
      gradient_of_square(q, ops::slice_axis(r, -1, 0, m), gq + ops::matmul(y, gv, false, true),
                         ops::slice_axis(gr, -1, 0, m));
  return {ops::concatenate(Tensors{gx, ops::matmul(q, gv)}, -1)};
}

void expect_matrices(const char* name, const Tensor& x) {
  if (x.rank() < 2 || x.dim(-1) < 0 || x.dim(-2) < 0)
    fail(name, ": expected matrices of a known size, got shape ", x.shape());
}

std::tuple<Tensor, Tensor> qr(const Tensor& x, const std::string& mode) {
  expect_matrices("qr", x);
  if (mode != "reduced" && mode != "complete")
    fail("qr: mode must be 'reduced' or 'complete', got '", mode, "'");
  BatchedQr op;
  op.complete = mode == "complete";
  const Tensors result = apply(op, {doubled(x)});
  return {as_was(result[0], x), as_was(result[1], x)};
}

/// Columns of u, orthonormal, with more of them until they span everything. Those are any that do,
/// so that nothing has a gradient by them.
Tensor completed(const Tensor& u) {
  const int64_t m = u.dim(-2), k = u.dim(-1);
  if (m == k) return u;
  BatchedQr op;
  op.complete = true;
  const Tensor basis = apply(op, {ops::stop_gradient(u)})[0];
  return ops::concatenate(Tensors{u, ops::slice_axis(basis, -1, k, m)}, -1);
}

Value svd(const Tensor& x, bool full_matrices, bool compute_uv) {
  expect_matrices("svd", x);
  const Tensors result = apply(BatchedSvd{}, {doubled(x)});
  const Value s = Codec<Tensor>::encode(as_was(result[1], x));
  if (!compute_uv) return s;
  const Tensor u = full_matrices ? completed(result[0]) : result[0];
  const Tensor vt = full_matrices ? transposed(completed(transposed(result[2]))) : result[2];
  return List{Codec<Tensor>::encode(as_was(u, x)), s, Codec<Tensor>::encode(as_was(vt, x))};
}

/// What is smaller than the share of the largest counts as zero.
double default_rcond(const Tensor& x) {
  return std::numeric_limits<float>::epsilon() *
         static_cast<double>(std::max(x.dim(-1), x.dim(-2)));
}

/// (a (m, n)) -> the matrix (n, m) with a p a = a and p a p = p, both products symmetric.
struct PseudoInverse final : OpOf<PseudoInverse> {
  static constexpr const char* kName = "pseudo_inverse";
  double rcond = 0;
  auto fields() const { return std::tie(rcond); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override {
    const Shape& a = in[0].shape;
    return {{DType::float64, a.slice(0, a.rank() - 2).concat({a[-1], a[-2]})}};
  }
  Tensors decompose(std::span<const Tensor> in) const override {
    const Tensors result = apply(BatchedSvd{}, {in[0]});
    const Tensor& s = result[1];
    const Tensor counts = ops::greater(s, ops::max(s, {-1}, true) * rcond);
    const Tensor inverse = ops::where(counts, ops::reciprocal(ops::where(counts, s, 1)), 0);
    return {ops::matmul(transposed(result[2]) * as_columns(inverse), result[0], false, true)};
  }
  /// Golub and Pereyra, The differentiation of pseudo-inverses (1973).
  Tensors vjp(const Vjp& v) const override {
    const Tensor &a = v.inputs[0], &p = v.outputs[0], &g = v.gradients[0];
    const auto times = [](const Tensor& x, const Tensor& y) { return ops::matmul(x, y); };
    const Tensor pt = transposed(p), gt = transposed(g);
    const Tensor beside = times(gt, times(p, pt)), above = times(times(pt, p), gt);
    return {beside - times(a, times(p, beside)) + above - times(times(above, p), a) -
            times(pt, times(g, pt))};
  }
};

Tensor pseudo_inverse(const Tensor& x, std::optional<double> rcond) {
  PseudoInverse op;
  op.rcond = rcond.value_or(default_rcond(x));
  return apply1(op, {doubled(x)});
}

Tensor pinv(const Tensor& x, std::optional<double> rcond) {
  expect_matrices("pinv", x);
  return as_was(pseudo_inverse(x, rcond), x);
}

Tensor lstsq(const Tensor& a, const Tensor& b, std::optional<double> rcond) {
  expect_matrices("lstsq", a);
  const bool vector = b.rank() == 1;
  const Tensor right = doubled(vector ? ops::expand_dims(b, -1) : b);
  const Tensor x = ops::matmul(pseudo_inverse(a, rcond), right);
  return as_was(vector ? ops::squeeze(x, -1) : x, b);
}

Tensor matrix_rank(const Tensor& x, std::optional<double> tol) {
  expect_matrices("matrix_rank", x);
  const Tensor s = apply(BatchedSvd{}, {doubled(x)})[1];
  const Tensor least =
      tol ? ops::full({1}, *tol, DType::float64) : ops::max(s, {-1}, true) * default_rcond(x);
  return ops::sum(ops::cast(ops::greater(s, least), DType::int32), {-1});
}

// ---- norms

Tensor vector_norm(const Tensor& x, double order, int axis, bool keepdims) {
  const Tensor a = ops::abs(x);
  if (order == INFINITY) return ops::max(a, {axis}, keepdims);
  if (order == -INFINITY) return ops::min(a, {axis}, keepdims);
  if (order == 0) return ops::sum(ops::cast(ops::not_equal(x, 0), x.dtype()), {axis}, keepdims);
  if (order == 1) return ops::sum(a, {axis}, keepdims);
  if (order == 2) return ops::norm(x, {axis}, keepdims);
  return ops::power(ops::sum(ops::power(a, order), {axis}, keepdims), 1 / order);
}

/// Of the two axes, which come last.
Tensor matrix_norm(const Tensor& x, const Value& order) {
  if (order == Value("fro")) return ops::norm(x, {-2, -1});
  if (order == Value("nuc")) return as_was(ops::sum(apply(BatchedSvd{}, {doubled(x)})[1], {-1}), x);
  if (!order.is_number()) fail("norm: unknown order ", order, " of matrices");
  const double p = order.as_float();
  const Tensor a = ops::abs(x);
  if (std::abs(p) == 2) {
    const Tensor s = apply(BatchedSvd{}, {doubled(x)})[1];
    return as_was(p > 0 ? ops::max(s, {-1}) : ops::min(s, {-1}), x);
  }
  if (std::abs(p) != 1 && !std::isinf(p)) fail("norm: unknown order ", order, " of matrices");
  const Tensor sums = ops::sum(a, {std::abs(p) == 1 ? -2 : -1});
  return p > 0 ? ops::max(sums, {-1}) : ops::min(sums, {-1});
}

Value number_named(const Value& order) {
  if (order == Value("inf")) return INFINITY;
  return order == Value("-inf") ? Value(-INFINITY) : order;
}

Tensor norm(const Tensor& given, const Value& named, const GivenAxes& asked, bool keepdims) {
  const std::vector<int> axes = asked.list.value_or(std::vector<int>());
  if (asked.list && axes.size() != 1 && axes.size() != 2)
    fail("norm: expected one axis or two, got ", axes.size());
  const Tensor x = floating(given);
  const Value order = number_named(named);
  if (order.is_null() || (axes.empty() && x.rank() == 1 && order == Value(2)))
    return ops::norm(x, axes, keepdims);
  const std::vector<int> chosen = axes_of(x, axes);
  if (chosen.size() == 1) {
    if (!order.is_number()) fail("norm: order ", order, " is one of matrices, not of vectors");
    return vector_norm(x, order.as_float(), chosen.front(), keepdims);
  }
  if (chosen.size() != 2) fail("norm: expected one axis or two, got ", chosen.size());
  std::vector<int> others;
  for (int i = 0; i < x.rank(); ++i)
    if (i != chosen[0] && i != chosen[1]) others.push_back(i);
  others.insert(others.end(), chosen.begin(), chosen.end());
  const Tensor result = matrix_norm(ops::transpose(x, others), order);
  if (!keepdims) return result;
  Shape kept = x.shape();
  for (int axis : chosen) kept.set(axis, 1);
  return ops::reshape(result, kept);
}

}  // namespace

CRESCENT_REGISTER(spectra) {
  registry.add<MatricesKernel<BatchedQr>>(BatchedQr::kName);
  registry.add<SvdKernel>(BatchedSvd::kName);
  Operations(registry, "keras.src.ops.linalg")
      .add("Eigh", "eigh(x)", &eigh, "Eigenvalues and vectors of symmetric matrices.")
      .add("Norm", "norm(x, ord=None, axis=None, keepdims=False)", &norm,
           "The norm of vectors or matrices along one or two axes.")
      .add("Qr", "qr(x, mode='reduced')", &qr, "Factors Q, orthogonal, and R, triangular.")
      .add("SVD", "svd(x, full_matrices=True, compute_uv=True)", &svd,
           "The singular value decomposition: U, the values, and V transposed.")
      .add("Lstsq", "lstsq(a, b, rcond=None)", &lstsq, "The x for which a x is nearest to b.")
      .add("Pinv", "pinv(x, rcond=None)", &pinv, "The pseudo-inverses of matrices.")
      .add("MatrixRank", "matrix_rank(x, tol=None)", &matrix_rank,
           "How many singular values are above a tolerance.");
}

}  // namespace crescent::operations
