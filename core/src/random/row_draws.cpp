#include "random/row_draws.h"

#include "crescent/ops/ops.h"
#include "crescent/program/shard_ops.h"
#include "program/recording/lockstep.h"

namespace crescent {
namespace {

/// The list in which the shapes of draws are recorded; null while no shapes are recorded.
thread_local std::vector<Shape>* shapes_of_draws = nullptr;

std::vector<Shape> shapes_drawn(const std::function<void(int64_t)>& compute, int64_t rows) {
  std::vector<Shape> shapes;
  std::vector<Shape>* const outer_shapes = std::exchange(shapes_of_draws, &shapes);
  try {
    compute(rows);
  } catch (...) {
    shapes_of_draws = outer_shapes;
    throw;
  }
  shapes_of_draws = outer_shapes;
  return shapes;
}

RowsInDraw rows_in_draw(const Shape& shape, const Shape& longer_shape) {
  RowsInDraw rows;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] == longer_shape[axis]) continue;
    if (rows.per_row != 0) fail("random numbers of shape ", shape, " have the batch in two axes");
    rows = {axis, longer_shape[axis] - shape[axis]};
  }
  return rows;
}

}  // namespace

std::vector<RowsInDraw> rows_in_draws(const std::function<void(int64_t)>& compute) {
  constexpr int64_t kTracedRows = 2;
  const std::vector<Shape> base_shapes = shapes_drawn(compute, kTracedRows);
  if (base_shapes.empty()) return {};
  const std::vector<Shape> longer_shapes = shapes_drawn(compute, kTracedRows + 1);
  if (base_shapes.size() != longer_shapes.size())
    fail("how often random numbers are drawn depends on the number of samples");
  std::vector<RowsInDraw> rows;
  for (size_t i = 0; i < base_shapes.size(); ++i)
    rows.push_back(rows_in_draw(base_shapes[i], longer_shapes[i]));
  return rows;
}

RowDraws*& RowDraws::current_draws() {
  thread_local RowDraws* current_draws = nullptr;
  return current_draws;
}

RowDraws::RowDraws(const Share& share, const std::vector<RowsInDraw>& draws, Tensors* stored_draws)
    : share_(share),
      draws_(draws),
      stored_draws_(stored_draws),
      outer_draws_(std::exchange(current_draws(), this)) {}
RowDraws::~RowDraws() { current_draws() = outer_draws_; }

Tensor RowDraws::draw_rows(const Shape& shape, const std::function<Tensor(const Shape&)>& draw) {
  if (shapes_of_draws) shapes_of_draws->push_back(shape);
  RowDraws* const draws = current_draws();
  return draws ? draws->next_draw(shape, draw) : draw(shape);
}

std::optional<SeedGenerator::DrawState> RowDraws::state(const Shape& shape,
                                                        const std::function<Tensor()>& take_state) {
  RowDraws* const draws = current_draws();
  const RowsInDraw next_rows = draws ? draws->rows_of_next_draw() : RowsInDraw{};
  if (next_rows.per_row != 0 && next_rows.axis != 0) return {};
  if (shapes_of_draws) shapes_of_draws->push_back(shape);
  if (!draws) return SeedGenerator::DrawState{take_state()};
  return SeedGenerator::DrawState{draws->draw_once(take_state),
                                  draws->share_.begin() * next_rows.per_row};
}

Tensor RowDraws::draw_once(const std::function<Tensor()>& draw) {
  const size_t index = next_draw_++;
  if (stored_draws_ && index < stored_draws_->size()) return (*stored_draws_)[index];
  const Tensor whole_draw = draw();
  if (stored_draws_) stored_draws_->push_back(whole_draw);
  return whole_draw;
}

Tensor RowDraws::next_draw(const Shape& shape, const std::function<Tensor(const Shape&)>& draw) {
  const RowsInDraw rows = this->rows_of_next_draw();
  Shape whole_shape = shape;
  if (rows.per_row != 0) whole_shape.set(rows.axis, share_.whole * rows.per_row);
  const Tensor whole_draw = draw_once([&] { return draw(whole_shape); });
  if (rows.per_row == 0) return whole_draw;
  const int64_t first = share_.begin() * rows.per_row;
  if (const Lockstep* shards = Lockstep::current(); shards && rows.axis == 0) {
    ShardSlice slice;
    slice.shard = shards->shard(), slice.first = first, slice.count = share_.rows() * rows.per_row;
    return apply1(slice, {whole_draw});
  }
  return ops::slice_axis(whole_draw, rows.axis, first, first + share_.rows() * rows.per_row);
}

}  // namespace crescent
