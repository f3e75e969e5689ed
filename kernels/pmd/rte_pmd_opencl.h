/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file rte_pmd_opencl.h
 * The crypto_opencl driver's functions beyond the cryptodev API: pools of mbufs
 * whose packets the device reads and writes, so that no core copies them.
 *
 * On a device with fine-grained shared virtual memory their packets are
 * processed in place. To a discrete GPU the copy engine moves them as rows
 * of rectangles, at the bus's full speed if packets that are enqueued one after
 * another are consecutive in memory. So a pool allocates mbufs in the order of their addresses,
 * round and round, in whichever order they were freed, and has no cache. Give each lcore that
 * receives packets its own pool, and enqueue packets in the order of reception.
 * The pool identifies an mbuf by its buffer: do not free one with another buffer (rte_pktmbuf_attach()).
 *
 * For a discrete GPU each mbuf has two buffers, and an operation that succeeds moves its packet from one
 * to the other: buf_addr and buf_iova change, and with them the operation's pointer to a digest in
 * the buffer. An operation that fails has not changed its packet, also if the device failed.
 *
 * Any mbuf works with the driver; packets of other mempools are copied by the cores that
 * enqueue and dequeue.
 */
#ifndef RTE_PMD_OPENCL_H
#define RTE_PMD_OPENCL_H

#include <stdint.h>

#include <rte_mempool.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Create a pool of mbufs for a device.
 *
 * From enqueue to dequeue the whole buffer of an mbuf belongs to the driver: data that the application
 * writes to it meanwhile may be lost, and so may be the headroom and the tailroom. The AAD of
 * an operation may be there; packets that have it in their headroom do not bring their
 * heads (crypto_opencl(7), MEMORY). Only in-place operations profit. When an operation fails to
 * authenticate, its mbuf may hold the unauthenticated plaintext, as with DPDK's other drivers.
 *
 * A device that is given up may only be late: mbufs with one buffer that it still had are
 * dequeued with their operations (RTE_CRYPTO_OP_STATUS_ERROR), but never return to the pool,
 * because the device may still write to them.
 *
 * The driver must be started as a primary process's; the pool's buffers are in no
 * huge pages: a NIC can use them where IOVA are virtual addresses, after
 * rte_dev_dma_map(); where an mbuf has two, the second ones are behind all first ones.
 *
 * @param dev_id     of the crypto device
 * @param name	     of the mempool
 * @param n	     mbufs; optimum 2^q - 1
 * @param priv_size  application's private bytes in each mbuf, a multiple of
 *		     RTE_MBUF_PRIV_ALIGN
 * @param data_room_size  bytes, RTE_PKTMBUF_HEADROOM included; at most 65,280
 * @param socket_id  of the mbufs; the buffers are where OpenCL puts them
 * @return the pool, or NULL with rte_errno: ENODEV (not a device of this driver),
 *	   EINVAL (too large: 4 GiB are the limit), ENOSPC (16 pools of the device
 *	   exist), EIO (OpenCL failed; logged), or what
 *	   rte_pktmbuf_pool_create_extbuf() says
 * @note From a control thread, one at a time, while queue pairs may run.
 */
__attribute__((visibility("default"))) struct rte_mempool *
rte_pmd_opencl_pktmbuf_pool_create(uint8_t dev_id, const char *name, unsigned int n,
				   uint16_t priv_size, uint16_t data_room_size, int socket_id);

/**
 * Free such a pool and its buffers. None of its mbufs may be in use. Pools that are not
 * freed are freed with the device.
 * @return 0; -ENODEV, -ENOENT if the pool is not one of the device, or -EBUSY if mbufs
 *	   are in use, unless the device was given up
 */
__attribute__((visibility("default"))) int
rte_pmd_opencl_pktmbuf_pool_free(uint8_t dev_id, struct rte_mempool *pool);

/**
 * Whether packets in the device's pools are unchanged when their operations come back with
 * RTE_CRYPTO_OP_STATUS_ERROR, so that another device may process them: with discrete GPUs they are.
 * Packets of other mempools always are.
 * @return 1, 0, or -ENODEV: not a device of this driver
 */
__attribute__((visibility("default"))) int rte_pmd_opencl_keeps_packets(uint8_t dev_id);

#ifdef __cplusplus
}
#endif

#endif
