#pragma once
#include "crescent/program/shard_ops.h"
