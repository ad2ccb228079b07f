// The initializer, regularizer and constraint that a user chooses for a weight.
#pragma once
#include "crescent/registry/registry.h"
#include "crescent/tensor/tensor.h"

namespace crescent {

/// Makes the initial value of a weight: a tensor of this shape and dtype.
class CRESCENT_API Initializer : public Plain {
 public:
  static constexpr const char* kKind = "initializer";
  static constexpr const char* kNullOption = "glorot_uniform";  ///< the default of add_weight
  ~Initializer() override;
  virtual Tensor operator()(const Shape& shape, DType dtype) const = 0;
};

/// A penalty on a weight, which is added to the loss.
class CRESCENT_API Regularizer : public Plain {
 public:
  static constexpr const char* kKind = "regularizer";
  ~Regularizer() override;
  virtual Tensor operator()(const Tensor& weight) const = 0;  ///< returns a scalar
};

/// A projection, which is applied to the new value of a variable after each update.
class CRESCENT_API Constraint : public Plain {
 public:
  static constexpr const char* kKind = "constraint";
  ~Constraint() override;
  virtual Tensor operator()(const Tensor& weight) const = 0;
};

/// The initializer, regularizer and constraint that users choose for one weight, as a member of a
/// layer: `WeightRules kernel_options_{"glorot_uniform"};` The layer's schema declares all three
/// with weight_options({{"kernel", &Dense::kernel_options_}}).
struct CRESCENT_API WeightRules {
  explicit WeightRules(const char* initializer);
  WeightRules(const WeightRules&);
  WeightRules& operator=(const WeightRules&);
  ~WeightRules();
  Ref<Initializer> initializer;
  Ref<Regularizer> regularizer;
  Ref<Constraint> constraint;

  // Schema calls these functions. `offset` is the offset in bytes of the WeightRules within the
  // described class; `object` is an instance of the class whose members have their initial values.
  static void describe_initializer(SchemaBuilder& schema, const char* name, const char* description,
                                   std::ptrdiff_t offset, const void* object);
  static void describe_regularizer(SchemaBuilder& schema, const char* name, const char* description,
                                   std::ptrdiff_t offset, const void* object);
  static void describe_constraint(SchemaBuilder& schema, const char* name, const char* description,
                                  std::ptrdiff_t offset, const void* object);
};

}  // namespace crescent
