/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file conf.h
 * cygnetd.conf: the INI file with ports, cores, the engine and the capacities.
 */
#ifndef CYGNETD_CONF_H
#define CYGNETD_CONF_H

#include <limits.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONF_PATH "/etc/cygnet/cygnetd.conf"
/** What is put behind the file's path is the path of the folder of its drop-ins. */
#define CONF_DROPINS	 ".d"
#define CONF_MAX_DROPINS 32
#define CONF_KEYS	 50u
/** [port NAME] and [tunnel NAME] sections. Each is an interface; one that was removed keeps its place for a while. */
#define CONF_MAX_PORTS	    31u
#define CONF_MAX_INTERFACES 63u
/** Sections of them that have a device. */
#define CONF_MAX_DEVICES 16u
/** Ethdevs, as DPDK is built: devices, and a TAP for each section. */
#define CONF_MAX_ETHDEVS      32u
#define CONF_MAX_WORKERS      64
#define CONF_MAX_CRYPTO_CORES 32
#define CONF_MAX_EAL_ARGS     48
#define CONF_MIN_MTU	      576u
#define CONF_MAX_MTU	      16000u
/** The EAL's --file-prefix, unless conf->eal has one. */
#define CONF_FILE_PREFIX "cygnet"

/** Which crypto engine serves the SAs. */
enum engine_choice { ENGINE_AUTO, ENGINE_CPU, ENGINE_OPENCL };

/** What happens to plaintext that no policy matches: it leaves by no outside port, passes, or is dropped. */
enum no_policy_choice { NO_POLICY_INSIDE, NO_POLICY_PASS, NO_POLICY_DROP };

/** What happens to system calls that cygnetd does not need while packets flow (host/system_calls.h). */
enum seccomp_choice { SECCOMP_AUTO, SECCOMP_ENFORCE, SECCOMP_LOG, SECCOMP_NO };

/** The classes of packets to the kernel. Each has a rate (path/worker/police.h). */
enum police_class {
	POLICE_PEER, /* IKE of a peer of an SA or policy */
	POLICE_IKE,  /* IKE of others */
	POLICE_ARP,  /* ARP, ND and other link control */
	POLICE_ICMP,
	POLICE_OTHER,
	POLICE_FRAGMENTS, /* to be reassembled, from other addresses than peers' */
	POLICE_SA,	  /* decrypted */
	POLICE_CLASSES
};

/** The type of a VLAN's outermost tag in frames that leave (IEEE 802.1Q): auto is that of a C-VLAN with one tag, and that of
 * an S-VLAN with two. */
enum conf_vlan_type { CONF_VLAN_AUTO, CONF_VLAN_8021Q, CONF_VLAN_8021AD };
/** conf_port.priority: that of the packet's DSCP. Lower values are priorities. */
#define CONF_PRIORITY_OF_DSCP 8u
/** Bits of a tag in conf_port.vlan. */
#define CONF_VLAN_BITS 12u

/** What a port or the kernel's other interfaces lead to. */
enum conf_side { CONF_OUTSIDE, CONF_INSIDE };

/** Where a key or section is given. */
struct conf_place {
	unsigned int line; /* 0: nowhere, it has its default */
	unsigned int file; /* 0: the file itself; i: drop-in i - 1 */
};

/** One [port NAME] section: a port, which has a device, or a VLAN on one. Or one [tunnel NAME] section. */
struct conf_port {
	char name[32];
	bool tunnel;	/* the section's kind */
	uint32_t if_id; /* of a tunnel: interface ID of its SAs and policies, not 0 */
	char device[256]; /* a vdev ("net_af_packet0,iface=eth1") or a PCI address; "": on none of its own */
	uint32_t vlan; /* its tags, the inner one in the lowest CONF_VLAN_BITS; 0: not a VLAN */
	uint32_t vlan_type;	   /* enum conf_vlan_type */
	uint32_t priority;	   /* of frames that leave, 0 to 7, or CONF_PRIORITY_OF_DSCP */
	bool dscp_of_priority;	   /* packets that come in get the DSCP of their frame's priority */
	char on[32];		   /* of a VLAN: name of the port */
	char tap[IFNAMSIZ];	   /* name of the TAP; default: the port's name */
	uint16_t mtu;		   /* bytes of IP packet; 0: that of the device */
	uint32_t side;		   /* enum conf_side; valid if conf_has_sides() */
	struct conf_place section; /* of its first section */
	struct conf_place given[CONF_KEYS]; /* by index in conf_keys[] */
};

struct conf {
	char path[PATH_MAX]; /* of this file */
	unsigned int ndropins;
	char dropin[CONF_MAX_DROPINS][NAME_MAX + 1]; /* files in the folder of drop-ins, by name */
	struct conf_place section;		     /* of [cygnetd] */
	struct conf_place given[CONF_KEYS];	     /* by index in conf_keys[] */
	char sadb[PATH_MAX];			     /* the shared SAD/SPD file */
	bool sadb_on_disk;			     /* the shared file need not be in memory */
	char user[64];		  /* that the process becomes: a name or number */
	char telemetry_group[64]; /* that may read telemetry: a name or number */
	bool lock_memory;	  /* keep keys out of swap */
	enum seccomp_choice seccomp;
	char paths[1024];	/* further files and folders to write, as typed */
	char state[PATH_MAX];	/* folder of files that survive a restart */
	bool keep_policies;	/* the policies of the last run are held after a boot */
	bool hold_unknown;	/* everything is held if those policies cannot be read */
	uint32_t sas, policies; /* capacity of a sadb that cygnetd creates */
	uint32_t routes;	/* capacity in IPv4 prefixes; IPv6 has a quarter of it */
	uint32_t flows;		/* entries of each worker's flow cache; 0: no cache */
	uint32_t sessions;	/* capacity of the session tables, in SAs */
	enum engine_choice engine;
	bool approved;			 /* SAs of approved algorithms only */
	bool audit;			 /* record packets that are auditable events */
	uint32_t no_policy;		 /* enum no_policy_choice */
	bool balance;			 /* move SAs between workers */
	bool pass_hairpin;		 /* forward decrypted packets in plaintext through the port
					 * they were received on, and other outside ones */
	bool dhcp;			 /* DHCP of this host passes the policies */
	uint32_t kernel_side;		 /* enum conf_side of the kernel's other interfaces */
	uint32_t police[POLICE_CLASSES]; /* packets a second; 0: any number */
	char driver_path[PATH_MAX];	 /* folder of Cygnet's DPDK drivers; "": none is loaded */
	char opencl_args[256];		 /* vdev arguments for crypto_opencl */
	unsigned int workers;		 /* lcores that process packets */
	char cores[256];		 /* CPUs of the workers, "1,2"; "": all allowed CPUs */
	char crypto_cores[256];		 /* CPUs of the crypto cores; "": none */
	unsigned int ncrypto_cores;	 /* number of CPUs in crypto_cores */
	bool idle_sleep;		 /* an idle worker naps instead of polling */
	unsigned int log, dpdk_log;	 /* index of a level: conf_log_level() */
	char eal[256];			 /* further EAL arguments, as typed */
	unsigned int nports;		 /* sections */
	unsigned int ndevices;		 /* ports that have a device: the first ones */
	unsigned int nlinks;		 /* ports and VLANs: tunnels come last */
	struct conf_port port[CONF_MAX_PORTS];
};

/**
 * Read and check the file, and then its drop-ins: the files FILE.d/\*.conf in the order of their names.
 * A key in a drop-in replaces the key that an earlier file gives. Every error is reported, in a
 * line "file:line: [section] key: reason" each.
 * @param error  receives the lines, as many as there is room for; the last one without a newline
 * @param size   of error, bytes
 * @return 0 or -errno
 */
int conf_read(struct conf *conf, const char *path, char *error, size_t size);
/**
 * Where a key is given and what it is called: "file:line: [port wan] mtu".
 * @param port  NULL: a key of [cygnetd]
 * @param name  of the key; NULL: the section
 */
void conf_where(const struct conf *conf, const struct conf_port *port, const char *name, char *out,
		size_t size);
#define CONF_VLAN_TEXT 16u
/** What a VLAN is called: "100", "300.100"; "" for 0. @param vlan  as conf_port.vlan @param size  CONF_VLAN_TEXT is enough */
void conf_vlan_print(uint32_t vlan, char *out, size_t size);
/** The port that a section's interface lies on: its own, or a VLAN's. */
const struct conf_port *conf_port_below(const struct conf *conf, const struct conf_port *port);
/** @return NULL: there is no port of that name */
const struct conf_port *conf_port_named(const struct conf *conf, const char *name);
/**
 * After a reload: where the sections and keys in force are given now. A key whose new value needs a restart is given nowhere.
 * @param conf  the configuration in force
 * @param next  the one that was read
 */
void conf_take_places(struct conf *conf, const struct conf *next);
/** Whether a port has the key side: the others are outside then. */
bool conf_has_sides(const struct conf *conf);
/** Whether a port's device begins so: "net_af_xdp". */
bool conf_has_device(const struct conf *conf, const char *begin);
/** Whether a port's device is a PCI address, such as "0000:3b:00.0", with or without arguments. Without such a port the EAL
 * does not probe PCI. */
bool conf_is_pci(const char *device);
/** Whether two processes can have a port's device open at once, so that one cygnetd can take over from another. */
bool conf_is_shared(const char *device);
/**
 * The kernel's interface that a port's device is on: what ",iface=" of net_af_packet, net_af_xdp and net_pcap has, which
 * may be no name that an interface can have.
 * @param size  of name, bytes; a longer one is cut
 * @return false: it is on none
 */
bool conf_interface(const char *device, char *name, size_t size);
/** Set the defaults, without a port. */
void conf_defaults(struct conf *conf);
/** The level of log and dpdk_log: the choices are RTE_LOG_ERR and those above it. */
static inline uint32_t conf_log_level(unsigned int choice)
{
	const uint32_t error = 4;

	return error + choice;
}
/** The EAL's --file-prefix, which names the folder of the telemetry socket. */
void conf_file_prefix(const struct conf *conf, char *prefix, size_t size);

#endif
