/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one kernel. Work-item i processes the record that the order table names
 * i-th; the host puts packets of like label and length into one work-group.
 */
#include "inc_packet.cl"

__kernel __attribute__((reqd_work_group_size(OCL_WORK_GROUP, 1, 1)))
void crypto_opencl(__global u8 *chunk, const u32 order, const u32 count,
		   __global const struct ocl_session *sessions)
{
	__local struct aes_tables tables;
	const u32 gid = get_global_id(0);

	aes_tables_fill(&tables, get_local_id(0), OCL_WORK_GROUP);
	barrier(CLK_LOCAL_MEM_FENCE);
	if (gid >= count)
		return;
	packet(&tables, sessions, chunk + ((__global const u32 *)(chunk + order))[gid]);
}
