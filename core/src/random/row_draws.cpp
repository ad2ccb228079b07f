#include "random/row_draws.h"

#include "crescent/ops/ops.h"

namespace crescent {
namespace {

/// where the shapes of draws are noted; null while no draws are compared
thread_local std::vector<Shape>* noted = nullptr;

std::vector<Shape> shapes_drawn(const std::function<void(int64_t)>& compute, int64_t rows) {
  std::vector<Shape> shapes;
  std::vector<Shape>* const before = std::exchange(noted, &shapes);
  try {
    compute(rows);
  } catch (...) {
    noted = before;
    throw;
  }
  noted = before;
  return shapes;
}

RowsInDraw compared(const Shape& less, const Shape& more) {
  RowsInDraw rows;
  for (int axis = 0; axis < less.rank(); ++axis) {
    if (less[axis] == more[axis]) continue;
    if (rows.each != 0) fail("random numbers of shape ", less, " have the batch in two axes");
    rows = {axis, more[axis] - less[axis]};
  }
  return rows;
}

}  // namespace

std::vector<RowsInDraw> rows_in_draws(const std::function<void(int64_t)>& compute) {
  constexpr int64_t kRows = 2;
  const std::vector<Shape> less = shapes_drawn(compute, kRows);
  if (less.empty()) return {};
  const std::vector<Shape> more = shapes_drawn(compute, kRows + 1);
  if (less.size() != more.size())
    fail("how often random numbers are drawn depends on the number of samples");
  std::vector<RowsInDraw> rows;
  for (size_t i = 0; i < less.size(); ++i) rows.push_back(compared(less[i], more[i]));
  return rows;
}

RowDraws*& RowDraws::in_use() {
  thread_local RowDraws* in_use = nullptr;
  return in_use;
}

RowDraws::RowDraws(const Share& share, const std::vector<RowsInDraw>& draws)
    : share_(share), draws_(draws), before_(std::exchange(in_use(), this)) {}
RowDraws::~RowDraws() { in_use() = before_; }

const RowsInDraw* RowDraws::current() const {
  const bool has_rows = next_ < draws_.size() && draws_[next_].each != 0;
  return has_rows ? &draws_[next_] : nullptr;
}

Shape RowDraws::whole(const Shape& asked) {
  if (noted) noted->push_back(asked);
  const RowsInDraw* rows = in_use() ? in_use()->current() : nullptr;
  if (!rows) return asked;
  Shape shape = asked;
  shape.set(rows->axis, in_use()->share_.whole * rows->each);
  return shape;
}

Tensor RowDraws::own(const Tensor& drawn) {
  RowDraws* const draws = in_use();
  if (!draws) return drawn;
  const RowsInDraw* rows = draws->current();
  ++draws->next_;
  if (!rows) return drawn;
  const Share& share = draws->share_;
  const int64_t first = share.begin() * rows->each;
  return ops::slice_axis(drawn, rows->axis, first, first + share.rows() * rows->each);
}

}  // namespace crescent
