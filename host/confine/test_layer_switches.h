// Lets a test switch layers off by environment, so that it can show that each layer matters. Only in builds that define
// CELLBLOCK_TEST_LAYER_SWITCHES: elsewhere there is no trace of it (a test looks for its name in what is shipped).
#ifndef CELLBLOCK_CONFINE_TEST_LAYER_SWITCHES_H_
#define CELLBLOCK_CONFINE_TEST_LAYER_SWITCHES_H_

#include "cellblock/policy.h"

#ifdef CELLBLOCK_TEST_LAYER_SWITCHES
#include <cstdlib>
#include <cstring>
#endif

namespace cellblock::confine {

#ifdef CELLBLOCK_TEST_LAYER_SWITCHES
// CELLBLOCK_TEST_LAYERS_OFF="seccomp,rlimits": does the list hold this name? Names are those of the layers (seccomp, landlock,
// capabilities, no_new_privileges) and of single steps (rlimits, affinity, groups, not_dumpable, …).
inline bool IsLayerSwitchedOff(const char* layer) {
  const size_t length = std::strlen(layer);
  const char* at = std::getenv("CELLBLOCK_TEST_LAYERS_OFF");
  while (at != nullptr && *at != '\0') {
    if (std::strncmp(at, layer, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
    at = std::strchr(at, ',');
    if (at != nullptr) ++at;
  }
  return false;
}
inline Requirement Switched(const char* layer, Requirement asked) { return IsLayerSwitchedOff(layer) ? Requirement::kOff : asked; }
#else
constexpr bool IsLayerSwitchedOff(const char*) { return false; }
constexpr Requirement Switched(const char*, Requirement asked) { return asked; }
#endif

}  // namespace cellblock::confine

#endif  // CELLBLOCK_CONFINE_TEST_LAYER_SWITCHES_H_
