// `cellblock doctor`: which layers this machine gives, whether a policy can be kept here, and what to do where not. Supervisor.
#ifndef CELLBLOCK_APP_DOCTOR_COMMAND_H_
#define CELLBLOCK_APP_DOCTOR_COMMAND_H_

#include <string>
#include <vector>

#include "app/context.h"
#include "cellblock/host.h"
#include "cellblock/policy.h"

namespace cellblock::app {

struct DoctorOptions {
  std::string policy = "default";
  std::string python_environment;
  bool json = false;
  bool bench = false;   // measures sessions under the policy
  bool strict = false;  // starts a session under the policy and asks it, instead of trusting the look at each layer
};

// 0 when the policy can be kept on this machine, 4 when not, 2 when the policy cannot be read.
int DoctorCommand(const DoctorOptions& options, const Context& context);

// A layer that the policy requires and the machine does not give.
struct MissingLayer {
  std::string key;  // the policy's: "isolation.seccomp"
  std::string reason;
  std::string advice;
};
std::vector<MissingLayer> FindMissingLayers(const Policy& policy, const std::vector<LayerReport>& reports);

}  // namespace cellblock::app

#endif  // CELLBLOCK_APP_DOCTOR_COMMAND_H_
