/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "call.h"
#include "ipsec-mb/operation.h"
#include "pmd.h"
#include "text.h"

uint32_t gcm_call(struct rte_cryptodev *dev, struct rte_cryptodev_sym_session *session,
		  union rte_crypto_sym_ofs ofs, struct rte_crypto_sym_vec *vec)
{
	const struct gcm_session *s = CRYPTODEV_GET_SYM_SESS_PRIV(session);
	const struct rte_crypto_sgl *to = vec->dest_sgl ? vec->dest_sgl : vec->src_sgl;
	struct gcm_scratch scratch;
	uint32_t good = 0;

	if (ofs.raw)
		return mb_call_refuse(vec, ENOTSUP);
	gcm_session_prefetch(s, ((const struct gcm_pmd *)dev->data->dev_private)->own_below);
	for (uint32_t i = 0; i < vec->num; i++) {
		struct gcm_text text = {
			.from = &vec->src_sgl[i],
			.to = &to[i],
			.iv = vec->iv[i].va,
			.aad = vec->aad[i].va,
			.icv = vec->digest[i].va,
		};

		vec->status[i] = gcm_text(s, &scratch, &text);
		good += !vec->status[i];
	}
	gcm_scratch_wipe(&scratch);
	return good;
}
