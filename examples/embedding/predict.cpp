// Loads a model file of Keras and prints its predictions for inputs of zeros. Usage: predict MODEL
#include <cstdio>

#include "crescent/crescent.h"

int main(int argc, char** argv) try {
  if (argc != 2) crescent::fail("expected the path of a model");
  const crescent::ModelPtr model = crescent::load_model(argv[1]);
  crescent::Tensors inputs;
  for (const crescent::Symbol& input : model->inputs()) {
    crescent::Shape shape = input.shape();
    shape.set(0, 1);  // the batch has a single sample
    inputs.push_back(crescent::Tensor(shape, input.dtype()));
  }
  for (const crescent::Tensor& output : model->predict(inputs))
    std::printf("%s\n", crescent::to_text(output).c_str());
} catch (const crescent::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
