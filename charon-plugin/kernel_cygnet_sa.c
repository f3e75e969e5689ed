/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "kernel_cygnet_sa.h"
#include "kernel_cygnet_addr.h"
#include "kernel_cygnet_compat.h"

#include <arpa/inet.h>
#include <netinet/in.h>

typedef struct {
	/** identifier in IKE */
	uint16_t ike;
	/** enum cygnet_cipher */
	uint8_t cipher;
	/** supported key lengths, bytes without salt */
	uint8_t keys[4];
	/** bytes of salt that charon appends to the key */
	uint8_t salt_len;
	/** bytes of ICV of an AEAD algorithm, otherwise 0 */
	uint8_t icv_len;
} encryption_t;

typedef struct {
	/** identifier in IKE */
	uint16_t ike;
	/** enum cygnet_auth */
	uint8_t auth;
	/** bytes of key */
	uint8_t key_len;
	/** bytes of ICV */
	uint8_t icv_len;
} integrity_t;

static const encryption_t encryption_algs[] = {
	{ENCR_NULL,					CYGNET_CIPHER_NULL,		{0},			0,	0	},
	{ENCR_AES_CBC,				CYGNET_CIPHER_AES_CBC,	{16, 24, 32},	0,	0	},
	{ENCR_AES_CTR,				CYGNET_CIPHER_AES_CTR,	{16, 24, 32},	4,	0	},
	{ENCR_3DES,					CYGNET_CIPHER_3DES_CBC,	{24},			0,	0	},
	{ENCR_DES,					CYGNET_CIPHER_DES_CBC,	{8},			0,	0	},
	{ENCR_AES_GCM_ICV8,			CYGNET_CIPHER_AES_GCM,	{16, 24, 32},	4,	8	},
	{ENCR_AES_GCM_ICV12,		CYGNET_CIPHER_AES_GCM,	{16, 24, 32},	4,	12	},
	{ENCR_AES_GCM_ICV16,		CYGNET_CIPHER_AES_GCM,	{16, 24, 32},	4,	16	},
	{ENCR_AES_CCM_ICV8,			CYGNET_CIPHER_AES_CCM,	{16, 24, 32},	3,	8	},
	{ENCR_AES_CCM_ICV12,		CYGNET_CIPHER_AES_CCM,	{16, 24, 32},	3,	12	},
	{ENCR_AES_CCM_ICV16,		CYGNET_CIPHER_AES_CCM,	{16, 24, 32},	3,	16	},
	{ENCR_NULL_AUTH_AES_GMAC,	CYGNET_CIPHER_AES_GMAC,	{16, 24, 32},	4,	16	},
	{ENCR_CHACHA20_POLY1305,	CYGNET_CIPHER_CHACHA20_POLY1305,
														{32},			4,	16	},
};

static const integrity_t integrity_algs[] = {
	{AUTH_HMAC_MD5_96,			CYGNET_AUTH_HMAC_MD5,		16,	12	},
	{AUTH_HMAC_MD5_128,			CYGNET_AUTH_HMAC_MD5,		16,	16	},
	{AUTH_HMAC_SHA1_96,			CYGNET_AUTH_HMAC_SHA1,		20,	12	},
	{AUTH_HMAC_SHA1_160,		CYGNET_AUTH_HMAC_SHA1,		20,	20	},
	{AUTH_HMAC_SHA2_256_96,		CYGNET_AUTH_HMAC_SHA256,	32,	12	},
	{AUTH_HMAC_SHA2_256_128,	CYGNET_AUTH_HMAC_SHA256,	32,	16	},
	{AUTH_HMAC_SHA2_384_192,	CYGNET_AUTH_HMAC_SHA384,	48,	24	},
	{AUTH_HMAC_SHA2_512_256,	CYGNET_AUTH_HMAC_SHA512,	64,	32	},
	{AUTH_AES_XCBC_96,			CYGNET_AUTH_AES_XCBC,		16,	12	},
	{AUTH_AES_CMAC_96,			CYGNET_AUTH_AES_CMAC,		16,	12	},
};

/**
 * Find an encryption algorithm by its IKE identifier
 */
static const encryption_t *find_encryption(uint16_t ike)
{
	int i;

	for (i = 0; i < countof(encryption_algs); i++)
	{
		if (encryption_algs[i].ike == ike)
		{
			return &encryption_algs[i];
		}
	}
	return NULL;
}

/**
 * Find an integrity algorithm by its IKE identifier
 */
static const integrity_t *find_integrity(uint16_t ike)
{
	int i;

	for (i = 0; i < countof(integrity_algs); i++)
	{
		if (integrity_algs[i].ike == ike)
		{
			return &integrity_algs[i];
		}
	}
	return NULL;
}

/**
 * Whether an encryption algorithm has keys of len bytes
 */
static bool takes_key(const encryption_t *alg, size_t len)
{
	int i;

	if (!alg->keys[0])
	{	/* the NULL cipher */
		return len == 0;
	}
	for (i = 0; i < countof(alg->keys) && alg->keys[i]; i++)
	{
		if (alg->keys[i] == len)
		{
			return TRUE;
		}
	}
	return FALSE;
}

/**
 * Map encryption algorithm and key.
 *
 * Returns the name of an unsupported property, or NULL.
 */
static const char *map_encryption(uint8_t proto, kernel_ipsec_add_sa_t *data,
								  struct cygnet_sa_params *params)
{
	const encryption_t *alg = find_encryption(data->enc_alg);

	if (proto == IPPROTO_AH)
	{
		params->cipher = CYGNET_CIPHER_NULL;
		return data->enc_alg == ENCR_UNDEFINED ? NULL : "encryption in AH";
	}
	if (!alg)
	{
		return enum_to_name(encryption_algorithm_names, data->enc_alg) ?:
							"an unknown encryption algorithm";
	}
	if (data->enc_key.len < alg->salt_len ||
		!takes_key(alg, data->enc_key.len - alg->salt_len))
	{
		return "an encryption key of that length";
	}
	params->cipher = alg->cipher;
	params->cipher_key_len = data->enc_key.len - alg->salt_len;
	params->salt_len = alg->salt_len;
	params->icv_len = alg->icv_len;
	if (data->enc_key.len)
	{
		memcpy(params->cipher_key, data->enc_key.ptr, data->enc_key.len);
	}
	return NULL;
}

/**
 * Map integrity algorithm and key, after map_encryption().
 *
 * Returns the name of an unsupported property, or NULL.
 */
static const char *map_integrity(kernel_ipsec_add_sa_t *data,
								 struct cygnet_sa_params *params)
{
	const integrity_t *alg;

	if (data->int_alg == AUTH_UNDEFINED)
	{
		return params->icv_len ? NULL : "encryption without integrity";
	}
	if (params->icv_len)
	{
		return "an integrity algorithm on top of an AEAD";
	}
	alg = find_integrity(data->int_alg);
	if (!alg)
	{
		return enum_to_name(integrity_algorithm_names, data->int_alg) ?:
							"an unknown integrity algorithm";
	}
	if (data->int_key.len != alg->key_len)
	{
		return "an integrity key of that length";
	}
	params->auth = alg->auth;
	params->auth_key_len = alg->key_len;
	params->icv_len = alg->icv_len;
	memcpy(params->auth_key, data->int_key.ptr, data->int_key.len);
	return NULL;
}

/**
 * Name an unsupported option of an SA, or return NULL
 */
static const char *unsupported_option(kernel_ipsec_sa_id_t *id,
									  kernel_ipsec_add_sa_t *data)
{
	if (id->mark.value | id->mark.mask)
	{
		return "marks (mark_in, mark_out)";
	}
	if (data->mark.value | data->mark.mask)
	{
		return "set marks (set_mark_in, set_mark_out)";
	}
	if (data->label)
	{
		return "security labels";
	}
	if (data->ipcomp != IPCOMP_NONE)
	{
		return "IPComp";
	}
	if (data->hw_offload != HW_OFFLOAD_NO &&
		data->hw_offload != HW_OFFLOAD_AUTO)
	{
		return "hardware offload";
	}
	if (data->replay_window > CYGNET_REPLAY_WINDOW_MAX)
	{
		return "a replay window above 4096 packets";
	}
	return compat_unsupported_sa(data);
}

/**
 * Name the mode of an SA if it is not supported, or return NULL
 */
static const char *unsupported_mode(kernel_ipsec_sa_id_t *id,
									kernel_ipsec_add_sa_t *data)
{
	if (data->mode != MODE_TUNNEL && data->mode != MODE_TRANSPORT)
	{
		return compat_mode_name(data->mode);
	}
	if (data->mode == MODE_TRANSPORT && id->if_id)
	{
		return "interface IDs (if_id_in, if_id_out) in transport mode";
	}
	return NULL;
}

/**
 * Map the options that are supported
 */
static void map_options(uint8_t proto, kernel_ipsec_add_sa_t *data,
						struct cygnet_sa_params *params)
{
	params->reqid = data->reqid;
	/* AH has no field for the start of TFC padding; Linux does not pad AH */
	params->tfc = proto == IPPROTO_AH ? 0 : min(data->tfc, UINT16_MAX);
	params->mode = data->mode == MODE_TRANSPORT ? CYGNET_TRANSPORT :
												  CYGNET_TUNNEL;
	params->flags = (data->inbound ? CYGNET_SA_INBOUND : 0) |
					(data->esn ? CYGNET_SA_ESN : 0) |
					(data->copy_df ? CYGNET_SA_COPY_DF : 0) |
					(data->copy_ecn ? CYGNET_SA_COPY_ECN : 0) |
					compat_sa_cpu_flags(data);
	/* charon sets a window for outbound SAs as well, which need none */
	params->replay_window = data->inbound ? data->replay_window : 0;
	switch (data->copy_dscp)
	{
		case DSCP_COPY_OUT_ONLY:
			params->dscp = CYGNET_DSCP_COPY_OUT;
			break;
		case DSCP_COPY_IN_ONLY:
			params->dscp = CYGNET_DSCP_COPY_IN;
			break;
		case DSCP_COPY_YES:
			params->dscp = CYGNET_DSCP_COPY_OUT | CYGNET_DSCP_COPY_IN;
			break;
		case DSCP_COPY_NO:
			break;
	}
}

/**
 * Map lifetimes; 0 means no limit in charon and in libcygnet
 */
static void map_lifetime(lifetime_cfg_t *cfg, struct cygnet_lifetime *lifetime)
{
	*lifetime = (struct cygnet_lifetime){
		.soft_bytes = cfg->bytes.rekey,
		.hard_bytes = cfg->bytes.life,
		.soft_packets = cfg->packets.rekey,
		.hard_packets = cfg->packets.life,
		.soft_seconds = cfg->time.rekey,
		.hard_seconds = cfg->time.life,
	};
}

/*
 * Described in header.
 */
void kernel_cygnet_sa_id(kernel_ipsec_sa_id_t *id, struct cygnet_sa_id *sa)
{
	memset(sa, 0, sizeof(*sa));
	sa->spi = id->spi;
	sa->proto = id->proto;
	sa->af = id->dst->get_family(id->dst);
	sa->dst = kernel_cygnet_addr_from_host(id->dst);
}

/*
 * Described in header.
 */
void kernel_cygnet_sa_path(host_t *src, host_t *dst, bool encap,
						   struct cygnet_path *path)
{
	memset(path, 0, sizeof(*path));
	path->af = dst->get_family(dst);
	path->src = kernel_cygnet_addr_from_host(src);
	path->dst = kernel_cygnet_addr_from_host(dst);
	if (encap)
	{
		path->encap = 1;
		path->sport = htons(src->get_port(src));
		path->dport = htons(dst->get_port(dst));
	}
}

/*
 * Described in header.
 */
const char *kernel_cygnet_sa_unsupported(uint8_t proto, host_t *src,
										 host_t *dst, bool encap)
{
	if (proto != IPPROTO_ESP && proto != IPPROTO_AH)
	{
		return "this IPsec protocol";
	}
	if (proto == IPPROTO_AH && encap)
	{
		return "AH in UDP";
	}
	if (src->get_family(src) != dst->get_family(dst))
	{
		return "endpoints of two address families";
	}
	return NULL;
}

/*
 * Described in header.
 */
status_t kernel_cygnet_sa_params(kernel_ipsec_sa_id_t *id,
								 kernel_ipsec_add_sa_t *data,
								 struct cygnet_sa_params *params,
								 const char **why)
{
	memset(params, 0, sizeof(*params));
	*why = kernel_cygnet_sa_unsupported(id->proto, id->src, id->dst,
										data->encap) ?:
		   unsupported_option(id, data) ?:
		   unsupported_mode(id, data) ?:
		   map_encryption(id->proto, data, params) ?:
		   map_integrity(data, params);
	if (*why)
	{
		memwipe(params, sizeof(*params));
		return NOT_SUPPORTED;
	}
	kernel_cygnet_sa_id(id, &params->id);
	kernel_cygnet_sa_path(id->src, id->dst, data->encap, &params->path);
	map_options(id->proto, data, params);
	params->if_id = id->if_id;
	map_lifetime(data->lifetime, &params->lifetime);
	return SUCCESS;
}
