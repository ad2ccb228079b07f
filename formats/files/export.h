// What the shared library `crescent_files` shows to formats; everything else in it is hidden.
#pragma once
#define CRESCENT_FILES_API __attribute__((visibility("default")))
