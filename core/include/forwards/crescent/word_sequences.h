#pragma once
#include "crescent/data/word_sequences.h"
