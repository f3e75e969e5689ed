/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <limits.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <sys/time.h>

#include "host/ingress.h"
#include "host/netlink_receive.h"

#define BATCH	 1024 /* bytes of a transaction */
#define ANSWER_S 2
#define FIRST	 ((uint32_t)INT32_MIN) /* priority: before the chains of others */

/* Opened by the first chain. The table belongs to it. */
static struct mnl_socket *owner;

/* Of the table and of one chain of it. */
struct names {
	char table[32], chain[IFNAMSIZ + 16];
};

static int open_owner(void)
{
	const struct timeval wait = {.tv_sec = ANSWER_S};
	int err;

	if (owner)
		return 0;
	owner = mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC);
	if (!owner)
		return -errno;
	if (mnl_socket_bind(owner, 0, MNL_SOCKET_AUTOPID) == 0 &&
	    setsockopt(mnl_socket_get_fd(owner), SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) == 0)
		return 0;
	err = -errno;
	mnl_socket_close(owner);
	owner = NULL;
	return err;
}

/* The socket's port is unique in the network namespace, other than a process ID. An interface that is made
 * anew has a chain of another name. */
static struct names names_of(const char *iface, uint32_t ifindex)
{
	struct names names;

	snprintf(names.table, sizeof(names.table), "cygnetd-%u", mnl_socket_get_portid(owner));
	snprintf(names.chain, sizeof(names.chain), "%s-%u", iface, ifindex);
	return names;
}

static struct nlmsghdr *put_message(struct mnl_nlmsg_batch *batch, uint16_t type, uint16_t flags,
				    uint8_t family, uint16_t resource)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(mnl_nlmsg_batch_current(batch));
	struct nfgenmsg *body;

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	body = mnl_nlmsg_put_extra_header(nlh, sizeof(*body));
	body->nfgen_family = family;
	body->version = NFNETLINK_V0;
	body->res_id = htons(resource);
	return nlh;
}

static void put_limit(struct mnl_nlmsg_batch *batch, uint16_t type)
{
	put_message(batch, type, 0, AF_UNSPEC, NFNL_SUBSYS_NFTABLES);
	mnl_nlmsg_batch_next(batch);
}

static struct nlmsghdr *put(struct mnl_nlmsg_batch *batch, int type, uint16_t flags)
{
	return put_message(batch, (uint16_t)(NFNL_SUBSYS_NFTABLES << 8 | type), flags,
			   NFPROTO_NETDEV, 0);
}

static void put_table(struct mnl_nlmsg_batch *batch, const struct names *names)
{
	struct nlmsghdr *nlh = put(batch, NFT_MSG_NEWTABLE, NLM_F_CREATE);

	mnl_attr_put_strz(nlh, NFTA_TABLE_NAME, names->table);
	mnl_attr_put_u32(nlh, NFTA_TABLE_FLAGS, htonl(NFT_TABLE_F_OWNER));
	mnl_nlmsg_batch_next(batch);
}

static void put_chain(struct mnl_nlmsg_batch *batch, const struct names *names, const char *iface)
{
	struct nlmsghdr *nlh = put(batch, NFT_MSG_NEWCHAIN, NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK);
	struct nlattr *hook;

	mnl_attr_put_strz(nlh, NFTA_CHAIN_TABLE, names->table);
	mnl_attr_put_strz(nlh, NFTA_CHAIN_NAME, names->chain);
	hook = mnl_attr_nest_start(nlh, NFTA_CHAIN_HOOK);
	mnl_attr_put_u32(nlh, NFTA_HOOK_HOOKNUM, htonl(NF_NETDEV_INGRESS));
	mnl_attr_put_u32(nlh, NFTA_HOOK_PRIORITY, htonl(FIRST));
	mnl_attr_put_strz(nlh, NFTA_HOOK_DEV, iface);
	mnl_attr_nest_end(nlh, hook);
	mnl_attr_put_u32(nlh, NFTA_CHAIN_POLICY, htonl(NF_DROP));
	mnl_attr_put_strz(nlh, NFTA_CHAIN_TYPE, "filter");
	mnl_nlmsg_batch_next(batch);
}

static void put_removal(struct mnl_nlmsg_batch *batch, const struct names *names)
{
	struct nlmsghdr *nlh = put(batch, NFT_MSG_DELCHAIN, NLM_F_ACK);

	mnl_attr_put_strz(nlh, NFTA_CHAIN_TABLE, names->table);
	mnl_attr_put_strz(nlh, NFTA_CHAIN_NAME, names->chain);
	mnl_nlmsg_batch_next(batch);
}

/* The answer is the first error, or that the last message was carried out.
 * @return 0 or -errno */
static int send_batch(struct mnl_nlmsg_batch *batch)
{
	int fd = mnl_socket_get_fd(owner), ret;
	char answer[4096];
	ssize_t n;

	put_limit(batch, NFNL_MSG_BATCH_END);
	/* Answers that came after an error. */
	while (netlink_receive(fd, answer, sizeof(answer), MSG_DONTWAIT) >= 0)
		;
	if (mnl_socket_sendto(owner, mnl_nlmsg_batch_head(batch), mnl_nlmsg_batch_size(batch)) < 0)
		return -errno;
	do {
		n = netlink_receive(fd, answer, sizeof(answer), 0);
		if (n < 0)
			return (int)n;
		ret = mnl_cb_run(answer, (size_t)n, 0, mnl_socket_get_portid(owner), NULL, NULL);
	} while (ret > MNL_CB_STOP);
	return ret < 0 ? -errno : 0;
}

int ingress_close(const char *iface, uint32_t ifindex)
{
	int err = open_owner();
	struct mnl_nlmsg_batch *batch;
	char buffer[2 * BATCH];
	struct names names;

	if (err)
		return err;
	names = names_of(iface, ifindex);
	batch = mnl_nlmsg_batch_start(buffer, BATCH);
	if (!batch)
		return -ENOMEM;
	put_limit(batch, NFNL_MSG_BATCH_BEGIN);
	put_table(batch, &names);
	put_chain(batch, &names, iface);
	err = send_batch(batch);
	mnl_nlmsg_batch_stop(batch);
	return err;
}

void ingress_open(const char *iface, uint32_t ifindex)
{
	struct mnl_nlmsg_batch *batch;
	char buffer[2 * BATCH];
	struct names names;

	if (!owner)
		return;
	names = names_of(iface, ifindex);
	batch = mnl_nlmsg_batch_start(buffer, BATCH);
	if (!batch)
		return;
	put_limit(batch, NFNL_MSG_BATCH_BEGIN);
	put_removal(batch, &names);
	send_batch(batch);
	mnl_nlmsg_batch_stop(batch);
}
