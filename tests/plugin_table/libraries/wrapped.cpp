// A plugin whose layer is written with the C++ wrapper of the C interface.
#include <crescent_plugin.hpp>

using namespace crescent_table;

class Power : public Layer {
 public:
  explicit Power(const Options& options)
      : initializer_(options.text("initializer")), squares_(options.number("squares")) {
    if (squares_ < 0) throw Error("squares must not be negative");
  }
  void build(Weights& weights, const std::vector<Shape>& inputs) override {
    weights.add("factor", {inputs[0][-1]}, '"' + initializer_ + '"');
  }
  Tensor call(const Tensor& x, Weights& weights, bool) override {
    Tensor y = x;
    for (int i = 0; i < squares_; ++i) y = y * y;
    return y * weights[0] + (Tensor(1) - Tensor(2) / Tensor(2));
  }

 private:
  std::string initializer_;
  double squares_;
};

CRESCENT_TABLE_PLUGIN("table.wrapped", "1.2.0",
                      layer<Power>("TablePower", "Squares, times a factor.",
                                   {{"initializer", "How factors start.", "\"ones\""},
                                    {"squares", "How often it squares.", "1"}}))
