/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel. Work-item i processes the record, or the lane of a record, that entry i of the order
 * table names, if any; the host groups packets of like label and length. Arguments of a launch with
 * records: the chunk, the offsets of its order table and results, the sessions, no head rows, and the pools.
 * Of a launch with heads: the first argument is the packets' pool, the fifth says where in it the heads
 * are, and work-items take the packets in that order.
 */
#include "inc_packet.cl"

/* The head of a packet by its number; NULL behind the last one. rows: struct ocl_head_rows */
DECLSPEC GLOBAL_AS struct ocl_head *find_head(GLOBAL_AS u8 *pool, const uint8 rows, u32 packet)
{
	if (packet >= rows.s2 + rows.s3)
		return 0;
	if (packet < rows.s2)
		return (GLOBAL_AS struct ocl_head *)(pool + (u32)(rows.s0 + packet * rows.s4));
	return (GLOBAL_AS struct ocl_head *)(pool + (u32)(rows.s1 + (packet - rows.s2) * rows.s4));
}

__kernel __attribute__((reqd_work_group_size(OCL_WORK_GROUP, 1, 1))) void
crypto_opencl(__global u8 *chunk, const u32 order, const u32 results,
	      __global const struct ocl_session *sessions, const uint8 rows, __global u8 *p0,
	      __global u8 *p1, __global u8 *p2, __global u8 *p3, __global u8 *p4, __global u8 *p5,
	      __global u8 *p6, __global u8 *p7, __global u8 *p8, __global u8 *p9, __global u8 *p10,
	      __global u8 *p11, __global u8 *p12, __global u8 *p13, __global u8 *p14,
	      __global u8 *p15)
{
	__global u8 *const areas[OCL_AREAS] = {chunk, p0, p1,  p2,  p3,	 p4,  p5,  p6, p7,
					       p8,    p9, p10, p11, p12, p13, p14, p15};
	__local struct tables tables;
	__local struct part parts[OCL_WORK_GROUP];
	__local u32 needs;
	const u32 id = get_global_id(0), local_id = get_local_id(0);
	__global struct ocl_head *head = 0;
	u32 entry = OCL_NO_RECORD;
	struct packet p;
	bool any;
	/* volatile: PoCL 6 takes the counter of a loop with a barrier for one of the whole group, and
	 * then has work-items skip a step. */
	volatile u32 step;

	if (local_id == 0)
		needs = 0;
	barrier(CLK_LOCAL_MEM_FENCE);
	if (rows.s2)
		head = find_head(chunk, rows, id / rows.s5);
	else
		entry = ((__global const u32 *)(chunk + order))[id];
	any = head || entry != OCL_NO_RECORD;
	if (head)
		packet_find_head(&p, sessions, head, id % rows.s5, rows.s5);
	else if (any)
		packet_find(&p, sessions, areas, entry);
	if (any)
		atomic_or(&needs, tables_needed(p.s->label));
	barrier(CLK_LOCAL_MEM_FENCE);
	tables_fill(&tables, needs, local_id, OCL_WORK_GROUP);
	for (step = 0; step < PACKET_STEPS; step++) {
		barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
		if (any)
			packet_step(&tables, &p, step, parts + local_id - p.lane);
	}
	if (head && p.lane == 0)
		head->status = (u8)parts[local_id].w[0];
	else if (any && p.lane == 0)
		((__global u32 *)(chunk +
				  results))[record_at(chunk, entry)->result] = parts[local_id].w[0];
	packet_forget(&parts[local_id]);
	aes_forget(&tables.aes);
}
