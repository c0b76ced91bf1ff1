// SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0
// Westwood with the bilinear filter of its paper (Mascolo et al., Mobicom 2001, sections 2.1, 2.2):
// polypath-core's `congestion/tustin.rs`.

#include "westwood.h"

#define PP_NAME tustin
#define PP_ON_ACK(connection, flow, ack) pp_reno_on_ack(flow, ack)
#define PP_ON_LOSS(connection, flow, loss) pp_westwood_on_loss(PP_TUSTIN, flow, loss)
#define PP_ON_TIMEOUT(connection, flow, loss) pp_westwood_on_timeout(PP_TUSTIN, flow, loss)
#define PP_ON_DELIVERY(flow, ack) \
	pp_filter_on_ack(PP_TUSTIN, &(flow)->own, (ack)->now_ns, (ack)->acked)

#include "register.h"
