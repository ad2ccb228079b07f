// Functions that make figures as Dict for the tests of this folder.
#pragma once
#include <random>

#include "crescent/base/value.h"
#include "figure.h"

namespace crescent::pictures {

inline List random_numbers(std::mt19937& random, int64_t count) {
  List list;
  for (int64_t i = 0; i < count; ++i)
    list.push_back(std::normal_distribution<double>(0, std::pow(10, random() % 7 - 3))(random));
  if (count > 3 && random() % 3 == 0) list[1] = Value();
  if (count > 3 && random() % 3 == 0) list[2] = INFINITY;
  return list;
}

inline Dict axes_of(List y) {
  return {{"kind", "axes"}, {"series", List{Dict{{"y", std::move(y)}}}}};
}

inline Tensor random_tensor(std::mt19937& random, const Shape& shape) {
  Tensor tensor(shape, DType::float32);
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.mutable_data<float>()[i] = static_cast<float>(random() % 1000) / 999;
  return tensor;
}

inline Value boxed(Tensor tensor) {
  return Value(std::make_shared<BoxedTensor>(std::move(tensor)));
}

/// A random figure of any kind.
inline Dict random_figure(std::mt19937& random) {
  const auto random_count = [&](int64_t max) { return static_cast<int64_t>(random() % (max + 1)); };
  Dict figure;
  switch (random_count(3)) {
    case 0: {
      const char* const styles[] = {"line", "points", "bars", "histogram"};
      List series;
      for (int64_t i = random_count(3); i >= 0; --i)
        series.push_back(Dict{{"y", random_numbers(random, random_count(40))},
                              {"label", std::string(static_cast<size_t>(random_count(30)), 'l')},
                              {"dashed", random() % 2 == 0},
                              {"style", styles[random_count(3)]}});
      figure = {{"kind", "axes"}, {"series", series}, {"whole", random() % 2 == 0}};
      break;
    }
    case 1: {
      const int64_t count = 1 + random_count(8);
      figure = {{"kind", "images"},
                {"pixels",
                 boxed(random_tensor(random, {count, 1 + random_count(20), 1 + random_count(20),
                                              std::vector<int64_t>{1, 3, 4}[random_count(2)]}))}};
      List labels;
      for (int64_t i = 0; i < count; ++i) labels.push_back(i % 2 ? "first" : "ä\nsecond one");
      if (random() % 2) figure.set("labels", labels);
      if (random() % 2) figure.set("range", List{0, random_count(9)});
      if (random() % 2)
        figure.set("legend", List{Dict{{"label", "what is red"}, {"color", List{255, 0, 0}}}});
      break;
    }
    case 2:
      figure = {
          {"kind", "heatmap"},
          {"values", boxed(random_tensor(random, {1 + random_count(12), 1 + random_count(12)}))}};
      break;
    default:
      figure = {{"kind", "sparkline"}, {"values", random_numbers(random, random_count(100))}};
  }
  if (random() % 2) figure.set("title", "a title that is rather long, longer than some pictures");
  if (random() % 2) figure.set("xlabel", "what is below <&>");
  if (random() % 2) figure.set("ylabel", "what is beside");
  return figure;
}

}  // namespace crescent::pictures
