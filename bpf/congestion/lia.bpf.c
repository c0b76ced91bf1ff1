// SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0
// LIA, the linked increases of MPTCP (RFC 6356 sections 3 and 4): polypath-core's
// `congestion/lia.rs`. Loss and timeout are Reno's.

#include "coupling.h"

#define PP_NAME lia
#define PP_ON_ACK pp_linked_on_ack
#define PP_ON_LOSS(connection, flow, loss) pp_reno_on_loss(flow, loss)
#define PP_ON_TIMEOUT(connection, flow, loss) pp_reno_on_timeout(flow, loss)

#include "register.h"
