// A connection to an allowed host and port whose first bytes tell what it is: TLS, which is passed on when it asks for that very host or
// ends here when a rule needs to see requests; HTTP; or anything else, where the rules let it. Egress proxy; both sides are hostile.
#ifndef CELLBLOCK_EGRESS_TUNNEL_H_
#define CELLBLOCK_EGRESS_TUNNEL_H_

#include "egress/exchange.h"
#include "egress/session.h"
#include "egress/stream.h"
#include "egress/upstream.h"

namespace cellblock::egress {

// Serves the connection to its end. That it may be made was decided before (RuleSet::ForConnection).
Task<void> ServeTarget(Session& session, Upstream& upstream, Stream& client, Target target);

}  // namespace cellblock::egress

#endif  // CELLBLOCK_EGRESS_TUNNEL_H_
