// Methods and properties of registered classes, and the table of kinds.
#include <catch2/catch.hpp>

#include "crescent/layer/layer.h"

using namespace crescent;
using Catch::Contains;

namespace {

/// A class of a kind that Lua does not know.
struct Machine : Plain {
  static constexpr const char* kKind = "test machine";
};

struct Counter final : Machine {
  static void describe(Schema<Counter>& s) {
    s.doc("Counts.")
        .field("start", &Counter::count, "Where it starts.")
        .method("add", &Counter::add, "Adds, and gives the sum.")
        .arg("by", "How much.", 1)
        .min(0)
        .arg("times", "How often.", Value())
        .method("clear", &Counter::clear, "Back to 0.")
        .method("twice", &twice, "Twice the count.")
        .property("count", &Counter::count, "The sum.")
        .property("half", &Counter::half, &Counter::set_half, "Half of it.")
        .max(100)
        .property("next", &Counter::next, "Another one.");
  }
  int64_t add(int64_t by, std::optional<int64_t> times) { return count += by * times.value_or(1); }
  void clear() { count = 0; }
  static double twice(const Counter& counter) { return 2.0 * static_cast<double>(counter.count); }
  double half() const { return static_cast<double>(count) / 2; }
  void set_half(double half) { count = static_cast<int64_t>(half * 2); }
  std::shared_ptr<Machine> next() const { return next_counter; }

  int64_t count = 0;
  std::shared_ptr<Machine> next_counter;
};

struct Nameless final : Machine {
  static void describe(Schema<Nameless>& s) {
    s.method("add", &Nameless::add, "").arg("a", "One of two.");
  }
  void add(int64_t, int64_t) {}
};
struct TooMany final : Machine {
  static void describe(Schema<TooMany>& s) { s.method("run", &TooMany::run, "").arg("a", ""); }
  void run() {}
};
struct Both final : Machine {
  static void describe(Schema<Both>& s) {
    s.method("run", &Both::run, "").property("run", &Both::speed, "");
  }
  void run() {}
  int64_t speed = 0;
};

std::shared_ptr<Counter> make_counter(int64_t start) {
  static const bool is_registered = (registry().add<Counter>("Counter"), true);
  (void)is_registered;
  return std::dynamic_pointer_cast<Counter>(
      make_object("test machine", "Counter", {{"start", start}}));
}

template <class F>
std::string message(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("Methods are called by name, with defaults") {
  const auto counter = make_counter(1);
  CHECK(counter->call_method("add", {{"by", 2}}) == Value(3));
  CHECK(counter->call_method("add") == Value(4));
  CHECK(counter->call_method("add", {{"by", 2}, {"times", 3}}) == Value(10));
  CHECK(counter->call_method("twice") == Value(20.0));
  CHECK(counter->call_method("clear").is_null());
  CHECK(counter->count == 0);
}

TEST_CASE("A method's mistakes are reported in the words of the schema") {
  const auto counter = make_counter(1);
  CHECK(message([&] { counter->call_method("ad"); }) ==
        "Counter: no method 'ad' (did you mean 'add'?)");
  CHECK(message([&] {
          counter->call_method("add", {{"time", 2}});
        }) == "Counter.add: no argument 'time' (did you mean 'times'?)");
  CHECK(message([&] {
          counter->call_method("add", {{"by", -1}});
        }) == "Counter.add: argument 'by' must be at least 0, got -1");
  CHECK(message([&] {
          counter->call_method("add", {{"by", "two"}});
        }) == "Counter.add: argument 'by': expected an integer, got \"two\"");
  CHECK_THAT(message([&] { Counter().call_method("add"); }), Contains("outside the registry"));
}

TEST_CASE("Properties are read and set") {
  const auto counter = make_counter(8);
  CHECK(counter->get_property("count") == Value(8));
  CHECK(counter->get_property("half") == Value(4.0));
  counter->set_property("half", 2);
  CHECK(counter->count == 4);
  CHECK(counter->get_property("next").is_null());
  counter->next_counter = counter;
  CHECK(counter->get_property("next") == Value(counter));
  counter->next_counter = nullptr;
  CHECK(message([&] { counter->set_property("count", 3); }) == "Counter: 'count' cannot be set");
  CHECK(message([&] { counter->set_property("half", 101); }) ==
        "Counter: property 'half' must be at most 100, got 101");
  CHECK(message([&] { counter->get_property("cuont"); }) ==
        "Counter: no property 'cuont' (did you mean 'count'?)");
}

TEST_CASE("Neither is an option") {
  const auto counter = make_counter(8);
  CHECK(counter->get_config() == Dict{{"start", 8}});
  const SchemaData& schema = counter->info()->schema;
  CHECK(schema.names() == std::vector<std::string>{"start"});
  CHECK(schema.find_method("add")->result == "an integer");
  CHECK(schema.find_method("clear")->result.empty());
  CHECK(schema.find_property("half")->doc == "Half of it.");
}

TEST_CASE("Declarations that do not fit their methods are refused") {
  CHECK_THAT(message([] { registry().add<Nameless>("Nameless"); }),
             Contains("Nameless.add: the method takes 2 arguments"));
  CHECK_THAT(message([] { registry().add<TooMany>("TooMany"); }),
             Contains("TooMany.run: argument 'a' is one more"));
  CHECK_THAT(message([] { registry().add<Both>("Both"); }),
             Contains("Both.run is declared as a method and as a property"));
  CHECK_FALSE(registry().find("test machine", "Both"));
}

TEST_CASE("Fields say which kind of object they name") {
  const auto dense = make<Layer>("Dense", {{"units", 1}});
  const SchemaData& schema = dense->info()->schema;
  CHECK(schema.find("kernel_initializer")->kind == "initializer");
  CHECK(schema.find("activation")->kind == "activation");
  CHECK(schema.find("units")->kind.empty());
  CHECK(registry().get("optimizer", "Adam")->schema.find("learning_rate")->kind == "schedule");
}

TEST_CASE("The options of weights have Keras' order") {
  const Dict config = make<Layer>("Dense", {{"units", 1}})->get_config();
  const std::vector<std::string> keys = config.keys();
  const std::vector<std::string> last_keys(
      std::find(keys.begin(), keys.end(), "kernel_initializer"), keys.end());
  CHECK(last_keys == std::vector<std::string>{"kernel_initializer", "bias_initializer",
                                              "kernel_regularizer", "bias_regularizer",
                                              "activity_regularizer", "kernel_constraint",
                                              "bias_constraint"});
}

TEST_CASE("Every class of the built-in plugins is of a kind that the table has") {
  CHECK(kind_named("loss").plural == std::string("losses"));
  CHECK(message([] { kind_named("los"); }) == "unknown kind 'los' (did you mean 'loss'?)");
  for (const KindInfo& kind : kinds()) {
    INFO(kind.name);
    CHECK_FALSE(std::string(kind.doc).empty());
    if (kind.plural) CHECK_FALSE(registry().names(kind.name).empty());
  }
}

TEST_CASE("Tensors, variables and objects are values") {
  using Floats = std::vector<double>;
  CHECK(Codec<Tensor>::decode(List{List{1, 2.5}, List{3, 4}}).to_vector() == Floats{1, 2.5, 3, 4});
  CHECK(Codec<Tensor>::decode(List{true, false}).dtype() == DType::boolean);
  CHECK(Codec<Tensor>::decode(3).shape() == Shape{});
  CHECK_FALSE(Codec<Tensor>::decode(Value()));
  CHECK(Codec<Tensor>::decode(List{}).shape() == Shape{0});
  CHECK_THAT(message([] {
               Codec<Tensor>::decode(List{List{1, 2}, List{3}});
             }),
             Contains("rows differ in length: expected 2, got 1"));
  CHECK_THAT(message([] { Codec<Tensor>::decode(List{List{1}, 2}); }), Contains("depth 2"));
  CHECK_THAT(message([] { Codec<Tensor>::decode("x"); }), Contains("expected a tensor"));
  CHECK_THAT(message([] { Codec<Tensor>::decode(List{1, "x"}); }), Contains("expected a number"));

  const Variable variable(Tensor::scalar(2));
  const Value boxed = Codec<Variable>::encode(variable);
  CHECK(Codec<Variable>::decode(boxed) == variable);
  CHECK(Codec<Tensor>::decode(boxed).item() == 2);
  CHECK_FALSE(Codec<Variable>::decode(Codec<Variable>::encode({})));
  CHECK_THAT(message([] { Codec<Variable>::decode(1); }), Contains("expected a variable"));

  using Activations = std::vector<std::shared_ptr<Activation>>;
  const Activations both_activations =
      Codec<Activations>::decode(List{"relu", get<Activation>("tanh")});
  CHECK(both_activations[0]->class_name() == "relu");
  CHECK(Codec<Activations>::encode(both_activations).as_list().size() == 2);
  CHECK(Codec<Activations>::decode("relu").size() == 1);
}
