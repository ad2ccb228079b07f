// The text tables of a profile.
#pragma once
#include "crescent/model/model.h"

namespace crescent {

std::vector<std::string> profile_tables(const Model& model, const Profile& profile,
                                        const ProfileOptions& options);

}  // namespace crescent
