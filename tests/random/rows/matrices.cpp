// Generators of random calls (CallGenerator in draft.h) for linear algebra, with matrices that are
// well conditioned by construction. A result that is one of several correct ones, such as
// eigenvectors up to sign, is made unique before other functions use it.
#include "crescent/base/error.h"
#include "random/draft.h"

namespace crescent::random_programs {
namespace {

int multiplied(Draft& d, int x, const decltype(Argument::value)& by) {
  return d.call("multiply", {{"x1", x}, {"x2", by}});
}
int apply_to(Draft& d, const char* function, int x) { return d.call(function, {{"x", x}}); }

/// `count` consecutive elements of an axis, at a random position.
int random_slice(Draft& d, int x, int axis, int64_t count) {
  const int64_t n = d.shape(x)[axis];
  if (n <= count) return x;
  const int64_t first = d.choices.below(n - count + 1);
  return d.call(
      "slice_axis",
      {{"x", x}, {"axis", Value(axis)}, {"first", Value(first)}, {"last", Value(first + count)}});
}

/// The largest number of rows and columns of a matrix, drawn around the limits at which Crescent's
/// own loops, LAPACK or threads are used.
int64_t draw_max_rows(Draft& d) {
  constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 8, 9, 17, 3, 4, 5, 6, 25, 33};
  if (d.max_elements() > 20'000 && d.choices.one_in(10)) return d.choices.one_in(5) ? 130 : 50;
  return d.choices.one_of(kSizes);
}

/// Matrices of numbers between -1 and 1, mostly parts of an earlier value.
int matrices(Draft& d, bool is_square) {
  constexpr int64_t kMaxProducts = 40'000;
  const int64_t max_rows = draw_max_rows(d);
  const int64_t other_size = is_square ? max_rows : 1 + d.choices.below(max_rows);
  int x = max_rows > 40 || d.choices.one_in(2)
              ? d.input({d.floating_dtype(), {max_rows, other_size}})
              : d.floating_value(2);
  const int rank = d.shape(x).rank();
  x = random_slice(d, random_slice(d, x, rank - 2, max_rows), rank - 1, max_rows);
  if (is_square) {
    const int64_t n = std::min(d.shape(x)[-1], d.shape(x)[-2]);
    x = random_slice(d, random_slice(d, x, rank - 2, n), rank - 1, n);
  }
  const int64_t multiplications = max_rows * d.shape(x)[-1] * d.shape(x)[-2];
  int64_t allowed_batch = std::max<int64_t>(1, kMaxProducts / multiplications);
  for (int axis = 0; axis < rank - 2; ++axis) {
    x = random_slice(d, x, axis, std::min<int64_t>(allowed_batch, 9));
    allowed_batch = std::max<int64_t>(1, allowed_batch / d.shape(x)[axis]);
  }
  if (d.choices.one_in(4))
    x = d.call("swapaxes", {{"x", x}, {"axis1", Value(-1)}, {"axis2", Value(-2)}});
  return apply_to(d, "tanh", x);
}

int eye_like(Draft& d, int x) {
  return d.call("eye", {{"N", Value(d.shape(x)[-2])},
                        {"M", Value(d.shape(x)[-1])},
                        {"dtype", Value(name_of(d.dtype(x)))}});
}
/// Scales matrices of numbers between -1 and 1 so that their norm is at most `norm_limit`.
int scaled_to_norm(Draft& d, int x, double norm_limit) {
  const int64_t largest_size = std::max(d.shape(x)[-1], d.shape(x)[-2]);
  return multiplied(d, x, Value(norm_limit / static_cast<double>(largest_size)));
}
int sum_of(Draft& d, int x, int y) { return d.call("add", {{"x1", x}, {"x2", y}}); }

/// Matrices near the identity, with singular values between 1/2 and 3/2; at random with the rows in
/// reverse order, so that elimination has to exchange rows.
int near_identity(Draft& d, bool is_square) {
  const int x = matrices(d, is_square);
  const int result = sum_of(d, scaled_to_norm(d, x, 0.5), eye_like(d, x));
  return d.choices.one_in(2) ? d.call("flip", {{"x", result}, {"axis", Value(-2)}}) : result;
}

/// Matrices near a diagonal of integers, so that eigenvalues or singular values are well separated.
int near_diagonal(Draft& d, bool is_square, bool is_descending) {
  const int x = matrices(d, is_square);
  const int64_t n = d.shape(x)[-1];
  const int numbers = d.call("arange", {{"start", Value(is_descending ? n : 1)},
                                        {"stop", Value(is_descending ? 0 : n + 1)},
                                        {"step", Value(is_descending ? -1 : 1)},
                                        {"dtype", Value(name_of(d.dtype(x)))}});
  return sum_of(d, scaled_to_norm(d, x, 0.25), multiplied(d, eye_like(d, x), numbers));
}

/// Symmetric matrices with eigenvalues between 1 and 2.
int positive_definite(Draft& d) {
  const int x = scaled_to_norm(d, matrices(d, true), 1);
  const int square =
      d.call("matmul",
             {{"x1", x},
              {"x2", d.call("swapaxes", {{"x", x}, {"axis1", Value(-1)}, {"axis2", Value(-2)}})}});
  return sum_of(d, square, eye_like(d, x));
}

/// The right-hand side of linear systems with matrices a: a vector or a matrix for each system, or
/// one for all.
int right_hand_side(Draft& d, int a, bool has_vectors) {
  Shape shape = d.shape(a).slice(0, d.shape(a).rank() - 1);
  if (!has_vectors) {
    for (int i = 0; i + 1 < shape.rank() && d.choices.one_in(2); ++i) shape.set(i, 1);
    shape.append(1 + d.choices.below(5));
  }
  const TensorSpec wanted_spec{d.dtype(a), shape};
  return d.operand([&](const TensorSpec& s) { return s == wanted_spec; },
                   [&] { return wanted_spec; });
}

int solve(Draft& d) {
  const int a = near_identity(d, true);
  return d.call("solve", {{"a", a}, {"b", right_hand_side(d, a, d.choices.one_in(3))}});
}

/// Solves with triangular matrices; the other triangle is not read.
int solve_triangular(Draft& d) {
  const int x = matrices(d, true), a = sum_of(d, scaled_to_norm(d, x, 0.5), eye_like(d, x));
  const bool is_lower = d.choices.one_in(2);
  const int b = right_hand_side(d, a, d.choices.one_in(3));
  return d.call("solve_triangular", {{"a", a}, {"b", b}, {"lower", Value(is_lower)}});
}

int lstsq(Draft& d) {
  const int a = near_identity(d, false);
  if (d.shape(a).rank() != 2) fail("one matrix");
  Shape shape{d.shape(a)[0]};
  if (d.choices.one_in(2)) shape.append(1 + d.choices.below(4));
  return d.call("lstsq", {{"a", a}, {"b", d.input({d.dtype(a), shape})}});
}

int inverse_function(Draft& d, const char* function, bool is_square) {
  return apply_to(d, function, near_identity(d, is_square));
}

int slogdet(Draft& d) {
  return d.call("slogdet", {{"x", near_identity(d, true)}},
                static_cast<size_t>(d.choices.below(2)));
}

/// LU factors; the function has no gradient.
int lu_factor(Draft& d) {
  const int a = d.call("stop_gradient", {{"variable", near_identity(d, !d.choices.one_in(4))}});
  return d.call("lu_factor", {{"x", a}}, static_cast<size_t>(d.choices.below(2)));
}

int cholesky(Draft& d) {
  return d.call("cholesky", {{"x", positive_definite(d)}, {"upper", Value(d.choices.one_in(2))}});
}

int cholesky_inverse(Draft& d) {
  const int x = matrices(d, true), a = sum_of(d, scaled_to_norm(d, x, 0.5), eye_like(d, x));
  return d.call("cholesky_inverse", {{"x", a}, {"upper", Value(d.choices.one_in(2))}});
}

/// Adds a call of matrix_rank for products of two matrices with singular values near 1. Such a
/// product has fewer independent columns than columns if the inner size is smaller, and its
/// singular values are either 0 or far from 0.
int matrix_rank(Draft& d) {
  const int a = near_identity(d, false);
  const int64_t rows = d.shape(a)[-1];
  const int x = d.input({d.dtype(a), {rows, 1 + d.choices.below(6)}});
  const int b = sum_of(d, scaled_to_norm(d, apply_to(d, "tanh", x), 0.5), eye_like(d, x));
  return apply_to(d, "matrix_rank", d.call("matmul", {{"x1", a}, {"x2", b}}));
}

/// The signs of the diagonal of a factor, one for each column.
int signs(Draft& d, int factor) {
  const int diagonal = d.mark_internal(
      d.call("diagonal", {{"x", factor}, {"axis1", Value(-2)}, {"axis2", Value(-1)}}));
  return d.mark_internal(apply_to(d, "sign", diagonal));
}
int signs_along(Draft& d, int signs, int axis) {
  return d.mark_internal(d.call("expand_dims", {{"x", signs}, {"axis", Value(axis)}}));
}

int eigh(Draft& d) {
  const int a = near_diagonal(d, true, false);
  if (d.choices.one_in(2)) return d.call("eigh", {{"x", a}}, 0);
  const int vectors = d.mark_internal(d.call("eigh", {{"x", a}}, 1));
  return multiplied(d, vectors, signs_along(d, signs(d, vectors), -2));
}

/// Eigenvalues of non-symmetric matrices come in any order. The Gershgorin discs of these matrices
/// are disjoint, so all eigenvalues are real.
int eig(Draft& d) {
  const int a = near_diagonal(d, true, false);
  if (d.shape(a)[-1] > 8) fail("too large");
  const int values = d.mark_internal(d.call("eig", {{"x", a}}, 0));
  return d.call("sort", {{"x", d.mark_internal(apply_to(d, "real", values))}, {"axis", Value(-1)}});
}

int svd(Draft& d) {
  const int a = near_diagonal(d, false, true);
  const std::vector<Argument> arguments{{"x", a}, {"full_matrices", Value(false)}};
  const int64_t result_index = d.choices.below(4);
  if (result_index == 0) return d.call("svd", {{"x", a}, {"compute_uv", Value(false)}});
  if (result_index == 1) return d.call("svd", arguments, 1);
  const int u = d.mark_internal(d.call("svd", arguments, 0)), s = signs(d, u);
  if (result_index == 2) return multiplied(d, u, signs_along(d, s, -2));
  return multiplied(d, d.mark_internal(d.call("svd", arguments, 2)), signs_along(d, s, -1));
}

/// QR with all columns of q. The columns beyond those of the matrices are arbitrary.
int qr(Draft& d) {
  int a = near_identity(d, false);
  const bool is_complete = d.choices.one_in(3), has_more_rows = d.shape(a)[-2] > d.shape(a)[-1];
  if (is_complete && has_more_rows) a = d.call("stop_gradient", {{"variable", a}});
  const std::vector<Argument> arguments{{"x", a},
                                        {"mode", Value(is_complete ? "complete" : "reduced")}};
  const int64_t k = std::min(d.shape(a)[-2], d.shape(a)[-1]);
  const auto first = [&](int x, int axis) {
    return d.mark_internal(d.call(
        "slice_axis", {{"x", x}, {"axis", Value(axis)}, {"first", Value(0)}, {"last", Value(k)}}));
  };
  const int r = first(d.mark_internal(d.call("qr", arguments, 1)), -2), s = signs(d, r);
  if (d.choices.one_in(2)) return multiplied(d, r, signs_along(d, s, -1));
  return multiplied(d, first(d.mark_internal(d.call("qr", arguments, 0)), -1),
                    signs_along(d, s, -2));
}

int norm(Draft& d) {
  const Value kOrders[] = {Value("nuc"), Value(2), Value(-2)};
  return d.call("norm", {{"x", near_diagonal(d, false, true)},
                         {"ord", d.choices.one_of(kOrders)},
                         {"axis", Value(List{-2, -1})}});
}

}  // namespace

std::vector<CallGenerator> matrix_generators() {
  return {{"solve", solve},
          {"solve", solve},
          {"solve_triangular", solve_triangular},
          {"inv", [](Draft& d) { return inverse_function(d, "inv", true); }},
          {"pinv", [](Draft& d) { return inverse_function(d, "pinv", false); }},
          {"det", [](Draft& d) { return inverse_function(d, "det", true); }},
          {"logdet", [](Draft& d) { return inverse_function(d, "logdet", true); }},
          {"slogdet", slogdet},
          {"lstsq", lstsq},
          {"lu_factor", lu_factor},
          {"cholesky", cholesky},
          {"cholesky_inverse", cholesky_inverse},
          {"matrix_rank", matrix_rank},
          {"eigh", eigh},
          {"eig", eig},
          {"svd", svd},
          {"qr", qr},
          {"norm", norm}};
}

}  // namespace crescent::random_programs
