#include "places.h"

#include "../host.h"
#include "crescent/cpu_kernel.h"

namespace crescent::operations {
namespace {

/// Halves what is left of the list, without a branch that depends on the numbers.
template <bool right, class T>
int32_t place_in(const T* list, int64_t count, T value) {
  const auto is_before = [&](T number) { return right ? !(number > value) : !(number >= value); };
  if (count == 0) return 0;
  const T* first = list;
  while (count > 1) {
    const int64_t half = count / 2;
    first = is_before(first[half - 1]) ? first + half : first;
    count -= half;
  }
  return static_cast<int32_t>(first - list) + (is_before(*first) ? 1 : 0);
}

/// (sorted, values) -> a place for each value.
struct PlacesIn final : OpOf<PlacesIn> {
  static constexpr const char* kName = "operations.places_in";
  bool right = false;
  auto fields() const { return std::tie(right); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override {
    return {{DType::int32, in[1].shape}};
  }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    with_type(in[0].dtype(), [&]<class T>(T) {
      find<T>(in[0].data<T>(), in[0].size(), in[1].data<T>(), out[0].mutable_data<int32_t>(), 0,
              in[1].size());
    });
    return true;
  }
  template <class T>
  void find(const T* list, int64_t count, const T* values, int32_t* to, int64_t begin,
            int64_t end) const {
    for (int64_t i = begin; i < end; ++i)
      to[i] =
          right ? place_in<true>(list, count, values[i]) : place_in<false>(list, count, values[i]);
  }
};

class PlacesInKernel final : public CpuKernel {
 public:
  static void describe(Schema<PlacesInKernel>& s) { s.doc("Some values a thread."); }
  bool prepare(const CpuRequest& r) override {
    op_ = *r.op_as<PlacesIn>();
    dtype_ = r.inputs[0].dtype;
    count_ = r.inputs[0].shape.size(), values_ = r.inputs[1].shape.size();
    return true;
  }
  void run(const CpuArguments& a) override {
    with_type(dtype_, [&]<class T>(T) {
      a.threads.blocks(values_, 2048, [&](int64_t begin, int64_t end) {
        op_.find<T>(a.in<T>(0), count_, a.in<T>(1), a.out<int32_t>(0), begin, end);
      });
    });
  }

 private:
  PlacesIn op_;
  DType dtype_ = DType::float32;
  int64_t count_ = 0, values_ = 0;
};

}  // namespace

Tensor places_in(const Tensor& sorted, const Tensor& values, bool right) {
  PlacesIn op;
  op.right = right;
  const bool half = sorted.dtype() == DType::bfloat16 || sorted.dtype() == DType::float16;
  const auto computable = [&](const Tensor& x) { return half ? ops::cast(x, DType::float32) : x; };
  return apply1(op, {computable(sorted), computable(values)});
}

void add_places_kernel(Registry& registry) { registry.add<PlacesInKernel>(PlacesIn::kName); }

}  // namespace crescent::operations
