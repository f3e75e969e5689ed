/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starting the crypto devices. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_bus_vdev.h>

#include "crypto/device/engine.h"
#include "crypto/device/library_build.h"
#include "crypto/device/selftest.h"
#include "crypto/device/suite.h"
#include "eal_fixture.h"

/* A device that does not start, and the driver of one that is right about single packets only. */
static int faulty = -1;
static const char *mixing = "";

static struct rte_crypto_fp_ops good;

/* Of packets that are processed together, the last one has a wrong text. */
static uint16_t mix_ops(void *qp, struct rte_crypto_op **op, uint16_t n)
{
	n = good.dequeue_burst(qp, op, n);
	if (n > 1)
		*rte_pktmbuf_mtod_offset(op[n - 1]->sym->m_src, uint8_t *, 100) ^= 1;
	return n;
}

static bool is_mixing(uint8_t id)
{
	struct rte_cryptodev_info info;

	rte_cryptodev_info_get(id, &info);
	return !strcmp(info.driver_name, mixing);
}

int rte_cryptodev_start(uint8_t id)
{
	void *next = dlsym(RTLD_NEXT, "rte_cryptodev_start");
	int (*start)(uint8_t id), err;

	memcpy(&start, &next, sizeof(start));
	err = id == faulty ? -EIO : start(id);
	if (!err && is_mixing(id)) {
		good = rte_crypto_fp_ops[id];
		rte_crypto_fp_ops[id].dequeue_burst = mix_ops;
	}
	return err;
}

uint32_t rte_cryptodev_sym_cpu_crypto_process(uint8_t id, void *session,
					      union rte_crypto_sym_ofs ofs,
					      struct rte_crypto_sym_vec *vec)
{
	void *next = dlsym(RTLD_NEXT, "rte_cryptodev_sym_cpu_crypto_process");
	uint32_t (*process)(uint8_t, void *, union rte_crypto_sym_ofs, struct rte_crypto_sym_vec *);
	uint32_t n;

	memcpy(&process, &next, sizeof(process));
	n = process(id, session, ofs, vec);
	if (vec->num > 1 && is_mixing(id))
		((uint8_t *)vec->src_sgl[vec->num - 1].vec[0].base)[30] ^= 1;
	return n;
}

static void start_with(unsigned int workers, unsigned int devices)
{
	struct conf conf;

	conf_defaults(&conf);
	conf.engine = ENGINE_CPU;
	assert_int_equal(engines_start(&conf, workers, 16), 0);
	if (devices)
		assert_int_equal(engine_devices, devices);
	for (unsigned int d = 0; d < engine_devices; d++)
		assert_int_equal(rte_cryptodev_queue_pair_count(engine_device[d].id), workers);
}

static char *log_of_start(const char *drivers, uint32_t level);

/* crypto_openssl crashes without OpenSSL's legacy provider: it is not used, and the log says what is missing. The first
 * test: a provider stays loaded. */
static void no_provider(void **state)
{
	char folder[] = "/tmp/cyg-modules-XXXXXX", *text;

	(void)state;
	assert_non_null(mkdtemp(folder));
	setenv("OPENSSL_MODULES", folder, 1);
	text = log_of_start("", RTE_LOG_WARNING);
	assert_non_null(strstr(text, "crypto_openssl is not used: OpenSSL has no legacy provider"));
	assert_null(strstr(text, "engine cpu: crypto_openssl0\n"));
	free(text);
	unsetenv("OPENSSL_MODULES");
	rmdir(folder);
	text = log_of_start("", RTE_LOG_INFO);
	assert_non_null(strstr(text, "engine cpu: crypto_openssl0\n"));
	free(text);
}

/* A queue pair for each worker, also more of them than the drivers' default. */
static void many_workers(void **state)
{
	static const unsigned int workers[] = {8, 9, CONF_MAX_WORKERS};
	unsigned int devices;

	(void)state;
	start_with(1, 0);
	devices = engine_devices;
	engines_stop();
	for (unsigned int i = 0; i < RTE_DIM(workers); i++) {
		start_with(workers[i], devices);
		engines_stop();
	}
}

/* Cygnet's drivers precede DPDK's, unless EAL's arguments have created one of DPDK's. */
static void order(void **state)
{
	(void)state;
	if (!BUILT_IPSEC_MB)
		skip();
	start_with(1, 0);
	assert_string_equal(engine_device[0].driver, "crypto_ipsec_mb_gcm");
	assert_string_equal(engine_device[1].driver, "crypto_ipsec_mb_chain");
	assert_true(engine_device[0].at_once && engine_device[1].at_once);
	engines_stop();
	assert_int_equal(rte_vdev_init("crypto_aesni_gcm7", NULL), 0);
	start_with(1, 0);
	assert_string_equal(engine_device[0].driver, "crypto_aesni_gcm");
	assert_string_equal(engine_device[1].driver, "crypto_ipsec_mb_gcm");
	assert_string_equal(engine_device[2].driver, "crypto_ipsec_mb_chain");
	engines_stop();
	assert_int_equal(rte_vdev_uninit("crypto_aesni_gcm7"), 0);
}

/* A device of EAL's arguments with too few queues does not keep cygnetd from creating another
 * one of the driver. */
static void too_few_queues(void **state)
{
	unsigned int found = 0;

	(void)state;
	assert_int_equal(rte_vdev_init("crypto_aesni_gcm0", "max_nb_queue_pairs=1"), 0);
	start_with(2, 0);
	for (unsigned int d = 0; d < engine_devices; d++) {
		assert_string_not_equal(engine_device[d].name, "crypto_aesni_gcm0");
		found += !strcmp(engine_device[d].name, "crypto_aesni_gcm1");
	}
	assert_int_equal(found, 1);
	engines_stop();
	assert_int_equal(rte_vdev_uninit("crypto_aesni_gcm0"), 0);
}

/* A device of EAL's arguments that fails keeps no reference to cygnetd's session mempool. */
static void adopted_fails(void **state)
{
	(void)state;
	if (!BUILT_IPSEC_MB)
		skip(); /* DPDK's drivers keep their queue pairs until they are closed */
	assert_int_equal(rte_vdev_init("crypto_ipsec_mb_gcm7", NULL), 0);
	faulty = rte_cryptodev_get_dev_id("crypto_ipsec_mb_gcm7");
	assert_in_range(faulty, 0, RTE_CRYPTO_MAX_DEVS - 1);
	start_with(2, 0);
	for (unsigned int d = 0; d < engine_devices; d++)
		assert_int_not_equal(engine_device[d].id, faulty);
	for (uint16_t q = 0; q < 2; q++)
		assert_int_equal(rte_cryptodev_get_qp_status((uint8_t)faulty, q), 0);
	engines_stop();
	faulty = -1;
	assert_int_equal(rte_vdev_uninit("crypto_ipsec_mb_gcm7"), 0);
}

static const char *version_of(const char *driver)
{
	for (unsigned int d = 0; d < engine_devices; d++)
		if (!strcmp(engine_device[d].driver, driver))
			return engine_device[d].version;
	return "";
}

/* The description of a device has the builds of its driver and of the library that it uses, and
 * its arguments, from whatever source. */
static void version(void **state)
{
	char driver[LIBRARY_BUILD], library[LIBRARY_BUILD], builds[2 * LIBRARY_BUILD + 16];

	(void)state;
	assert_int_equal(rte_vdev_init("crypto_aesni_gcm7", "max_nb_queue_pairs=5"), 0);
	start_with(1, 0);
	library_build_of("librte_crypto_ipsec_mb.so", driver);
	library_build_of("libIPSec_MB.so", library);
	snprintf(builds, sizeof(builds), "build %s %s,", driver, library);
	assert_non_null(strstr(version_of("crypto_aesni_gcm"), builds));
	assert_non_null(strstr(version_of("crypto_aesni_gcm"), ", max_nb_queue_pairs=5"));
	assert_non_null(strstr(version_of("crypto_aesni_mb"), builds));
	assert_non_null(strstr(version_of("crypto_aesni_mb"), ", max_nb_queue_pairs=1"));
	assert_null(strstr(version_of("crypto_openssl"), library));
	if (BUILT_IPSEC_MB) {
		library_build_of("librte_crypto_ipsec_mb_gcm.so", driver);
		snprintf(builds, sizeof(builds), "build %s %s,", driver, library);
		assert_non_null(strstr(version_of("crypto_ipsec_mb_gcm"), builds));
		assert_null(strstr(version_of("crypto_ipsec_mb_chain"), driver));
	}
	engines_stop();
	assert_int_equal(rte_vdev_uninit("crypto_aesni_gcm7"), 0);
}

/* Of which devices the system calls are known. */
static void foreign(void **state)
{
	static const struct {
		const char *engine, *version;
		bool foreign;
	} of[] = {
		{"cpu", "2.0", false},
		{"opencl", "pthread-haswell-AMD EPYC, Portable Computing Language, driver 3.1",
		 false},
		{"opencl", "NVIDIA H200, NVIDIA CUDA, driver 580.159.04", false},
		{"opencl", "gfx90a, AMD Accelerated Parallel Processing, driver 3590.0", true},
		{"opencl", "NVIDIA H200, rusticl, driver 25.0", true},
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(of); i++) {
		engine_device[0] = (struct engine_device){.engine = of[i].engine};
		snprintf(engine_device[0].version, sizeof(engine_device[0].version), "%s",
			 of[i].version);
		engine_devices = 1;
		assert_int_equal(engines_foreign(), of[i].foreign);
	}
	engine_devices = 0;
}

/* An OpenCL device has room for all sessions and a short timeout; arguments of the configuration
 * override these. */
static void opencl_arguments(void **state)
{
	struct conf conf;

	(void)state;
	conf_defaults(&conf);
	conf.engine = ENGINE_OPENCL;
	snprintf(conf.driver_path, sizeof(conf.driver_path), "%s", BUILT_DRIVERS);
	snprintf(conf.opencl_args, sizeof(conf.opencl_args), "timeout_ms=2000");
	if (engines_start(&conf, 1, 70000))
		skip(); /* no OpenCL device */
	assert_non_null(
		strstr(version_of("crypto_opencl"), ",max_sessions=70000,timeout_ms=1000,"));
	assert_non_null(strstr(version_of("crypto_opencl"), ",timeout_ms=2000"));
	engines_stop();
	assert_int_equal(engines_start(&conf, 1, 16), 0);
	assert_null(strstr(version_of("crypto_opencl"), "max_sessions"));
	engines_stop();
}

/* Start with answers of which some are wrong. @param text  receives the log, to be freed
 * @return as engines_start() */
static int start_tested(const struct known_answer *answers, char **text)
{
	struct conf conf;
	size_t size;
	FILE *log = open_memstream(text, &size);
	int err;

	assert_non_null(log);
	conf_defaults(&conf);
	conf.engine = ENGINE_CPU;
	log_divert(log);
	log_level = RTE_LOG_ERR;
	selftest_answers = answers;
	err = engines_start(&conf, 1, 16);
	selftest_answers = known_answers;
	log_level = RTE_LOG_EMERG;
	log_divert(NULL);
	fclose(log);
	return err;
}

/* There is one answer for every combination of algorithms and length of key that an SA can have. */
static void answer_for_each(void **state)
{
	unsigned int n = 0;

	(void)state;
	for (unsigned int c = 0; c < CYGNET_CIPHERS; c++)
		for (unsigned int a = 0; a < CYGNET_AUTHS; a++) {
			struct cygnet_sa sa = {.cipher = (uint8_t)c, .auth = (uint8_t)a};

			for (unsigned int key = 0; suite_lengths(&sa, key); key++, n++) {
				unsigned int found = 0;

				for (unsigned int i = 0; i < KNOWN_ANSWERS; i++)
					found += known_answers[i].cipher == c &&
						 known_answers[i].auth == a &&
						 known_answers[i].key_len == sa.cipher_key_len;
				assert_int_equal(found, 1);
			}
		}
	assert_int_equal(n, KNOWN_ANSWERS);
}

/* A device whose answer is not the known one serves nothing; the log names device and algorithm. A
 * device without that algorithm is used. Without a wrong answer none is out. */
static void wrong_answer(void **state)
{
	static struct known_answer answers[KNOWN_ANSWERS];
	unsigned int out = 0;
	char *text, name[128];

	(void)state;
	if (!BUILT_IPSEC_MB)
		skip();
	memcpy(answers, known_answers, sizeof(answers));
	assert_int_equal(start_tested(answers, &text), 0);
	assert_string_equal(text, "");
	assert_int_equal(engines_lost, 0);
	engines_stop();
	free(text);
	answers[0].icv[15] ^= 1;
	assert_int_equal(start_tested(answers, &text), 0);
	for (unsigned int d = 0; d < engine_devices; d++) {
		snprintf(name, sizeof(name), "%s fails the self-test of aes-gcm-128 (wrong answer)",
			 engine_device[d].name);
		assert_int_equal(strstr(text, name) != NULL, engine_lost(d));
		out += engine_lost(d);
		if (!strcmp(engine_device[d].driver, "crypto_ipsec_mb_gcm"))
			assert_true(engine_lost(d));
		if (!strcmp(engine_device[d].driver, "crypto_ipsec_mb_chain"))
			assert_false(engine_lost(d));
	}
	assert_in_range(out, 1, engine_devices - 1);
	assert_false(engines_report());
	engines_stop();
	free(text);
}

/* A device that is right about each packet by itself, but not about packets that are processed together, serves
 * nothing. */
static void mixed_texts(void **state)
{
	static const char *const drivers[] = {"crypto_openssl", "crypto_aesni_mb",
					      "crypto_ipsec_mb_gcm", "crypto_ipsec_mb_chain"};
	char *text, name[128];

	(void)state;
	for (unsigned int i = 0; i < (BUILT_IPSEC_MB ? 4u : 2u); i++) {
		mixing = drivers[i];
		assert_int_equal(start_tested(known_answers, &text), 0);
		mixing = "";
		snprintf(name, sizeof(name), "%s0 fails the self-test of", drivers[i]);
		assert_non_null(strstr(text, name));
		for (unsigned int d = 0; d < engine_devices; d++)
			assert_int_equal(engine_lost(d),
					 !strcmp(engine_device[d].driver, drivers[i]));
		engines_stop();
		free(text);
	}
}

/* Each packet of the batch counts. */
static void wrong_batch(void **state)
{
	static struct known_answer answers[KNOWN_ANSWERS];
	char *text;

	(void)state;
	memcpy(answers, known_answers, sizeof(answers));
	for (unsigned int i = 0; i < KNOWN_ANSWERS; i++)
		answers[i].all ^= 1;
	assert_int_equal(start_tested(answers, &text), -EIO);
	free(text);
}

/* Without any device that is right cygnetd does not start; after that all can start again. */
static void all_wrong(void **state)
{
	static struct known_answer answers[KNOWN_ANSWERS];
	char *text;

	(void)state;
	memcpy(answers, known_answers, sizeof(answers));
	for (unsigned int i = 0; i < KNOWN_ANSWERS; i++)
		answers[i].icv[0] ^= 1;
	assert_int_equal(start_tested(answers, &text), -EIO);
	assert_non_null(strstr(text, "no crypto device passes its self-test"));
	assert_int_equal(engine_devices, 0);
	free(text);
	start_with(1, 0);
	assert_int_equal(engines_lost, 0);
	engines_stop();
}

static void approved(void **state)
{
	static const struct {
		uint8_t cipher, auth;
		bool is;
	} cases[] = {
		{CYGNET_CIPHER_AES_GCM, CYGNET_AUTH_NONE, true},
		{CYGNET_CIPHER_AES_CBC, CYGNET_AUTH_HMAC_SHA256, true},
		{CYGNET_CIPHER_NULL, CYGNET_AUTH_AES_CMAC, true},
		{CYGNET_CIPHER_AES_CBC, CYGNET_AUTH_HMAC_MD5, false},
		{CYGNET_CIPHER_AES_CTR, CYGNET_AUTH_AES_XCBC, false},
		{CYGNET_CIPHER_3DES_CBC, CYGNET_AUTH_HMAC_SHA1, false},
		{CYGNET_CIPHER_DES_CBC, CYGNET_AUTH_HMAC_SHA1, false},
		{CYGNET_CIPHER_CHACHA20_POLY1305, CYGNET_AUTH_NONE, false},
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++)
		assert_int_equal(suite_approved(cases[i].cipher, cases[i].auth), cases[i].is);
	assert_false(suite_approved(UINT8_MAX, CYGNET_AUTH_NONE));
	assert_false(suite_approved(CYGNET_CIPHER_NULL, UINT8_MAX));
}

/* Loaded libraries are told apart by the size and time of their files. */
static void library_builds(void **state)
{
	char by_name[LIBRARY_BUILD], by_address[LIBRARY_BUILD], other[LIBRARY_BUILD];
	void *function = dlsym(RTLD_DEFAULT, "rte_cryptodev_configure");
	struct stat st;
	Dl_info info;

	(void)state;
	assert_true(dladdr(function, &info) && stat(info.dli_fname, &st) == 0);
	snprintf(other, sizeof(other), "%lld-%lld", (long long)st.st_size, (long long)st.st_mtime);
	library_build_of("librte_cryptodev.so", by_name);
	library_build_at(function, by_address);
	assert_string_equal(by_name, other);
	assert_string_equal(by_name, by_address);
	library_build_of("libIPSec_MB.so", other);
	assert_true(other[0] && strcmp(by_name, other));
	library_build_at(&state, other);
	assert_string_equal(other, "");
	library_build_of("libno.so", other);
	assert_string_equal(other, "");
}

/* Start with that folder of drivers. @return logged text of that level and above, to be freed */
static char *log_of_start(const char *drivers, uint32_t level)
{
	char *text = NULL;
	size_t size;
	FILE *log = open_memstream(&text, &size);
	struct conf conf;

	assert_non_null(log);
	conf_defaults(&conf);
	conf.engine = ENGINE_CPU;
	snprintf(conf.driver_path, sizeof(conf.driver_path), "%s", drivers);
	log_divert(log);
	log_level = level;
	assert_int_equal(engines_start(&conf, 1, 16), 0);
	log_level = RTE_LOG_EMERG;
	engines_stop();
	log_divert(NULL);
	fclose(log);
	return text;
}

static void expect(const char *drivers, uint32_t level, const char *words, bool there)
{
	char *text = log_of_start(drivers, level);

	assert_int_equal(strstr(text, words) != NULL, there);
	free(text);
}

/* A driver that was not built is not reported as a warning. A driver that does not load is, and
 * a folder without drivers. */
static void driver_path(void **state)
{
	static const char *const others[] = {
		"librte_crypto_ipsec_mb_gcm.so",
		"librte_crypto_ipsec_mb_chain.so",
	};
	char folder[] = "/tmp/cyg-drivers-XXXXXX", bad[64];
	FILE *file;

	(void)state;
	assert_non_null(mkdtemp(folder));
	expect(folder, RTE_LOG_WARNING, "there is no driver in /tmp/cyg-drivers-", true);
	snprintf(bad, sizeof(bad), "%s/librte_crypto_opencl.so", folder);
	file = fopen(bad, "w");
	assert_non_null(file);
	fclose(file);
	expect(folder, RTE_LOG_WARNING, bad, true);
	expect(folder, RTE_LOG_WARNING, "there is no driver in", false);
	for (unsigned int i = 0; i < RTE_DIM(others); i++) {
		expect(folder, RTE_LOG_WARNING, others[i], false);
		expect(folder, RTE_LOG_INFO, others[i], true);
	}
	unlink(bad);
	rmdir(folder);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_provider),
		cmocka_unit_test(many_workers),
		cmocka_unit_test(order),
		cmocka_unit_test(too_few_queues),
		cmocka_unit_test(adopted_fails),
		cmocka_unit_test(version),
		cmocka_unit_test(answer_for_each),
		cmocka_unit_test(wrong_answer),
		cmocka_unit_test(all_wrong),
		cmocka_unit_test(mixed_texts),
		cmocka_unit_test(wrong_batch),
		cmocka_unit_test(approved),
		cmocka_unit_test(library_builds),
		cmocka_unit_test(driver_path),
		cmocka_unit_test(opencl_arguments),
		cmocka_unit_test(foreign),
	};

	(void)argc;
	if (start_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
