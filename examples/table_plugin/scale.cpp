#include <crescent_plugin.hpp>

using namespace crescent_table;

class Scale : public Layer {
 public:
  explicit Scale(const Options& options) : initializer_(options.text("initializer")) {}
  void build(Weights& weights, const std::vector<Shape>& inputs) override {
    weights.add("factor", {inputs[0][-1]}, '"' + initializer_ + '"');
  }
  Tensor call(const Tensor& x, Weights& weights, bool) override { return x * weights[0]; }

 private:
  std::string initializer_;
};

CRESCENT_TABLE_PLUGIN("acme.table", "1.0.0",
                      layer<Scale>("TableScale", "Multiplies each feature by a learned factor.",
                                   {{"initializer", "How the factors start.", "\"ones\""}}))
