/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0 */
/* The end of each algorithm's file: its callbacks in the kernel, or a program that tests run. */
#include "congestion.h"
#ifdef __bpf__
#include "kernel.h"
#else
#include "replay.h"
#endif
