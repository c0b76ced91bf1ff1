/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0 */
/*
 * An algorithm as a program in user space, for the differential tests of polypath-kernel:
 *
 *	PROGRAM SLOW_START COUPLED < events > results
 *
 * SLOW_START is a number of enum pp_slow_start_kind; COUPLED 0 gives each subflow a connection of
 * its own. Events and results are `struct replay_event` and `struct replay_result` of the machine.
 */
#ifndef PP_REPLAY_H
#define PP_REPLAY_H

#include <stdio.h>
#include <stdlib.h>

enum replay_kind {
	REPLAY_JOIN,
	REPLAY_LEAVE,
	REPLAY_SENT,
	REPLAY_ACK,
	REPLAY_LOSS,
	REPLAY_TIMEOUT,
	REPLAY_SPURIOUS_LOSS,
	REPLAY_IDLE_RESTART,
	REPLAY_USABLE,
	REPLAY_MSS,
};

enum replay_flag {
	REPLAY_CWND_LIMITED = 1,
	REPLAY_ROUND_START = 2,
	REPLAY_RECOVERED = 4,
	/* The subflow is usable; the timer expired before as well. */
	REPLAY_YES = 8,
};

struct replay_event {
	u32 kind;
	u32 flow;
	u32 flags;
	u32 mss;
	u64 now_ns;
	/* Bytes sent, bytes acknowledged; the initial window. */
	u64 bytes;
	u64 rtt_ns;
	u64 srtt_ns;
	u64 min_rtt_ns;
	/* Bytes in flight after the event, and before the loss. */
	u64 in_flight;
	u64 prior_in_flight;
};

struct replay_result {
	u64 window;
	u64 threshold;
};

static void replay_ack(struct pp_connection *connection, struct pp_flow *flow,
		       const struct replay_event *event)
{
	struct pp_ack ack = {
		.now_ns = event->now_ns,
		.acked = event->bytes,
		.rtt_ns = event->rtt_ns,
		.srtt_ns = event->srtt_ns,
		.min_rtt_ns = event->min_rtt_ns,
		.in_flight = event->in_flight,
		.cwnd_limited = event->flags & REPLAY_CWND_LIMITED,
		.round_start = event->flags & REPLAY_ROUND_START,
		.recovered = event->flags & REPLAY_RECOVERED,
	};

	pp_on_ack(connection, flow, &ack);
}

static void replay(struct pp_connection *connection, struct pp_flow *flow,
		   const struct replay_event *event)
{
	struct pp_loss loss = { .now_ns = event->now_ns, .in_flight = event->prior_in_flight };

	switch (event->kind) {
	case REPLAY_JOIN:
		pp_on_join(flow, event->mss, event->bytes);
		break;
	case REPLAY_LEAVE:
		pp_on_leave(connection, flow);
		break;
	case REPLAY_SENT:
		pp_on_sent(flow, event->bytes, event->in_flight);
		break;
	case REPLAY_ACK:
		replay_ack(connection, flow, event);
		break;
	case REPLAY_LOSS:
		pp_on_loss(connection, flow, &loss);
		break;
	case REPLAY_TIMEOUT:
		pp_on_timeout(connection, flow, &loss, event->flags & REPLAY_YES);
		break;
	case REPLAY_SPURIOUS_LOSS:
		pp_on_spurious_loss(flow);
		break;
	case REPLAY_IDLE_RESTART:
		pp_on_idle_restart(flow);
		break;
	case REPLAY_USABLE:
		flow->usable = event->flags & REPLAY_YES;
		break;
	case REPLAY_MSS:
		pp_on_mss(flow, event->mss, event->bytes);
		break;
	}
	flow->in_flight = event->in_flight;
}

int main(int arguments, char **argument)
{
	static struct pp_connection connections[PP_FLOWS];
	struct replay_event event;

	if (arguments != 3)
		return 2;
	for (u32 i = 0; i < PP_FLOWS; i++)
		connections[i].slow_start = (u32)atoi(argument[1]);
	while (fread(&event, sizeof(event), 1, stdin) == 1) {
		u32 at = event.flow % PP_FLOWS;
		struct pp_connection *connection = &connections[atoi(argument[2]) ? 0 : at];
		struct pp_flow *flow = &connection->flows[at];
		struct replay_result result;

		replay(connection, flow, &event);
		result = (struct replay_result){ flow->window, flow->threshold };
		if (fwrite(&result, sizeof(result), 1, stdout) != 1)
			return 1;
	}
	return fflush(stdout) ? 1 : 0;
}

#endif
