/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file conf.h
 * cygnetd.conf: the INI file that says which ports, cores and engine to use.
 */
#ifndef CYGNETD_CONF_H
#define CYGNETD_CONF_H

#include <limits.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONF_PATH "/etc/cygnet/cygnetd.conf"
#define CONF_STATE "/var/lib/cygnet"
#define CONF_MAX_PORTS 16
/** Each port is a device and an interface. */
#define CONF_MAX_DEVICES CONF_MAX_PORTS
#define CONF_MAX_INTERFACES CONF_MAX_PORTS
#define CONF_MAX_WORKERS 64
#define CONF_MAX_CRYPTO_CORES 32
#define CONF_MAX_EAL_ARGS 48
#define CONF_DEFAULT_ROUTES 65536u
#define CONF_DEFAULT_SESSIONS 8192u
#define CONF_DEFAULT_FLOWS 65536u
#define CONF_MAX_FLOWS (1u << 24)
#define CONF_MAX_ROUTES (1u << 22)
#define CONF_MIN_MTU 576u
#define CONF_MAX_MTU 16000u
/** EAL's --file-prefix if conf->eal names none. */
#define CONF_FILE_PREFIX "cygnet"

/** Which kind of crypto device serves the SAs. */
enum engine_choice { ENGINE_AUTO, ENGINE_CPU, ENGINE_OPENCL };

/** One [port NAME] section. */
struct conf_port {
	char name[32];
	char device[256];	/* a vdev ("net_af_packet0,iface=eth1") or a PCI address */
	char tap[IFNAMSIZ];	/* the kernel's view of the port; its name if not given */
	uint16_t mtu;		/* bytes of IP packet; 0: as the device has it */
	unsigned int mtu_line;	/* of the file, for messages */
};

struct conf {
	char path[PATH_MAX];		/* of the file, for messages */
	char sadb[PATH_MAX];
	char state[PATH_MAX];		/* folder of what is kept from one start to the next */
	uint32_t sas, policies;		/* geometry of a sadb that is yet to be created */
	uint32_t routes;		/* IPv4 prefixes that fit, and a quarter as many of IPv6 */
	uint32_t flows;			/* decisions that each worker remembers; 0: none */
	uint32_t sessions;		/* SAs that crypto devices are set up for at a time */
	enum engine_choice engine;
	bool drop_no_policy;		/* plaintext that no policy is about */
	bool pass_hairpin;		/* so does what was decrypted, by the port that it came by */
	char driver_path[PATH_MAX];	/* folder of our DPDK drivers; "": DPDK's */
	char opencl_args[256];		/* vdev arguments for crypto_opencl */
	unsigned int workers;		/* lcores that process packets */
	char cores[256];		/* CPUs of the workers, "1,2"; "": all that there are */
	char crypto_cores[256];		/* CPUs that do crypto for the workers; "": none */
	unsigned int ncrypto_cores;	/* of them */
	bool idle_sleep;		/* nap when there is nothing to do, instead of polling */
	char eal[256];			/* further EAL arguments, as typed */
	unsigned int nports;
	struct conf_port port[CONF_MAX_PORTS];
};

/**
 * Read and check the file. The first thing wrong with it is reported as
 * "file:line: [section] key: reason".
 * @param error  receives the message
 * @param size   of error, bytes
 * @return 0 or -errno
 */
int conf_read(struct conf *conf, const char *path, char *error, size_t size);
/** What an empty file would say: the defaults, and no port. */
void conf_defaults(struct conf *conf);
/** EAL's --file-prefix, which names the folder with the telemetry socket. */
void conf_file_prefix(const struct conf *conf, char *prefix, size_t size);

#endif
