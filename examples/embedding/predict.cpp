// Loads a model file of Keras and prints its predictions for inputs of zeros. Usage: predict MODEL
#include <cstdio>

#include "crescent/crescent.h"

using namespace crescent;

int main(int argc, char** argv) try {
  if (argc != 2) fail("expected the path of a model");
  const ModelPtr model = load_model(argv[1]);
  Tensors inputs;
  for (const Symbol& input : model->inputs()) {
    Shape shape = input.shape();
    shape.set(0, 1);  // the batch has a single sample
    inputs.push_back(Tensor(shape, input.dtype()));
  }
  for (const Tensor& output : model->predict(inputs)) std::printf("%s\n", to_text(output).c_str());
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
