/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The persistent kernel (APUNet, NSDI'17, section 4.2): it takes chunks from
 * a mailbox in memory that host and device share, without launches.
 * A work-group is one work-item. They take the entries of a chunk one by one; the
 * first lane's entry does the work of all lanes of its packet.
 */
#include "inc_packet.cl"

DECLSPEC void process_letter(LOCAL_AS struct tables *tables, GLOBAL_AS struct ocl_letter *letter,
			     GLOBAL_AS const struct ocl_session *sessions,
			     LOCAL_AS struct part *part)
{
	GLOBAL_AS u8 *areas[OCL_AREAS];
	GLOBAL_AS u8 *chunk;
	u32 i;

	for (i = 0; i < OCL_AREAS; i++)
		areas[i] = (GLOBAL_AS u8 *)letter->areas[i];
	chunk = areas[OCL_AREA_CHUNK];
	for (i = atomic_inc(&letter->next); i < letter->items; i = atomic_inc(&letter->next)) {
		u32 entry = ((GLOBAL_AS const u32 *)(chunk + letter->order))[i];
		u32 record = OCL_ENTRY_RECORD(entry), result;

		if (entry != OCL_NO_RECORD && OCL_ENTRY_LANE(entry) == 0) {
			result = record_at(chunk, record)->result;
			((GLOBAL_AS u32 *)(chunk + letter->results))[result] =
				packet(tables, sessions, areas, record, part);
		}
		mem_fence(CLK_GLOBAL_MEM_FENCE);
		atomic_inc(&letter->done);
	}
	atomic_inc(&letter->left);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
crypto_opencl_persistent(__global struct ocl_mailbox *mailbox,
			 __global const struct ocl_session *sessions)
{
	__local struct tables tables;
	__local struct part part;
	u32 taken = 0;

	tables_fill(&tables, NEEDS_AES | NEEDS_DES, 0, 1);
	while (!atomic_or(&mailbox->stop, 0)) {
		if (atomic_or(&mailbox->posted, 0) == taken)
			continue;
		mem_fence(CLK_GLOBAL_MEM_FENCE);
		process_letter(&tables, &mailbox->letter[taken % OCL_LETTERS], sessions, &part);
		taken++;
	}
	packet_forget(&part);
	aes_forget(&tables.aes);
}
