// Declares the options of a weight: kernel_initializer, kernel_regularizer, kernel_constraint.
#include "crescent/layer/weight_rules.h"
#include "registry/core_classes.h"

namespace crescent {
namespace {

/// The text by which help texts refer to the weight: `description`, or "the" and the name of the
/// weight.
std::string weight_phrase(const char* name, const char* description) {
  return description ? description : concat("the ", name);
}

template <class Member>
std::ptrdiff_t offset_of_member(Member WeightRules::*member) {
  static const WeightRules sample_rules("zeros");
  return reinterpret_cast<const char*>(&(sample_rules.*member)) -
         reinterpret_cast<const char*>(&sample_rules);
}

}  // namespace

std::shared_ptr<Configurable> tensor_as_initializer(const Value& value) {
  if (!value.object_as<BoxedTensor>()) return nullptr;
  return make_object(Initializer::kKind, "Constant", {{"value", value}});
}

WeightRules::WeightRules(const char* initializer) : initializer(initializer) {}
WeightRules::WeightRules(const WeightRules&) = default;
WeightRules& WeightRules::operator=(const WeightRules&) = default;
WeightRules::~WeightRules() = default;

void WeightRules::describe_initializer(SchemaBuilder& schema, const char* name,
                                       const char* description, std::ptrdiff_t offset,
                                       const void* object) {
  schema.add(concat(name, "_initializer"),
             concat("Initializer of ", weight_phrase(name, description), "."),
             MemberType::of<Ref<Initializer>>(),
             offset + offset_of_member(&WeightRules::initializer), object);
}

void WeightRules::describe_regularizer(SchemaBuilder& schema, const char* name,
                                       const char* description, std::ptrdiff_t offset,
                                       const void* object) {
  schema.add(concat(name, "_regularizer"),
             concat("Penalty on ", weight_phrase(name, description), "."),
             MemberType::of<Ref<Regularizer>>(),
             offset + offset_of_member(&WeightRules::regularizer), object);
}

void WeightRules::describe_constraint(SchemaBuilder& schema, const char* name,
                                      const char* description, std::ptrdiff_t offset,
                                      const void* object) {
  schema.add(concat(name, "_constraint"),
             concat("Constraint of ", weight_phrase(name, description), "."),
             MemberType::of<Ref<Constraint>>(), offset + offset_of_member(&WeightRules::constraint),
             object);
}

}  // namespace crescent
