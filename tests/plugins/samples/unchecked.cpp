// Code that breaks the contract of its interface: ops, activations, a format, and calls that crash.
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "crescent/io/format.h"
#include "crescent/layer/operation.h"
#include "crescent/plugin.h"
#include "crescent/system/file.h"

using namespace crescent;

namespace {

/// An op x -> x that fails in the way that its attribute names.
struct Fails final : OpOf<Fails> {
  static constexpr const char* kName = "unchecked.fails";
  std::string how;
  auto fields() const { return std::tie(how); }
  Effect effect() const override { return how == "ordered" ? Effect::ordered : Effect::none; }
  TensorSpecs infer(std::span<const TensorSpec> in) const override {
    if (how == "infer") throw std::out_of_range("the shelf has 3 places");
    if (how == "message") fail("expected an even number of rows");
    if (how == "nothing") return {};
    return {in[0]};
  }
  Tensors decompose(std::span<const Tensor>) const override {
    return how == "empty" ? Tensors{Tensor()} : Tensors{};
  }
  Tensors vjp(const Vjp& v) const override {
    if (how == "vjp") throw 42;
    if (how == "crash in vjp") std::raise(SIGSEGV);
    if (how == "count") return {};
    if (how == "shape") return {Tensor(1.0)};
    return {v.gradients[0]};
  }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    if (how == "compute") throw std::out_of_range("the shelf has 3 places");
    if (how == "crash") std::raise(SIGSEGV);
    if (how == "replaced") return out[0] = in[0].clone(), true;
    std::memcpy(out[0].mutable_raw(), in[0].raw(), in[0].bytes());
    return true;
  }
};

Tensor failing(const Tensor& x, const std::string& how) {
  if (how == "operation") throw std::out_of_range("the shelf has 3 places");
  Fails op;
  op.how = how;
  return apply1(op, {x});
}

struct Crashes final : UnaryLayer {
  static void describe(Schema<Crashes>& s) {
    s.doc("Crashes.").field("how", &Crashes::how_, "In which way.");
  }
  Tensor call(const Tensor& x, const Call&) override {
    if (how_ == "deep") return Tensor(static_cast<double>(recurse(1)));
    if (how_ == "abort") std::abort();
    if (how_ == "exit") std::exit(3);
    *static_cast<volatile int*>(null_pointer_) = 1;
    return x;
  }

 private:
  // NOLINTNEXTLINE: the stack overflows.
  static int recurse(int n) {
    volatile char stack_bytes[4096] = {static_cast<char>(n)};
    return n == 0 ? 0 : stack_bytes[0] + recurse(n + 1) + stack_bytes[1];
  }
  std::string how_ = "write";
  int* null_pointer_ = nullptr;
};

struct CrashingActivation final : Activation {
  static void describe(Schema<CrashingActivation>& s) { s.doc("Crashes."); }
  Tensor operator()(const Tensor& x) const override { return std::raise(SIGSEGV), x; }
};

struct Refuses final : Activation {
  static void describe(Schema<Refuses>& s) { s.doc("Refuses everything."); }
  Tensor operator()(const Tensor&) const override { fail("expected another tensor"); }
};

/// Saves the weights of a model as text, in a file or in a folder, and throws in the middle of a
/// file on request.
class Halfway final : public Format, public WeightsFormat {
 public:
  static void describe(Schema<Halfway>& s) {
    s.doc("Weights.")
        .trait("endings", List{".halfway"})
        .trait("signatures", List{"68616c66"})
        .trait("folder", "half.txt");
  }
  struct Options {
    bool stop = false, aside = false;
  };
  const SchemaData& save_weights_options() const override { return options(); }
  const SchemaData& load_weights_options() const override { return options(); }
  void save_weights(Model& model, const std::string& path, const Dict& given) override {
    const auto o = read_options<Options>(options(), given);
    const bool is_folder = path.ends_with('/');
    if (is_folder) create_folder(path + "inner");
    std::ofstream file(is_folder ? path + "half.txt" : path);
    file << "half";
    if (o.stop) throw std::runtime_error("no more ink in " + path);
    if (o.aside) std::ofstream(path + (is_folder ? "inner/more" : ".more")) << "beside";
    for (const Tensor& w : model.get_weights())
      for (const double x : w.to_vector()) file << " " << x;
  }
  void load_weights(Model&, const std::string&, const Dict&) override { fail("cannot read this"); }

 private:
  static const SchemaData& options() {
    static const SchemaData data = [] {
      const Options defaults;
      Schema<Options> s("halfway", &defaults);
      s.field("stop", &Options::stop, "In the middle.").field("aside", &Options::aside, "More.");
      return s.data();
    }();
    return data;
  }
};

}  // namespace

CRESCENT_PLUGIN("unchecked", "1.0.0") {
  Operations(registry, "unchecked").add("Failing", "failing(x, how=\"\")", failing, "Fails.");
  registry.add<Crashes>("Crashes");
  registry.add<CrashingActivation>("CrashingActivation");
  registry.add<Refuses>("Refuses");
  registry.add<Halfway>("halfway");
}
