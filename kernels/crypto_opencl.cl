/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one kernel. Work-item i processes the record that the order table names
 * i-th, if any, or a lane of it; the host puts packets of like label and length
 * into one work-group. Arguments: the chunk, its order table's offset in it, that of the
 * results, the sessions, and the pools.
 */
#include "inc_packet.cl"

__kernel __attribute__((reqd_work_group_size(OCL_WORK_GROUP, 1, 1)))
void crypto_opencl(__global u8 *chunk, const u32 order, const u32 results,
		   __global const struct ocl_session *sessions,
		   __global u8 *p0, __global u8 *p1, __global u8 *p2, __global u8 *p3,
		   __global u8 *p4, __global u8 *p5, __global u8 *p6, __global u8 *p7,
		   __global u8 *p8, __global u8 *p9, __global u8 *p10, __global u8 *p11,
		   __global u8 *p12, __global u8 *p13, __global u8 *p14, __global u8 *p15)
{
	__global u8 *const areas[OCL_AREAS] = {chunk, p0, p1, p2,  p3,	p4,  p5,  p6, p7,
					       p8,    p9, p10, p11, p12, p13, p14, p15};
	__local struct tables tables;
	__local struct part parts[OCL_WORK_GROUP];
	__local u32 needs;
	const u32 entry = ((__global const u32 *)(chunk + order))[get_global_id(0)];
	const u32 local_id = get_local_id(0);
	struct packet p;
	u32 step;

	if (local_id == 0)
		needs = 0;
	barrier(CLK_LOCAL_MEM_FENCE);
	if (entry != OCL_NO_RECORD) {
		packet_find(&p, sessions, areas, entry);
		atomic_or(&needs, tables_needed(p.s->label));
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	tables_fill(&tables, needs, local_id, OCL_WORK_GROUP);
	for (step = 0; step < PACKET_STEPS; step++) {
		barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
		if (entry != OCL_NO_RECORD)
			packet_step(&tables, &p, step, parts + local_id - p.lane);
	}
	if (entry != OCL_NO_RECORD && p.lane == 0)
		((__global u32 *)(chunk + results))[p.r->result] = parts[local_id].w[0];
	packet_forget(&parts[local_id]);
	aes_forget(&tables.aes);
}
