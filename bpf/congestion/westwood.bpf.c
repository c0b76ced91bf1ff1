// SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0
// Westwood with a fixed pole (Mascolo et al., Mobicom 2001, section 2):
// polypath-core's `congestion/westwood.rs`.

#include "westwood.h"

#define PP_NAME westwood
#define PP_ON_ACK(connection, flow, ack) pp_reno_on_ack(flow, ack)
#define PP_ON_LOSS(connection, flow, loss) pp_westwood_on_loss(PP_FIXED_POLE, flow, loss)
#define PP_ON_TIMEOUT(connection, flow, loss) pp_westwood_on_timeout(PP_FIXED_POLE, flow, loss)
#define PP_ON_DELIVERY(flow, ack) \
	pp_filter_on_ack(PP_FIXED_POLE, &(flow)->own, (ack)->now_ns, (ack)->acked)

#include "register.h"
