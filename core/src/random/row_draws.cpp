#include "random/row_draws.h"

#include "crescent/ops/ops.h"
#include "crescent/program/shard_ops.h"
#include "program/recording/lockstep.h"

namespace crescent {
namespace {

/// where the shapes of draws are recorded; null while no draws are compared
thread_local std::vector<Shape>* shapes_of_draws = nullptr;

std::vector<Shape> shapes_drawn(const std::function<void(int64_t)>& compute, int64_t rows) {
  std::vector<Shape> shapes;
  std::vector<Shape>* const before = std::exchange(shapes_of_draws, &shapes);
  try {
    compute(rows);
  } catch (...) {
    shapes_of_draws = before;
    throw;
  }
  shapes_of_draws = before;
  return shapes;
}

RowsInDraw rows_in_draw(const Shape& less, const Shape& more) {
  RowsInDraw rows;
  for (int axis = 0; axis < less.rank(); ++axis) {
    if (less[axis] == more[axis]) continue;
    if (rows.per_row != 0) fail("random numbers of shape ", less, " have the batch in two axes");
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
  for (size_t i = 0; i < less.size(); ++i) rows.push_back(rows_in_draw(less[i], more[i]));
  return rows;
}

RowDraws*& RowDraws::in_use() {
  thread_local RowDraws* in_use = nullptr;
  return in_use;
}

RowDraws::RowDraws(const Share& share, const std::vector<RowsInDraw>& draws, Tensors* drawn)
    : share_(share), draws_(draws), stored_draws_(drawn), outer_(std::exchange(in_use(), this)) {}
RowDraws::~RowDraws() { in_use() = outer_; }

Tensor RowDraws::draw_rows(const Shape& shape, const std::function<Tensor(const Shape&)>& draw) {
  if (shapes_of_draws) shapes_of_draws->push_back(shape);
  RowDraws* const draws = in_use();
  return draws ? draws->next(shape, draw) : draw(shape);
}

std::optional<SeedGenerator::DrawState> RowDraws::state(const Shape& shape,
                                                        const std::function<Tensor()>& take) {
  RowDraws* const draws = in_use();
  const RowsInDraw rows = draws ? draws->rows() : RowsInDraw{};
  if (rows.per_row != 0 && rows.axis != 0) return {};
  if (shapes_of_draws) shapes_of_draws->push_back(shape);
  if (!draws) return SeedGenerator::DrawState{take()};
  return SeedGenerator::DrawState{draws->draw_once(take), draws->share_.begin() * rows.per_row};
}

Tensor RowDraws::draw_once(const std::function<Tensor()>& draw) {
  const size_t index = next_draw_++;
  if (stored_draws_ && index < stored_draws_->size()) return (*stored_draws_)[index];
  const Tensor all = draw();
  if (stored_draws_) stored_draws_->push_back(all);
  return all;
}

Tensor RowDraws::next(const Shape& shape, const std::function<Tensor(const Shape&)>& draw) {
  const RowsInDraw rows = this->rows();
  Shape whole = shape;
  if (rows.per_row != 0) whole.set(rows.axis, share_.whole * rows.per_row);
  const Tensor all = draw_once([&] { return draw(whole); });
  if (rows.per_row == 0) return all;
  const int64_t first = share_.begin() * rows.per_row;
  if (const Lockstep* shards = Lockstep::current(); shards && rows.axis == 0) {
    ShardSlice slice;
    slice.shard = shards->shard(), slice.first = first, slice.count = share_.rows() * rows.per_row;
    return apply1(slice, {all});
  }
  return ops::slice_axis(all, rows.axis, first, first + share_.rows() * rows.per_row);
}

}  // namespace crescent
