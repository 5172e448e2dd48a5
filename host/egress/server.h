// The egress proxy's main loop: sessions come and go by messages from the supervisor, on one socket, answered in order; the process ends
// with it. cellblock-egress, after it has locked itself down. Trusts the supervisor.
#ifndef CELLBLOCK_EGRESS_SERVER_H_
#define CELLBLOCK_EGRESS_SERVER_H_

#include "base/unique_fd.h"

namespace cellblock::egress {

// Returns when the supervisor has gone.
void Serve(UniqueFd control);

}  // namespace cellblock::egress

#endif  // CELLBLOCK_EGRESS_SERVER_H_
