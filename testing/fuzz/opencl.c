/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * crypto_opencl without a device: the input is a session and an operation. Accepted operations are staged in a
 * chunk and run by the kernels, compiled as C; every buffer has exactly the required length.
 */
#include <stdlib.h>

#include <rte_mbuf.h>

#include "chunk.h"
#include "emu.h"
#include "input.h"
#include "pmd.h"
#include "request.h"

#define IV_AT	  (sizeof(struct rte_crypto_op) + sizeof(struct rte_crypto_sym_op))
#define DATA_MOST 512u

static struct ocl_pmd pmd;
static struct ocl_session home;
static struct rte_cryptodev_data dev_data = {.dev_private = &pmd};
static struct rte_cryptodev dev = {.data = &dev_data};
static struct ocl_bins bins;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const struct ocl_device device = {
		.cpu = true,
		.group_multiple = 8,
		.max_group = 4096,
		.units = 2,
	};

	(void)argc;
	(void)argv;
	pmd.device = device;
	/* Entries of the table are written directly, as for a device that is a CPU. */
	pmd.table = (struct ocl_table){
		.dev = &pmd.device,
		.home = &home,
		.direct = true,
		.bytes = sizeof(home),
	};
	if (ocl_args_parse(&pmd.args, "chunk=32") ||
	    ocl_sched_init(&pmd.sched, &pmd.args, &pmd.device) ||
	    ocl_bins_init(&bins, &pmd.sched) || ocl_store_get(&pmd.store, 1) ||
	    ocl_store_join(pmd.store, &pmd.table))
		abort();
	return 0;
}

static void *exactly(size_t size)
{
	void *p = calloc(1, size ? size : 1);

	if (!p)
		abort();
	return p;
}

/* Read two transforms at most. @return the first */
static struct rte_crypto_sym_xform *read_xforms(struct input *in, struct rte_crypto_sym_xform x[2],
						uint8_t key[256])
{
	uint8_t choice = input_byte(in);
	bool back = choice & 4;

	memset(x, 0, 2 * sizeof(x[0]));
	if (choice & 1) {
		x->type = RTE_CRYPTO_SYM_XFORM_AEAD;
		x->aead.op = back ? RTE_CRYPTO_AEAD_OP_DECRYPT : RTE_CRYPTO_AEAD_OP_ENCRYPT;
		x->aead.algo = input_byte(in) % 4;
		x->aead.key.data = key;
		x->aead.key.length = input_byte(in) % 65;
		x->aead.iv.offset = IV_AT;
		x->aead.iv.length = input_byte(in) % 18;
		x->aead.aad_length = input_word(in) % (OCL_MAX_AAD + 2);
		x->aead.digest_length = input_byte(in) % 20;
		return x;
	}
	x[0].type = RTE_CRYPTO_SYM_XFORM_CIPHER;
	x[0].cipher.op = back ? RTE_CRYPTO_CIPHER_OP_DECRYPT : RTE_CRYPTO_CIPHER_OP_ENCRYPT;
	x[0].cipher.algo = input_byte(in) % 16;
	x[0].cipher.key.data = key;
	x[0].cipher.key.length = input_byte(in) % 65;
	x[0].cipher.iv.offset = IV_AT;
	x[0].cipher.iv.length = input_byte(in) % 18;
	x[1].type = RTE_CRYPTO_SYM_XFORM_AUTH;
	x[1].auth.op = back ? RTE_CRYPTO_AUTH_OP_VERIFY : RTE_CRYPTO_AUTH_OP_GENERATE;
	x[1].auth.algo = input_byte(in) % 32;
	x[1].auth.key.data = key + 64;
	x[1].auth.key.length = input_byte(in) % 160;
	x[1].auth.iv.offset = IV_AT;
	x[1].auth.iv.length = input_byte(in) % 18;
	x[1].auth.digest_length = input_byte(in) % 70;
	if (choice & 8) {
		x[choice >> 4 & 1].next = &x[!(choice >> 4 & 1)];
		return &x[choice >> 4 & 1];
	}
	return &x[choice >> 4 & 1];
}

static void run(struct ocl_request *r, struct rte_crypto_op *op)
{
	u8 *areas[OCL_AREAS] = {0};
	struct ocl_copy copy;
	bool copied;
	struct ocl_chunk chunk = {
		.host = exactly(r->size),
		.room = r->size,
		.max_records = 1,
		.bins = bins,
		.copy = &copy,
		.copied = &copied,
	};
	uint32_t record;

	if (!ocl_chunk_fits(&chunk, r->size + r->reserve) ||
	    !ocl_request_stage(r, op, &chunk, &record) || chunk.used != r->size)
		abort();
	areas[OCL_AREA_CHUNK] = chunk.host;
	emu_packet(&home, areas, 0, r->size % 2 ? 1 : OCL_MAX_LANES);
	ocl_chunk_finish(&chunk, record);
	ocl_bins_reset(&chunk.bins);
	bins = chunk.bins;
	free(chunk.host);
}

static void operate(struct input *in, struct rte_cryptodev_sym_session *session,
		    const struct ocl_session_priv *priv)
{
	size_t iv_len = priv->iv_len ? priv->iv_offset + priv->iv_len - IV_AT : 0;
	struct rte_crypto_op *op = exactly(IV_AT + iv_len);
	uint8_t *aad = exactly(priv->aad_len ? (size_t)priv->aad_skip + priv->aad_len : 0);
	uint8_t *digest = exactly(priv->digest_len);
	uint16_t room = input_word(in) % DATA_MOST, skip = (uint16_t)(input_byte(in) % (room + 1));
	struct rte_mbuf src =
				{
					.buf_addr = exactly(room),
					.buf_len = room,
					.data_off = skip,
					.nb_segs = 1,
				},
			dst = src;
	struct ocl_hint hint = {0};
	struct ocl_request request;

	src.data_len = dst.data_len = (uint16_t)(input_word(in) % (room - skip + 1u));
	src.pkt_len = dst.pkt_len = src.data_len;
	op->type = RTE_CRYPTO_OP_TYPE_SYMMETRIC;
	op->sess_type = RTE_CRYPTO_OP_WITH_SESSION;
	op->sym->session = session;
	op->sym->m_src = &src;
	dst.buf_addr = NULL;
	if (input_byte(in) & 1) {
		dst.buf_len = input_word(in) % DATA_MOST;
		dst.data_off = (uint16_t)(input_byte(in) % (dst.buf_len + 1));
		dst.buf_addr = exactly(dst.buf_len);
		op->sym->m_dst = &dst;
	}
	if (priv->aead) {
		op->sym->aead.data.offset = input_word(in);
		op->sym->aead.data.length = input_word(in);
		op->sym->aead.aad.data = aad;
		op->sym->aead.digest.data = digest;
	} else {
		op->sym->cipher.data.offset = input_word(in);
		op->sym->cipher.data.length = input_word(in);
		op->sym->auth.data.offset = input_word(in);
		op->sym->auth.data.length = input_word(in);
		op->sym->auth.digest.data = digest;
	}
	/* Offsets and lengths wider than 16 bits. */
	if (input_byte(in) & 1)
		op->sym->cipher.data.offset = UINT32_MAX - input_byte(in);
	if (input_byte(in) & 1)
		op->sym->cipher.data.length = UINT32_MAX - input_byte(in);
	input_bytes(in, (uint8_t *)op + IV_AT, iv_len);
	input_bytes(in, src.buf_addr, room);
	if (ocl_request_parse(&request, op, &pmd, &hint) == RTE_CRYPTO_OP_STATUS_NOT_PROCESSED)
		run(&request, op);
	free(dst.buf_addr);
	free(src.buf_addr);
	free(digest);
	free(aad);
	free(op);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	struct rte_cryptodev_sym_session *session;
	struct rte_crypto_sym_xform x[2], *first;
	uint8_t key[256] = {1};

	if (posix_memalign((void **)&session, RTE_CACHE_LINE_SIZE,
			   sizeof(*session) + sizeof(struct ocl_session_priv)))
		abort();
	memset(session, 0, sizeof(*session) + sizeof(struct ocl_session_priv));
	first = read_xforms(&in, x, key);
	input_bytes(&in, key, 8);
	if (ocl_session_configure(&dev, first, session) == 0) {
		operate(&in, session, CRYPTODEV_GET_SYM_SESS_PRIV(session));
		ocl_session_clear(&dev, session);
	}
	free(session);
	return 0;
}
