// Changing the current device: programs are compiled again, variables move to its memory, and
// tensors are copied.
#include "support.h"

namespace crescent::test {
namespace {

/// The name of a device other than the one under test.
std::string other_device() { return device_under_test() == "cpu" ? "far" : "cpu"; }

}  // namespace

TEST_CASE("switching: the device in use is the one that was asked for") {
  CHECK(device().class_name() == device_under_test());
  {
    const DeviceScope device_scope(other_device());
    CHECK(device().class_name() == other_device());
  }
  CHECK(device().class_name() == device_under_test());
  CHECK(&set_device(device_under_test()) == &device());
}

TEST_CASE("switching: names and options are checked") {
  CHECK_THROWS_WITH(set_device("cpp"), Catch::Contains("did you mean 'cpu'?"));
  CHECK_THROWS_WITH(set_device("no_such_device"), Catch::Contains("no_such_device"));
  CHECK_THROWS_WITH(set_device("cpu", {{"thread", 1}}), Catch::Contains("did you mean 'threads'?"));
  CHECK_THROWS_WITH(set_device("cpu", {{"threads", -2}}), Catch::Contains("threads"));
  CHECK_THROWS_WITH(set_device("cpu", {{"threads", "many"}}), Catch::Contains("threads"));
  CHECK(device().class_name() == device_under_test());
}

TEST_CASE("switching: options stay until they are changed") {
  const DeviceScope cpu("cpu");
  const Dict config_before = device().get_config();
  set_device("cpu", {{"threads", 1}});
  CHECK(device().information().at("threads").as_int() == 1);
  set_device("cpu", {{"deterministic", true}});
  CHECK(device().information().at("threads").as_int() == 1);
  CHECK_THROWS_AS(set_device("cpu", {{"deterministic", false}, {"threads", -1}}), Error);
  CHECK(device().get_config().at("deterministic").as_bool());
  set_device("cpu", config_before);
}

TEST_CASE("switching: a compiled function follows, and comes back") {
  const Variable v(consecutive_numbers({3}));
  const Function f([&](const Tensors& in) {
    v.assign_add(in[0]);
    return Tensors{ops::sum(v.value() * in[1])};
  });
  const Tensor x = on_device(consecutive_numbers({3}));
  CHECK(f({Tensor(1.0), x})[0].item() == 8);
  {
    const DeviceScope device_scope(other_device());
    CHECK(f({Tensor(1.0), x})[0].item() == 11);
    CHECK(v.value().storage()->memory() == device().memory());
  }
  CHECK(f({Tensor(1.0), x})[0].item() == 14);
  CHECK(v.value().storage()->memory() == device().memory());
  CHECK(v.value().to_vector() == std::vector<double>{3, 4, 5});
}

TEST_CASE("switching: tensors of one device are used on the other") {
  const Tensor own_tensor = ops::square(consecutive_numbers({4}));
  const Tensor other_tensor = [] {
    const DeviceScope device_scope(other_device());
    return ops::square(consecutive_numbers({4}, 1));
  }();
  CHECK((own_tensor + other_tensor).to_vector() == std::vector<double>{1, 5, 13, 25});
  const DeviceScope device_scope(other_device());
  CHECK((own_tensor + other_tensor).to_vector() == std::vector<double>{1, 5, 13, 25});
  CHECK(ops::sum(own_tensor.view_rows(2, 2)).item() == 13);
}

TEST_CASE("switching: results that are held outlive the device's time") {
  Tensor held_tensor;
  {
    const DeviceScope device_scope(other_device());
    held_tensor = ops::exp(Tensor(0.0));
  }
  CHECK(held_tensor.item() == 1);
  CHECK(to_text(held_tensor) == to_text(Tensor(1.0)));
}

TEST_CASE("switching: a model trains on where it was") {
  auto trained_weights = [](bool is_switching) {
    set_random_seed(5);
    auto model = std::make_shared<Sequential>();
    model->add(make<Layer>("Dense", {{"units", 6}, {"activation", "tanh"}}));
    model->add(make<Layer>("Dense", {{"units", 1}}));
    model->compile({{"optimizer", "adam"}, {"loss", "mse"}});
    const Tensor x = numbers({24, 4}, 1), y = numbers({24, 1}, 2);
    const Dict options{{"batch_size", 8}, {"shuffle", false}, {"verbose", 0}};
    model->fit({x}, {y}, options);
    {
      const DeviceScope device_scope(is_switching ? other_device() : device_under_test());
      model->fit({x}, {y}, options);
    }
    model->fit({x}, {y}, options);
    return model->predict({x}, {})[0];
  };
  CHECK(difference(trained_weights(true), trained_weights(false)) < 1e-5);
}

}  // namespace crescent::test
