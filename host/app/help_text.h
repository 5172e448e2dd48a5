// What `cellblock --help` and `cellblock COMMAND --help` say. Supervisor.
#ifndef CELLBLOCK_APP_HELP_TEXT_H_
#define CELLBLOCK_APP_HELP_TEXT_H_

namespace cellblock::app {

extern const char kMainHelp[];
extern const char kRunHelp[];
extern const char kReplHelp[];
extern const char kServeHelp[];
extern const char kPolicyHelp[];
extern const char kDoctorHelp[];

}  // namespace cellblock::app

#endif  // CELLBLOCK_APP_HELP_TEXT_H_
