/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses and neighbours of the kernel in a network namespace of its own, while notifications
 * get lost, while the entries change faster than they can be read, and while other processes send
 * to the mirror. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "eal_fixture.h"
#include "host/interface.h"
#include "host/local_addr.h"
#include "host/neigh.h"
#include "host/netlink.h"
#include "host/netlink_kind.h"
#include "host/netlink_receive.h"
#include "host/route.h"

#define ADDRESSES 1500 /* more than fit into one answer of the kernel */
#define SKIPPED	  77   /* exit status for automake */
#define MAC	  "02:00:00:00:00:01"
#define CHANGES	  1000u	  /* in a file, again and again */
#define DUMPS	  100	  /* while addresses change */
#define LATER_MS  3600000 /* longer than full dumps wait for each other */
#define SETTLE	  1000	  /* dumps until the mirror is right, at most */

static uint32_t addr(const char *text)
{
	uint32_t a;

	assert_int_equal(inet_pton(AF_INET, text, &a), 1);
	return a;
}

static void run(const char *command)
{
	assert_int_equal(system(command), 0);
}

static unsigned int datagrams;

static void count_datagram(void)
{
	datagrams++;
}

static int setup(void **state)
{
	struct rte_ether_addr mac;

	(void)state;
	run("ip link add wan address " MAC " type veth peer name far && ip link set far up && "
	    "ip address add 192.0.2.1/24 dev wan && ip address add 192.0.2.9/32 dev wan && "
	    "ip link set wan up");
	memset(interfaces, 0, sizeof(interfaces[0]));
	interfaces[0] = (struct interface){
		.name = "wan",
		.tap.ifindex = if_nametoindex("wan"),
		.mtu = 1500,
	};
	assert_int_equal(rte_ether_unformat_addr(MAC, &mac), 0);
	interface_set_mac(&interfaces[0], &mac);
	ninterfaces = 1;
	return routes_init(1, 8192) || neighs_init() || netlink_start(count_datagram);
}

static int teardown(void **state)
{
	(void)state;
	netlink_stop();
	run("ip link del wan");
	ninterfaces = 0;
	routes_free();
	neighs_free();
	return 0;
}

/* As the control thread does later. */
static void next_second(void)
{
	clock_now++;
	clock_now_ms += LATER_MS;
	netlink_process();
	netlink_solicit_wanted();
}

/* The mirror has lost a neighbour of the kernel about which no further notification comes. */
static void lost_news(void **state)
{
	const struct neigh n = {
		.addr = cygnet_addr4(addr("192.0.2.2")),
		.af = AF_INET,
		.interface = 0,
	};
	struct rte_ether_addr mac;

	(void)state;
	run("ip neigh add 192.0.2.2 lladdr 02:00:00:00:00:02 dev wan nud permanent");
	next_second();
	assert_true(neigh_lookup(&n, &mac));
	neigh_forget(&n);
	next_second();
	assert_false(neigh_lookup(&n, &mac));
	neigh_solicit(&n);
	next_second();
	assert_true(neigh_lookup(&n, &mac));
	assert_memory_equal(&mac, "\2\0\0\0\0\2", sizeof(mac));
	/* The kernel kept the entry, because it was not asked to resolve it. */
	run("ip neigh show dev wan nud permanent | grep -q '^192.0.2.2 lladdr 02:00:00:00:00:02 '");
	/* The mirror does not invent an entry that the kernel lacks, but asks for it. */
	run("ip neigh del 192.0.2.2 dev wan");
	next_second();
	assert_false(neigh_lookup(&n, &mac));
	neigh_solicit(&n);
	next_second();
	assert_false(neigh_lookup(&n, &mac));
	run("ip neigh show dev wan | grep -q '^192.0.2.2 '");
}

/* Another process sends to the monitor's socket. @param len  what the message says of its length */
static void send_as_stranger(struct nlmsghdr *nlh, uint32_t len)
{
	struct mnl_socket *stranger = mnl_socket_open(NETLINK_ROUTE);
	struct sockaddr_nl monitor;
	socklen_t size = sizeof(monitor);
	size_t bytes = nlh->nlmsg_len;

	assert_non_null(stranger);
	assert_int_equal(mnl_socket_bind(stranger, 0, MNL_SOCKET_AUTOPID), 0);
	assert_int_equal(getsockname(netlink_fd(), (struct sockaddr *)&monitor, &size), 0);
	nlh->nlmsg_len = len;
	assert_int_equal(sendto(mnl_socket_get_fd(stranger), nlh, bytes, 0,
				(struct sockaddr *)&monitor, sizeof(monitor)),
			 bytes);
	nlh->nlmsg_len = (uint32_t)bytes;
	mnl_socket_close(stranger);
}

/* Only the kernel is believed. */
static void strangers(void **state)
{
	const struct neigh n = {
		.addr = cygnet_addr4(addr("192.0.2.3")),
		.af = AF_INET,
		.interface = 0,
	};
	char buffer[256] = "";
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
	struct rte_ether_addr mac;
	struct ndmsg *ndm;

	(void)state;
	next_second();
	nlh->nlmsg_type = RTM_NEWNEIGH;
	ndm = mnl_nlmsg_put_extra_header(nlh, sizeof(*ndm));
	*ndm = (struct ndmsg){
		.ndm_family = AF_INET,
		.ndm_ifindex = (int)interfaces[0].tap.ifindex,
		.ndm_state = NUD_PERMANENT,
	};
	mnl_attr_put(nlh, NDA_DST, 4, &n.addr);
	mnl_attr_put(nlh, NDA_LLADDR, sizeof(mac), "\2\0\0\0\0\3");
	send_as_stranger(nlh, nlh->nlmsg_len);
	next_second();
	assert_false(neigh_lookup(&n, &mac));
	send_as_stranger(nlh, 0x80000000);
	next_second();
	assert_false(neigh_lookup(&n, &mac));
	/* What the kernel says meanwhile is not lost. */
	send_as_stranger(nlh, nlh->nlmsg_len);
	run("ip neigh add 192.0.2.3 lladdr 02:00:00:00:00:04 dev wan nud permanent");
	next_second();
	assert_true(neigh_lookup(&n, &mac));
	assert_memory_equal(&mac, "\2\0\0\0\0\4", sizeof(mac));
}

/* A message that does not fit into the buffer counts as lost. */
static void truncated(void **state)
{
	_Alignas(struct nlmsghdr) char buffer[32];
	int err;

	(void)state;
	next_second();
	run("ip neigh add 192.0.2.5 lladdr 02:00:00:00:00:05 dev wan nud permanent");
	err = netlink_receive(netlink_fd(), buffer, sizeof(buffer), MSG_DONTWAIT);
	assert_int_equal(err, -ENOBUFS);
	/* There may be more messages: the kernel gives up neighbours that earlier tests have solicited. */
	while (err == -ENOBUFS)
		err = netlink_receive(netlink_fd(), buffer, sizeof(buffer), MSG_DONTWAIT);
	assert_int_equal(err, -EAGAIN);
}

static bool is_own(const char *text)
{
	struct local_addr own;

	for (unsigned int i = 0; local_addr_next(&i, &own);)
		if (own.af == AF_INET && own.addr.v4 == addr(text))
			return true;
	return false;
}

static void add_addresses(void)
{
	FILE *ip = popen("ip -batch -", "w");

	assert_non_null(ip);
	for (unsigned int i = 0; i < ADDRESSES; i++)
		fprintf(ip, "address add 10.0.%u.%u/32 dev wan\n", i / 200, i % 200 + 1);
	assert_int_equal(pclose(ip), 0);
}

/* A process that changes addresses until it is killed. */
static pid_t start_churn(void)
{
	FILE *lines = fopen("churn", "w");
	pid_t child;

	assert_non_null(lines);
	for (unsigned int i = 0; i < CHANGES; i++)
		fprintf(lines,
			"address add 10.9.0.1/32 dev wan\naddress del 10.9.0.1/32 dev wan\n");
	assert_int_equal(fclose(lines), 0);
	child = fork();
	assert_true(child >= 0);
	if (child) {
		setpgid(child, child);
		return child;
	}
	setpgid(0, 0); /* whoever is first */
	execlp("sh", "sh", "-c", "while ip -batch churn; do :; done", NULL);
	_exit(127);
}

/* Addresses change during a dump, so that the kernel marks it as interrupted. Once they stay the
 * mirror is right. */
static void changes_meanwhile(void **state)
{
	pid_t churn;
	int status;

	(void)state;
	add_addresses();
	next_second();
	assert_true(is_own("192.0.2.9"));
	churn = start_churn();
	for (unsigned int i = 0; i < DUMPS; i++)
		next_second();
	assert_int_equal(kill(-churn, SIGKILL), 0);
	assert_int_equal(waitpid(churn, &status, 0), churn);
	assert_true(WIFSIGNALED(status)); /* it has changed them until now */
	unlink("churn");
	run("ip address del 192.0.2.9/32 dev wan");
	for (unsigned int i = 0; is_own("192.0.2.9") && i < SETTLE; i++)
		next_second();
	assert_false(is_own("192.0.2.9"));
	assert_true(is_own("192.0.2.1"));
}

static bool without_rules;

/* A kernel that is built without IPv4 rules answers as this one about a family that has none at all. */
__attribute__((visibility("default"))) ssize_t mnl_socket_sendto(const struct mnl_socket *socket,
								 const void *request, size_t len)
{
	ssize_t (*send_it)(const struct mnl_socket *, const void *, size_t) = dlsym(RTLD_NEXT,
										    __func__);
	const struct nlmsghdr *nlh = request;
	uint8_t *family = mnl_nlmsg_get_payload(nlh);

	if (without_rules && nlh->nlmsg_type == RTM_GETRULE && *family == AF_INET)
		*family = AF_UNIX;
	return send_it(socket, request, len);
}

/* The tables of a family without rules are the usual ones, and the other family has its own. */
static void no_rules(void **state)
{
	const uint32_t a = addr("198.51.100.1");

	(void)state;
	run("ip route add 198.51.100.0/24 via 192.0.2.2 && ip rule add priority 100 lookup 77 && "
	    "ip -6 rule add priority 100 lookup 77");
	netlink_resync();
	next_second();
	assert_true(routes_have_table(AF_INET, 77));
	without_rules = true;
	netlink_resync();
	next_second();
	without_rules = false;
	assert_false(routes_have_table(AF_INET, 77));
	assert_true(routes_have_table(AF_INET, ROUTE_TABLE_CHARON));
	assert_int_equal(route_lookup(AF_INET, &a).kind, ROUTE_FORWARD);
	assert_true(routes_have_table(AF_INET6, 77));
	run("ip rule del priority 100 && ip -6 rule del priority 100");
}

/* A route that changes without a message is deleted: the mirror has what the kernel has. */
static void deleted_other(void **state)
{
	const uint32_t a = addr("198.51.100.1");
	struct route other = {
		.af = AF_INET,
		.dst = cygnet_addr4(addr("198.51.100.0")),
		.bits = 24,
		.table = RT_TABLE_MAIN,
		.metric = 9,
		.hop = {.kind = ROUTE_FORWARD},
		.id = 1,
	};

	(void)state;
	next_second();
	run("ip route add 198.51.100.0/24 via 192.0.2.2 metric 9 && "
	    "ip route append 198.51.100.0/24 via 192.0.2.3 metric 9");
	next_second();
	next_second();
	/* Of two, the first one is another one to the mirror. */
	routes_mark();
	assert_int_equal(route_add(&other, ROUTE_APPEND), 0);
	routes_sweep();
	run("ip route del 198.51.100.0/24 via 192.0.2.2 metric 9");
	next_second();
	next_second();
	assert_int_equal(route_lookup(AF_INET, &a).kind, ROUTE_FORWARD);
	assert_int_equal(route_lookup(AF_INET, &a).gateway.v4, addr("192.0.2.3"));
}

/* Many reasons for a full dump in a short time: the first one is followed at once, and all others by one dump. */
static void often(void **state)
{
	(void)state;
	run("ip address add 192.0.2.10/32 dev wan");
	next_second();
	assert_false(netlink_dump_is_due());
	run("ip address del 192.0.2.9/32 dev wan");
	next_second();
	assert_false(netlink_dump_is_due());
	assert_false(is_own("192.0.2.9"));
	for (unsigned int i = 0; i < 3; i++) {
		run("ip address del 192.0.2.10/32 dev wan");
		netlink_process();
		assert_true(netlink_dump_is_due());
		assert_true(is_own("192.0.2.10"));
		run("ip address add 192.0.2.10/32 dev wan");
		netlink_process();
	}
	run("ip address del 192.0.2.10/32 dev wan");
	netlink_process();
	assert_true(is_own("192.0.2.10"));
	next_second();
	assert_false(netlink_dump_is_due());
	assert_false(is_own("192.0.2.10"));
}

static unsigned int datagrams_of_a_dump(void)
{
	unsigned int before = datagrams;

	netlink_resync();
	next_second();
	return datagrams - before;
}

/* While a large table is read, the control thread does what others wait for. */
static void keeps_up(void **state)
{
	unsigned int few;

	(void)state;
	few = datagrams_of_a_dump();
	run("for i in $(seq 4000); do echo route add 10.$((i / 250)).$((i % 250)).0/24 via 192.0.2.2; done | ip -batch -");
	assert_true(datagrams_of_a_dump() > few + 4);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lost_news, setup, teardown),
		cmocka_unit_test_setup_teardown(strangers, setup, teardown),
		cmocka_unit_test_setup_teardown(truncated, setup, teardown),
		cmocka_unit_test_setup_teardown(no_rules, setup, teardown),
		cmocka_unit_test_setup_teardown(deleted_other, setup, teardown),
		cmocka_unit_test_setup_teardown(often, setup, teardown),
		cmocka_unit_test_setup_teardown(keeps_up, setup, teardown),
		cmocka_unit_test_setup_teardown(changes_meanwhile, setup, teardown),
	};

	(void)argc;
	if (unshare(CLONE_NEWNET)) {
		perror("skipped: a network namespace is root's to make");
		return SKIPPED;
	}
	if (start_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
