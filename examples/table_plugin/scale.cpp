#include <crescent_plugin.hpp>

namespace table = crescent_table;

class Scale : public table::Layer {
 public:
  explicit Scale(const table::Options& options) : initializer_(options.text("initializer")) {}
  void build(table::Weights& weights, const std::vector<table::Shape>& inputs) override {
    weights.add("factor", {inputs[0][-1]}, '"' + initializer_ + '"');
  }
  table::Tensor call(const table::Tensor& x, table::Weights& weights, bool) override {
    return x * weights[0];
  }

 private:
  std::string initializer_;
};

CRESCENT_TABLE_PLUGIN("acme.table", "1.0.0",
                      table::layer<Scale>("TableScale",
                                          "Multiplies each feature by a learned factor.",
                                          {{"initializer", "How the factors start.", "\"ones\""}}))
