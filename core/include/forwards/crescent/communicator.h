#pragma once
#include "crescent/program/communicator.h"
