/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file rte_pmd_opencl.h
 * What the crypto_opencl driver offers beyond the cryptodev API: pools of mbufs
 * that a device reaches without a core copying the packets.
 *
 * On a device with fine-grained shared virtual memory their packets are
 * processed where they are. To a discrete GPU the copy engine moves them as rows
 * of rectangles, at the bus's full speed when packets that are enqueued one after
 * another lie one after another. So a pool hands out mbufs by their place in that memory,
 * round and round, in whichever order they were freed, and has no cache; give each lcore that
 * receives packets a pool of its own, and enqueue packets in the order in which they came.
 * By its buffer a pool knows an mbuf: free none with another one's (rte_pktmbuf_attach()).
 *
 * There each mbuf has two buffers, and an operation that succeeds moves its packet from the one
 * to the other: buf_addr and buf_iova change, and with them the operation's pointer to a digest in
 * the buffer. So an operation that fails has not touched its packet, whatever became of the device.
 *
 * Any mbuf works with the driver; those of other pools are copied by the core that
 * enqueues and dequeues.
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
 * From enqueue to dequeue the whole buffer of an mbuf belongs to the driver: what
 * somebody else writes into it meanwhile may be lost, and so may be what is in it in front of
 * the packet and behind it. An operation's own AAD may be there; packets that have it in front
 * of them do not bring their heads (crypto_opencl(7), MEMORY). In-place operations only profit. When an operation fails to
 * authenticate, its mbuf may hold the unauthenticated plaintext, as with DPDK's other drivers.
 *
 * A device that is given up may only be late: mbufs with one buffer that it still had come
 * back with their operations (RTE_CRYPTO_OP_STATUS_ERROR), but never return to the pool,
 * for nobody knows when it writes to them last.
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
__attribute__((visibility("default")))
struct rte_mempool *rte_pmd_opencl_pktmbuf_pool_create(uint8_t dev_id, const char *name,
						       unsigned int n, uint16_t priv_size,
						       uint16_t data_room_size, int socket_id);

/**
 * Free such a pool and its buffers, none of whose mbufs is in use. What is not
 * freed goes with the device.
 * @return 0; -ENODEV, -ENOENT if the pool is not one of the device, or -EBUSY if mbufs
 *	   are in use, unless the device was given up
 */
__attribute__((visibility("default")))
int rte_pmd_opencl_pktmbuf_pool_free(uint8_t dev_id, struct rte_mempool *pool);

/**
 * Whether packets in the device's pools are as they were when their operations come back with
 * RTE_CRYPTO_OP_STATUS_ERROR, so that somebody else may do them: those of discrete GPUs are.
 * Packets in any other memory always are.
 * @return 1, 0, or -ENODEV: not a device of this driver
 */
__attribute__((visibility("default")))
int rte_pmd_opencl_keeps_packets(uint8_t dev_id);

#ifdef __cplusplus
}
#endif

#endif
