// Registers the classes that core defines.
#include "registry/core_classes.h"

#include "device/communicator.h"
#include "layer/input_layer.h"
#include "model/config.h"
#include "model/operation_layer.h"
#include "training/replay/replay_recorder.h"

namespace crescent {
namespace {

/// A factory that passes a whole configuration to a function that makes the model. Other factories
/// make an object and set its options one by one.
class ModelFactory final : public Factory {
 public:
  using Make = std::shared_ptr<Configurable> (*)(const Dict& config);
  explicit ModelFactory(Make make) : make_(make) {}
  std::shared_ptr<Configurable> make(const Dict& options) const override { return make_(options); }

 private:
  Make make_;
};

template <class T>
void add_model(Registry& registry, const char* name, std::vector<std::string> aliases,
               ModelFactory::Make make) {
  ClassInfo info;
  info.kind = Layer::kKind;
  info.name = name;
  info.aliases = std::move(aliases);
  Schema<T> schema(name);
  T::describe(schema);
  info.schema = schema.data();
  info.open_options = true;
  info.factory = std::make_shared<ModelFactory>(make);
  registry.add(std::move(info));
}

}  // namespace

void Sequential::describe(Schema<Sequential>& s) { s.doc("A linear stack of layers."); }
void Functional::describe(Schema<Functional>& s) {
  s.doc("A graph of layers from inputs to outputs.");
}

void register_core_classes(Registry& registry) {
  registry.add<InputLayer>("InputLayer");
  registry.add<OperationLayer>("OperationLayer");
  registry.add<History>("History");
  registry.add<ReplayRecorder>(kReplayRecorder);
  registry.add<SingleProcess>("single");
  add_model<Sequential>(
      registry, "Sequential", {},
      [](const Dict& c) -> std::shared_ptr<Configurable> { return sequential_from_config(c); });
  add_model<Functional>(
      registry, "Functional", {"Model"},
      [](const Dict& c) -> std::shared_ptr<Configurable> { return functional_from_config(c); });
}

}  // namespace crescent
