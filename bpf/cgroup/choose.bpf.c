// SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0
// Gives TCP sockets of a cgroup a congestion control: TCP connections, and each subflow of Multipath
// TCP, when they connect or are accepted.

#include "kernel_types.h"

#define IPPROTO_TCP 6
#define TCP_CONGESTION 13
#define PP_NAME_SIZE 16

/* enum of linux/bpf.h */
enum { BPF_SOCK_OPS_TCP_CONNECT_CB = 3, BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB = 5 };

struct bpf_sock_ops {
	u32 op;
};

static long (*const bpf_setsockopt)(void *context, int level, int option, const void *value,
				    int size) = (void *)49;

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* Written by the loader. */
const volatile char pp_chosen[PP_NAME_SIZE] = {};

SEC("sockops")
int pp_choose(struct bpf_sock_ops *context)
{
	u32 op = context->op;

	/* A socket keeps what it has where the name is not known any more. */
	if (op == BPF_SOCK_OPS_TCP_CONNECT_CB || op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB)
		bpf_setsockopt(context, IPPROTO_TCP, TCP_CONGESTION, (const void *)pp_chosen,
			       PP_NAME_SIZE);
	return 1;
}
