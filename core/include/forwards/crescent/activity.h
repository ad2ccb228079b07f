#pragma once
#include "crescent/program/activity.h"
