/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "doctor.h"
#include "esp/path_mtu.h"
#include "sa_filter.h"
#include "text.h"

#define PEERS_MOST 64u /* whose paths are checked */
#define PLUGIN	   "kernel-cygnet"

void doctor_links(struct diagnosis *d, const json_t *ports)
{
	const json_t *port;
	size_t i;

	if (!ports) {
		diagnosis_add(d, "link", FOUND_NOTHING, NULL, "cygnetd does not answer");
		return;
	}
	json_array_foreach(ports, i, port)
	{
		const char *name = text_of(port, "name", "?"), *tap = text_of(port, "tap", "?");
		char todo[64];

		snprintf(todo, sizeof(todo), "ip link set %s up", tap);
		if (strcmp(text_of(port, "link", "?"), "up"))
			diagnosis_add(d, "link", FOUND_PROBLEM, "check the cable and the other end",
				      "port %s has no link", name);
		else if (strcmp(text_of(port, "state", "?"), "up"))
			diagnosis_add(d, "link", FOUND_PROBLEM, todo, "interface %s is down", tap);
		else
			diagnosis_add(d, "link", FOUND_WELL, NULL, "port %s is up", name);
	}
}

/* What to do about a file that cannot be opened. */
static const char *file_todo(int err)
{
	switch (err) {
	case ENOENT:
		return "systemctl start cygnetd";
	case EPERM:
		/* Of another owner than the one who asks. */
		if (geteuid() == 0)
			return "correct its owner and mode: FILES in cygnetd(8)";
		/* fall through */
	case EACCES:
		return "ask as root, or as a user of the group of the file's folder";
	case EPROTO:
		return "stop charon, restart cygnetd, and start charon, all of the version of this cygnetctl";
	case ESTALE:
		return "systemctl start cygnetd, which replaces it";
	case EBADMSG:
		return "if sadb in cygnetd.conf names the right file: stop charon and cygnetd, remove it, and start both";
	default:
		return "correct sadb in cygnetd.conf, or what it names";
	}
}

static void add_closed_file(struct diagnosis *d)
{
	if (d->db_errno == ENOENT)
		diagnosis_add(d, "role", FOUND_PROBLEM, file_todo(ENOENT),
			      "there is no shared file");
	else if (d->db_errno == EINVAL)
		diagnosis_add(d, "role", FOUND_NOTHING, NULL,
			      "the configuration, which names the shared file, cannot be read");
	else
		diagnosis_add(d, "role", FOUND_PROBLEM, file_todo(d->db_errno), "%s", d->db_error);
}

void doctor_role(struct diagnosis *d, const json_t *info)
{
	struct cygnet_db_info file;
	json_int_t pid = json_integer_value(json_object_get(json_array_get(info, 0), "pid"));

	if (!d->db) {
		add_closed_file(d);
		return;
	}
	cygnet_db_info(d->db, &file);
	if (!file.dataplane_pid)
		diagnosis_add(d, "role", FOUND_PROBLEM, "systemctl start cygnetd",
			      "no dataplane serves %s", file.path);
	else if (!info || pid == file.dataplane_pid)
		diagnosis_add(d, "role", FOUND_WELL, NULL, "process %d serves %s",
			      file.dataplane_pid, file.path);
	else
		diagnosis_add(d, "role", FOUND_PROBLEM,
			      "give -s and -p, or sadb and eal in cygnetd.conf, of one cygnetd",
			      "process %d serves %s, and process %d answers", file.dataplane_pid,
			      file.path, (int)pid);
}

static bool has_plugin(const json_t *stats)
{
	const json_t *plugin;
	size_t i;

	json_array_foreach(json_object_get(stats, "plugins"), i, plugin)
	{
		const char *name = json_string_value(plugin);

		if (name && !strcmp(name, PLUGIN))
			return true;
	}
	return false;
}

void doctor_plugin(struct diagnosis *d, const json_t *stats)
{
	struct cygnet_db_info file = {0};

	if (d->db)
		cygnet_db_info(d->db, &file);
	if (stats && !has_plugin(stats))
		diagnosis_add(d, "charon", FOUND_PROBLEM,
			      "install strongswan-kernel-cygnet for this release of strongSwan, "
			      "and restart charon: its log says why the plugin is not loaded",
			      "charon has not loaded the plugin " PLUGIN);
	else if (!d->db && d->db_errno != ENOENT)
		diagnosis_add(d, "charon", FOUND_NOTHING, NULL, "the shared file cannot be opened");
	else if (file.charon_pid)
		diagnosis_add(d, "charon", FOUND_WELL, NULL,
			      "process %d has opened the SAD and SPD", file.charon_pid);
	else
		diagnosis_add(d, "charon", FOUND_PROBLEM,
			      stats ? "charon's log says why it does not open the shared file"
				    : "systemctl start strongswan, or strongswan-starter",
			      "no charon has opened the SAD and SPD");
}

/* The longest packet that the kernel sends to an address without fragments. @return 0: not known */
static unsigned int kernel_path_mtu(uint8_t af, const struct cygnet_addr *peer)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(500)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(500)};
	bool is6 = af == AF_INET6;
	socklen_t size = sizeof(int);
	int mtu = 0, fd = socket(af, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	memcpy(&v4.sin_addr, peer->bytes, sizeof(v4.sin_addr));
	memcpy(&v6.sin6_addr, peer->bytes, sizeof(v6.sin6_addr));
	if (fd < 0)
		return 0;
	if (connect(fd, is6 ? (struct sockaddr *)&v6 : (struct sockaddr *)&v4,
		    is6 ? sizeof(v6) : sizeof(v4)) ||
	    getsockopt(fd, is6 ? IPPROTO_IPV6 : IPPROTO_IP, is6 ? IPV6_MTU : IP_MTU, &mtu, &size))
		mtu = 0;
	close(fd);
	return mtu > 0 ? (unsigned int)mtu : 0;
}

static unsigned int least_port_mtu(const json_t *ports)
{
	unsigned int least = 0;
	const json_t *port;
	size_t i;

	json_array_foreach(ports, i, port)
	{
		unsigned int mtu = (unsigned int)json_integer_value(json_object_get(port, "mtu"));

		/* Protected packets leave by no tunnel. */
		if (!strcmp(text_of(port, "kind", "?"), "tunnel"))
			continue;
		if (mtu && (!least || mtu < least))
			least = mtu;
	}
	return least;
}

static void check_path(struct diagnosis *d, const struct cygnet_sa *sa, unsigned int port)
{
	const struct cygnet_path *path = cygnet_sa_path(sa);
	unsigned int reported = path_mtu_reported(sa->path_mtu,
						  clock_read_us(CLOCK_MONOTONIC) / 1000000),
		     mtu = kernel_path_mtu(path->af, &path->dst);
	char peer[INET6_ADDRSTRLEN] = "?";

	inet_ntop(path->af, path->dst.bytes, peer, sizeof(peer));
	if (reported && (!mtu || reported < mtu))
		mtu = reported;
	if (!mtu)
		diagnosis_add(d, "MTU", FOUND_PROBLEM,
			      "give the peer a route: ip route get says why",
			      "the kernel has no route to %s", peer);
	else if (port && mtu < port)
		diagnosis_add(
			d, "MTU", FOUND_PROBLEM,
			"hosts must hear ICMP errors; lower mtu of the port in cygnetd.conf, or "
			"mss of TCP, where they do not",
			"the path to %s carries packets of %u bytes, the ports %u", peer, mtu,
			port);
	else
		diagnosis_add(d, "MTU", FOUND_WELL, NULL, "the path to %s carries %u bytes", peer,
			      mtu);
}

static bool is_known(const struct cygnet_addr *peers, unsigned int n,
		     const struct cygnet_addr *peer)
{
	while (n--)
		if (!memcmp(&peers[n], peer, sizeof(*peer)))
			return true;
	return false;
}

void doctor_mtu(struct diagnosis *d, const json_t *ports)
{
	struct cygnet_addr peers[PEERS_MOST];
	struct cygnet_db_info info = {0};
	struct cygnet_sa sa;
	unsigned int n = 0;

	if (d->db)
		cygnet_db_info(d->db, &info);
	for (uint32_t i = 0; i < info.geometry.sas && n < PEERS_MOST; i++) {
		if (!cygnet_sa_snapshot(d->db, i, &sa) || sa.state != CYGNET_SLOT_LIVE ||
		    sa.flags & CYGNET_SA_INBOUND || is_known(peers, n, sa_peer(&sa)))
			continue;
		peers[n++] = *sa_peer(&sa);
		check_path(d, &sa, least_port_mtu(ports));
	}
	if (!n)
		diagnosis_add(d, "MTU", FOUND_NOTHING, NULL,
			      "there is no SA whose path could be looked at");
}
