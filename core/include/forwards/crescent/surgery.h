#pragma once
#include "crescent/model/surgery.h"
