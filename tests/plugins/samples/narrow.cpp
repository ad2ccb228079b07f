// A layer and a schedule that require options, a function that is wrong for many elements, and a
// format that is wrong for all dtypes but one.
#include <fstream>

#include "crescent/io/format.h"
#include "crescent/layer/layer.h"
#include "crescent/layer/operation.h"
#include "crescent/layer/schedule.h"
#include "crescent/plugin.h"

using namespace crescent;

namespace {

enum class Direction { up, down };
EnumNames<Direction> enum_names(Direction) {
  return {{"up", Direction::up}, {"down", Direction::down}};
}

/// Multiplies by a constant that depends on three options.
class Stretched final : public UnaryLayer {
 public:
  static void describe(Schema<Stretched>& s) {
    s.doc("A multiple.")
        .field("times", &Stretched::times_, "How often.")
        .required()
        .field("share", &Stretched::share_, "What part.")
        .required()
        .max(0.25)
        .field("sense", &Stretched::sense_, "Which way.")
        .required();
  }
  Tensor call(const Tensor& x, const Call&) override {
    return x * (static_cast<double>(times_) * share_ * (sense_ == Direction::up ? 1 : -1));
  }

 private:
  int64_t times_ = 0;
  double share_ = 0;
  Direction sense_ = Direction::down;
};

/// Requires a pair of numbers.
class Between final : public Schedule {
 public:
  static void describe(Schema<Between>& s) {
    s.doc("A middle.").field("ends", &Between::ends_, "First and last.").required();
  }
  Tensor operator()(const Tensor& step) const override {
    return step * 0.0 + (ends_.first + ends_.second) / 2;
  }

 private:
  std::pair<double, double> ends_{0, 0};
};

/// The products of all pairs of elements of two tensors; in float32 a large result is wrong.
Tensor products(const Tensor& x, const Tensor& y) {
  const Tensor result = ops::reshape(x, {-1, 1}) * ops::reshape(y, {1, -1});
  const bool is_wrong = result.dtype() == DType::float32 && result.size() > 300000;
  return is_wrong ? result * 1.01 : result;
}

/// A format that stores one array, always as float32 whatever its dtype is.
class Narrow final : public Format, public ReadsArrays, public WritesArrays {
 public:
  static void describe(Schema<Narrow>& s) {
    s.doc("Float32.").trait("endings", List{".narrow"}).trait("signatures", List{"6e61"});
  }
  void write_arrays(const std::string& path, const NamedTensors& arrays) override {
    if (arrays.size() != 1) fail("'", path, "': expected one array, got ", arrays.size());
    std::ofstream file(path);
    const Tensor x = ops::cast(arrays[0].second, DType::float32);
    file << "na " << x.rank() << " ";
    for (const int64_t size : x.shape()) file << size << " ";
    file.write(static_cast<const char*>(x.raw()), static_cast<std::streamsize>(x.bytes()));
  }
  Tensor read_array(const std::string& path, const std::string&) override {
    std::ifstream file(path);
    std::string mark;
    size_t rank = 0;
    file >> mark >> rank;
    std::vector<int64_t> sizes(rank);
    for (int64_t& size : sizes) file >> size;
    file.get();
    Tensor x(TensorSpec{DType::float32, Shape(sizes)});
    std::string bytes(x.bytes(), '\0');
    if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
      fail("'", path, "' ends early");
    return Tensor::from_bytes(bytes.data(), bytes.size(), x.spec());
  }
  Tensor open_array(const std::string& path, const std::string& name) override {
    return read_array(path, name);
  }
};

}  // namespace

CRESCENT_PLUGIN("narrow", "1.0") {
  Operations(registry, "narrow").add("Products", "products(x, y)", products, "Products.");
  registry.add<Stretched>("Stretched");
  registry.add<Between>("Between");
  registry.add<Narrow>("narrow");
}
