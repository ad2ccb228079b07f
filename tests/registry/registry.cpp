#include "crescent/registry/registry.h"

#include <catch2/catch.hpp>
#include <thread>

using namespace crescent;

namespace {

struct Animal : Plain {
  static constexpr const char* kKind = "test animal";
};

struct Cat final : Animal {
  static void describe(Schema<Cat>& s) {
    s.doc("Purrs.").field("lives", &Cat::lives, "Left.").min(0).max(9);
  }
  void configured() override {
    if (lives == 8) fail("a cat with 8 lives is a myth");
  }
  int64_t lives = 9;
};

struct BigDog final : Animal {
  static void describe(Schema<BigDog>& s) {
    s.field("friend", &BigDog::companion, "Who it plays with.")
        .field("enemy", &BigDog::enemy, "Whom it chases.");
  }
  Ref<Animal> companion = "cat";
  Ref<Animal> enemy;
};

struct Nobody final : Animal {
  static void describe(Schema<Nobody>& s) {
    s.field("friend", &Nobody::companion, "Not registered.");
  }
  Ref<Animal> companion = "unicorn";
};

struct Stone : Plain {
  static constexpr const char* kKind = "test stone";
  static void describe(Schema<Stone>&) {}
};

void register_animals() {
  static const bool is_registered = [] {
    registry().add<Cat>("Cat", {"kitten"});
    registry().add<BigDog>("BigDog");
    registry().add<Nobody>("Nobody");
    registry().add<Stone>("Stone");
    return true;
  }();
  (void)is_registered;
}

ClassInfo from_lua(std::string name) {
  ClassInfo info;
  info.kind = "test animal", info.name = std::move(name), info.origin = "Lua";
  return info;
}

}  // namespace

TEST_CASE("Objects are made by name, alias and spelling") {
  register_animals();
  for (const char* name : {"Cat", "cat", "kitten"}) CHECK(get<Animal>(name)->class_name() == "Cat");
  for (const char* name : {"BigDog", "big_dog", "bigdog"})
    CHECK(make<Animal>(name)->class_name() == "BigDog");
  CHECK(std::dynamic_pointer_cast<Cat>(make<Animal>("Cat", {{"lives", 3}}))->lives == 3);
  CHECK(get<Animal>(nullptr) == nullptr);
}

TEST_CASE("Objects are made from the configurations of every Keras") {
  register_animals();
  const char* rows[] = {
      R"({"class_name": "Cat", "config": {"lives": 3}})",
      R"({"module": "zoo", "class_name": "Cat", "config": {"lives": 3}, "registered_name": null})",
      R"({"module": null, "class_name": "Cat", "config": {"lives": 3},
         "registered_name": "acme>Cat"})",
      R"({"class_name": "acme>Cat", "config": {"lives": 3}})"};
  for (const char* row : rows)
    CHECK(std::dynamic_pointer_cast<Cat>(get<Animal>(parse_json(row)))->lives == 3);
  CHECK(get<Animal>(
            parse_json(R"({"module": "builtins", "class_name": "function", "config": "cat"})"))
            ->class_name() == "Cat");
  CHECK(get<Animal>(parse_json(R"({"class_name": "Cat"})"))->class_name() == "Cat");
}

TEST_CASE("An object goes through as it is; one of another kind does not") {
  register_animals();
  auto cat = make<Animal>("Cat");
  CHECK(get<Animal>(Value(cat)) == cat);
  CHECK_THROWS_WITH(get<Animal>(Value(make<Stone>("Stone"))),
                    "expected an object of kind test animal, got <Stone>");
  CHECK_THROWS_WITH(get<Animal>(Value(std::make_shared<Stone>())),
                    "expected an object of class Animal, got <Stone>");
  CHECK_THROWS_WITH(get<Cat>(Value(make<Animal>("BigDog"))),
                    "expected an object of class Cat, got <BigDog>");
}

TEST_CASE("What cannot be made says why") {
  register_animals();
  CHECK_THROWS_WITH(get<Animal>("Cta"), "unknown test animal 'Cta' (did you mean 'Cat'?)");
  CHECK_THROWS_WITH(get<Animal>("big_dgo"),
                    "unknown test animal 'big_dgo' (did you mean 'big_dog'?)");
  CHECK_THROWS_WITH(get<Animal>("kittn"), "unknown test animal 'kittn' (did you mean 'kitten'?)");
  CHECK_THROWS_WITH(get<Animal>("hippopotamus"), "unknown test animal 'hippopotamus'");
  CHECK_THROWS_WITH(get<Animal>(3),
                    "expected a name, configuration or object of kind test animal, got 3");
  CHECK_THROWS_WITH(get<Animal>(Dict{{"name", "Cat"}}),
                    "expected a test animal with a class_name, got {\"name\": \"Cat\"}");
  CHECK_THROWS_WITH(get<Animal>(Dict{{"class_name", "Cat"}, {"config", List{1}}}),
                    "expected a dictionary, got [1]");
  CHECK_THROWS_WITH(make<Animal>("Cat", {{"live", 3}}),
                    "Cat: no option 'live' (did you mean 'lives'?)");
  CHECK_THROWS_WITH(make<Animal>("Cat", {{"lives", 8}}), "Cat: a cat with 8 lives is a myth");
  CHECK_THROWS_WITH(make<Animal>("BigDog", {{"friend", "cta"}}),
                    "BigDog: option 'friend': unknown test animal 'cta' (did you mean 'cat'?)");
}

TEST_CASE("get_config makes an equal object") {
  register_animals();
  auto dog = make<Animal>(
      "BigDog", {{"friend", Dict{{"class_name", "Cat"}, {"config", Dict{{"lives", 2}}}}}});
  const Value config = serialize(dog.get());
  CHECK(to_json(config) ==
        R"({"class_name": "BigDog", "config": )"
        R"({"friend": {"class_name": "Cat", "config": {"lives": 2}}, "enemy": null}})");
  CHECK(serialize(get<Animal>(config).get()) == config);
  CHECK(serialize(nullptr).is_null());
  CHECK_THROWS_WITH(std::make_shared<Cat>()->get_config(),
                    "Cat: an object made outside the registry has no configuration");
}

TEST_CASE("Defaults of options are known without making what they name") {
  register_animals();
  const auto info = registry().get("test animal", "Nobody");
  CHECK(info->schema.find("friend")->default_value == Value("unicorn"));
  CHECK(registry().get("test animal", "BigDog")->schema.find("enemy")->default_value.is_null());
}

TEST_CASE("A name belongs to the first that took it") {
  register_animals();
  CHECK_THROWS_WITH(registry().add<Cat>("Cat"),
                    "test animal 'Cat' is there already, from the program");
  CHECK_THROWS_WITH(registry().add<Cat>("Tiger", {"kitten"}),
                    "test animal 'kitten' is there already, from the program");
  CHECK(registry().find("test animal", "Tiger") == nullptr);
  CHECK(registry().find("test stone", "Cat") == nullptr);
}

TEST_CASE("A class from Lua can be defined again, others cannot be replaced") {
  register_animals();
  registry().replace(from_lua("Fish"));
  const auto first = registry().find("test animal", "Fish");
  registry().replace(from_lua("Fish"));
  CHECK(registry().find("test animal", "Fish") != first);
  CHECK(registry().find("test animal", "fish") == registry().find("test animal", "Fish"));
  CHECK_THROWS_WITH(registry().replace(from_lua("Cat")),
                    "test animal 'Cat' is there already, from the program");
}

TEST_CASE("Names are listed in order") {
  register_animals();
  CHECK(registry().names("test stone") == std::vector<std::string>{"Stone"});
  const auto names = registry().all_names("test animal");
  CHECK(std::is_sorted(names.begin(), names.end()));
  CHECK(std::find(names.begin(), names.end(), "kitten") != names.end());
  CHECK(registry().names("nothing of this kind").empty());
}

TEST_CASE("The registry may be used from many threads") {
  register_animals();
  std::vector<std::thread> threads;
  std::atomic<int> made_count{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        if (get<Animal>("cat")) ++made_count;
        registry().replace(from_lua("Bird" + std::to_string(t)));
        registry().all_names("test animal");
        registry().find("test animal", "no such animal");
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(made_count == 800);
}
