/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file args.h
 * Arguments of the virtual device: crypto_opencl0,device=h200,chunk=1024
 */
#ifndef OCL_ARGS_H
#define OCL_ARGS_H

#include <stdint.h>

#define OCL_PARAM_STRING \
	"device=<index or part of a name> memory=auto|svm|persistent|staged " \
	"chunk=<operations> bins=<int> lanes=<int> " \
	"granularity=<bytes> sched=auto|none|algorithm|length|all tables=auto|banks|one " \
	"launches=lcore|thread|auto wait_us=<int> busy_wait_us=<int> under_way=<KiB> " \
	"timeout_ms=<int> max_sessions=<int> max_nb_queue_pairs=<int> socket_id=<int>"

struct ocl_args {
	char device[64];   /* "" for the first GPU, else the first device */
	char memory[16];   /* memory path: see memory.h */
	char sched[16];	   /* level: see scheduler.h */
	char launches[16]; /* the thread that calls OpenCL: see launcher.h */
	char tables[16];   /* of AES, in local memory: one, or a copy for each bank */
	uint32_t chunk;	   /* operations of a launch, at most; 0: by the kind of device */
	uint32_t bins;	   /* of a launch; 0: of 32 packets each */
	uint32_t lanes;	   /* work-items that share a packet, at most; 0: by the kind of device */
	uint32_t granularity;  /* size of a range of lengths, bytes */
	uint32_t wait_us;      /* until a part-filled chunk is launched */
	uint32_t busy_wait_us; /* the same, with another chunk under way */
	uint32_t under_way;  /* KiB of a queue pair's packets, at most; 0: by the kind of device */
	uint32_t timeout_ms; /* until a device that does not answer is given up */
	uint32_t max_sessions;
	uint32_t max_queue_pairs;
	uint32_t socket_id;
};

/**
 * Set the defaults, then the arguments of the string.
 * @param text  may be NULL
 * @return 0, or -EINVAL after a log line that names key and value
 */
int ocl_args_parse(struct ocl_args *args, const char *text);

#endif
