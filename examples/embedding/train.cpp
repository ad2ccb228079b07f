// Trains a network to compute 2 a - b + c / 2 and saves it. Usage: train MODEL
#include <cstdio>

#include "crescent/crescent.h"

int main(int argc, char** argv) try {
  if (argc != 2) crescent::fail("expected the path of the file to write");
  crescent::set_random_seed(1);
  const crescent::Tensor x = crescent::global_random().normal({512, 3});
  const crescent::Tensor y =
      crescent::ops::sum(x * crescent::Tensor::from<float>({2, -1, 0.5}, {3}), {-1}, true);

  const auto model = crescent::Sequential::make(
      {crescent::make<crescent::Layer>(
           "Dense", {{"units", 16}, {"activation", "tanh"}, {"input_shape", crescent::List{3}}}),
       crescent::make<crescent::Layer>("Dense", {{"units", 1}})});
  model->compile(
      {{"optimizer", crescent::Dict{{"class_name", "Adam"},
                                    {"config", crescent::Dict{{"learning_rate", 0.02}}}}},
       {"loss", "mse"}});
  model->fit({x}, {y}, {{"epochs", 60}, {"verbose", 0}, {"validation_split", 0.25}});

  const double loss = model->evaluate({x}, {y}, {{"verbose", 0}}).front().second;
  std::printf("loss %.4f\n", loss);
  crescent::save_model(*model, argv[1]);
  return loss < 0.01 ? 0 : 1;
} catch (const crescent::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
