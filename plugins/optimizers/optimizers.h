// The files of this plugin; each adds its classes.
#pragma once
#include "crescent/layer/training.h"

namespace crescent {
void add_layer_wise(Registry& registry);
void add_nadam(Registry& registry);
void add_ftrl(Registry& registry);
void add_muon(Registry& registry);
void add_schedule_free(Registry& registry);
void add_loss_scale(Registry& registry);
void add_multi(Registry& registry);
void add_schedules(Registry& registry);
}  // namespace crescent
