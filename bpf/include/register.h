/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0 */
/* The end of each algorithm's file: in user space a program that tests run. */
#include "congestion.h"
#include "replay.h"
