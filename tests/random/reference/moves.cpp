// Reference implementations of ops that move elements.
#include <algorithm>
#include <cmath>

#include "crescent/program/op_types.h"
#include "random/reference/reference.h"

namespace crescent::random_programs {
namespace {

size_t offset_of(const std::vector<int64_t>& at, const std::vector<int64_t>& strides) {
  int64_t offset = 0;
  for (size_t i = 0; i < strides.size(); ++i) offset += at[i] * strides[i];
  return static_cast<size_t>(offset);
}

/// Calls from(index in out, index in x) for each element of out; where it returns true, sets the
/// element to that of x. Other elements stay unchanged.
template <class From>
void gather_elements(const Array& x, Array& out, From from) {
  const std::vector<int64_t> strides = strides_of(x.spec.shape);
  std::vector<int64_t> index(strides.size());
  IndexIterator position(out.spec.shape);
  for (double& y : out.values) {
    if (from(position.at(), index)) y = x.values[offset_of(index, strides)];
    position.next();
  }
}

using At = std::vector<int64_t>;

void interpret_broadcast_to(const Call& call) {
  const Shape& x = call.in[0]->spec.shape;
  const size_t missing_axes = static_cast<size_t>(call.out[0].spec.shape.rank() - x.rank());
  gather_elements(*call.in[0], call.out[0], [&](const At& out, At& in) {
    for (size_t i = 0; i < in.size(); ++i)
      in[i] = x[static_cast<int>(i)] == 1 ? 0 : out[i + missing_axes];
    return true;
  });
}

void interpret_transpose(const Transpose& op, const Call& call) {
  gather_elements(*call.in[0], call.out[0], [&](const At& out, At& in) {
    for (size_t i = 0; i < in.size(); ++i) in[static_cast<size_t>(op.axes[i])] = out[i];
    return true;
  });
}

void interpret_reverse(const Reverse& op, const Call& call) {
  const Shape& x = call.in[0]->spec.shape;
  gather_elements(*call.in[0], call.out[0], [&](const At& out, At& in) {
    in = out;
    for (int axis_option : op.axes) {
      const int axis = x.axis(axis_option);
      in[static_cast<size_t>(axis)] = x[axis] - 1 - out[static_cast<size_t>(axis)];
    }
    return true;
  });
}

void interpret_slice(const Slice& op, const Call& call) {
  gather_elements(*call.in[0], call.out[0], [&](const At& out, At& in) {
    for (size_t i = 0; i < in.size(); ++i) in[i] = op.start[i] + out[i] * op.stride[i];
    return true;
  });
}

void interpret_pad(const Pad& op, const Call& call) {
  const Shape& x = call.in[0]->spec.shape;
  const double value = nearest(op.value, call.in[0]->spec.dtype);
  std::fill(call.out[0].values.begin(), call.out[0].values.end(), value);
  gather_elements(*call.in[0], call.out[0], [&](const At& out, At& in) {
    for (size_t i = 0; i < in.size(); ++i) {
      const int64_t step = op.inner[i] + 1, from = out[i] - op.before[i];
      if (from < 0 || from % step != 0 || from / step >= x[static_cast<int>(i)]) return false;
      in[i] = from / step;
    }
    return true;
  });
}

void interpret_concat(const Concat& op, const Call& call) {
  const size_t axis = static_cast<size_t>(op.axis);
  int64_t begin = 0;
  for (const Array* part : call.in) {
    const int64_t length = part->spec.shape[op.axis];
    gather_elements(*part, call.out[0], [&](const At& out, At& in) {
      in = out;
      in[axis] -= begin;
      return in[axis] >= 0 && in[axis] < length;
    });
    begin += length;
  }
}

/// Gathers elements of x along an axis; indices out of range are clamped.
void interpret_gather(const Gather& op, const Call& call) {
  const Array& indices = *call.in[1];
  const Shape& x = call.in[0]->spec.shape;
  const std::vector<int64_t> strides = strides_of(indices.spec.shape);
  const size_t axis = static_cast<size_t>(x.axis(op.axis)), rank = strides.size();
  gather_elements(*call.in[0], call.out[0], [&](const At& out, At& in) {
    const At of_index(out.begin() + static_cast<ptrdiff_t>(axis),
                      out.begin() + static_cast<ptrdiff_t>(axis + rank));
    const auto index = static_cast<int64_t>(indices.values[offset_of(of_index, strides)]);
    for (size_t i = 0; i < in.size(); ++i)
      in[i] = i < axis ? out[i] : i > axis ? out[i + rank - 1] : 0;
    in[axis] = std::clamp<int64_t>(index, 0, x[op.axis] - 1);
    return true;
  });
}

void interpret_take_along(const TakeAlong& op, const Call& call) {
  const Shape& x = call.in[0]->spec.shape;
  const size_t axis = static_cast<size_t>(x.axis(op.axis));
  const std::vector<double>& indices = call.in[1]->values;
  size_t i = 0;
  gather_elements(*call.in[0], call.out[0], [&](const At& out, At& in) {
    in = out;
    in[axis] = std::clamp<int64_t>(static_cast<int64_t>(indices[i++]), 0, x[op.axis] - 1);
    return true;
  });
}

void interpret_one_hot(const OneHot& op, const Call& call) {
  const std::vector<double>& indices = call.in[0]->values;
  for (size_t i = 0; i < indices.size(); ++i) {
    const double index = indices[i];
    if (index >= 0 && index < static_cast<double>(op.depth))
      call.out[0].values[i * static_cast<size_t>(op.depth) + static_cast<size_t>(index)] = 1;
  }
}

void interpret_iota(const Iota& op, const Call& call) {
  IndexIterator position(op.shape);
  for (double& y : call.out[0].values) {
    y = nearest(static_cast<double>(position.at()[static_cast<size_t>(op.shape.axis(op.axis))]),
                op.dtype);
    position.next();
  }
}

void interpret_fill(const Fill& op, const Call& call) {
  std::fill(call.out[0].values.begin(), call.out[0].values.end(), nearest(op.value, op.dtype));
}

void interpret_check(const CheckIndices& op, const Call& call) {
  for (size_t i = 0; i < call.out[0].values.size(); ++i) {
    const double x = std::trunc(call.in[0]->values[i]);
    if (!(x >= 0 && x < static_cast<double>(op.size))) throw Unreliable("an index out of range");
    call.out[0].values[i] = x;
  }
}

}  // namespace

bool interpret_moves(const Call& call) {
  const std::string_view name = call.op.name();
  const auto interpret_as = [&]<class T>(void (*f)(const T&, const Call&)) {
    f(static_cast<const T&>(call.op), call);
  };
  if (name == Reshape::kName || name == StopGradient::kName || name == Bitcast::kName)
    call.out[0].values = call.in[0]->values;
  else if (name == BroadcastTo::kName)
    interpret_broadcast_to(call);
  else if (name == Transpose::kName)
    interpret_as(interpret_transpose);
  else if (name == Reverse::kName)
    interpret_as(interpret_reverse);
  else if (name == Slice::kName)
    interpret_as(interpret_slice);
  else if (name == Pad::kName)
    interpret_as(interpret_pad);
  else if (name == Concat::kName)
    interpret_as(interpret_concat);
  else if (name == Gather::kName)
    interpret_as(interpret_gather);
  else if (name == TakeAlong::kName)
    interpret_as(interpret_take_along);
  else if (name == OneHot::kName)
    interpret_as(interpret_one_hot);
  else if (name == Iota::kName)
    interpret_as(interpret_iota);
  else if (name == Fill::kName)
    interpret_as(interpret_fill);
  else if (name == CheckIndices::kName)
    interpret_as(interpret_check);
  else
    return false;
  return true;
}

}  // namespace crescent::random_programs
