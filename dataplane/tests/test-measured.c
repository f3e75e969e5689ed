/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of measurements: complete, damaged, of other devices, hostile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "crypto/auto/measured.h"
#include "crypto/device/engine.h"

#define ROOM 65536u

static char folder[] = "./test-XXXXXX", path[sizeof(folder) + 8];

static int start(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/engines", folder);
	engine_devices = 2;
	engine_device[0] = (struct engine_device){.name = "crypto_a0",
						  .driver = "crypto_a",
						  .version = "1, some CPU"};
	engine_device[1] = (struct engine_device){.name = "crypto_b0",
						  .driver = "crypto_b",
						  .version = "2, some GPU, driver 3"};
	return 0;
}

static int finish(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

/* --- files --- */

static void save(const char *text, size_t len)
{
	FILE *out;

	unlink(path);
	out = fopen(path, "w");
	assert_non_null(out);
	assert_int_equal(fwrite(text, 1, len, out), len);
	assert_int_equal(fclose(out), 0);
}

static size_t load(char text[ROOM])
{
	FILE *in = fopen(path, "r");
	size_t len;

	assert_non_null(in);
	len = fread(text, 1, ROOM - 1, in);
	text[len] = '\0';
	fclose(in);
	return len;
}

/* With a valid checksum. */
static void save_sealed(const char *text, size_t len)
{
	char sealed[ROOM + 32];

	memcpy(sealed, text, len);
	len += (size_t)snprintf(sealed + len, 32, "end %08x\n",
				(unsigned int)crc32(0, (const uint8_t *)text, (uInt)len));
	save(sealed, len);
}

static bool nothing_is_measured(void)
{
	static const struct measured none[RTE_DIM(measured)][ALGORITHMS_MAX][LENGTH_CLASSES];

	return measured_algorithms == 0 && memcmp(measured, none, sizeof(none)) == 0;
}

static void assert_refused(int err)
{
	memset(measured, 0x55, sizeof(measured));
	measured_algorithms = 1;
	assert_int_equal(measured_read(path), err);
	assert_true(nothing_is_measured());
}

static void fill(void)
{
	measured_algorithms = algorithm_count;
	memset(measured, 0, sizeof(measured));
	for (unsigned int a = 0; a < algorithm_count; a++)
		for (unsigned int l = 0; l < LENGTH_CLASSES; l++) {
			measured[0][a][l] = (struct measured){1.5f, 4, 250};
			if (a % 2)
				measured[1][a][l] = (struct measured){30, 60, 40};
		}
}

static size_t write_good(char text[ROOM])
{
	fill();
	assert_int_equal(measured_write(path), 0);
	return load(text);
}

/* --- tests --- */

static void round_trip(void **state)
{
	static struct measured before[STATS_MAX_DEVICES][ALGORITHMS_MAX][LENGTH_CLASSES];

	(void)state;
	fill();
	memcpy(before, measured, sizeof(before));
	assert_int_equal(measured_write(path), 0);
	assert_int_equal(measured_write(path), 0); /* replaces the previous file */
	memset(measured, 0, sizeof(measured));
	assert_int_equal(measured_read(path), 0);
	assert_memory_equal(before, measured, sizeof(before));
}

/* Measurements before the time limit are kept, with the algorithm to continue with. */
static void cut_short(void **state)
{
	static char text[ROOM];

	(void)state;
	for (unsigned int a = 0; a < algorithm_count; a++) {
		fill();
		measured_algorithms = a;
		assert_int_equal(measured_write(path), 0);
		measured_algorithms = algorithm_count;
		assert_int_equal(measured_read(path), 0);
		assert_int_equal(measured_algorithms, a);
		assert_true(measured[1][1][0].gbps > 59);
	}
	write_good(text);
	assert_null(strstr(text, "\nnext "));
}

static void damaged(void **state)
{
	static char text[ROOM];
	size_t len = write_good(text);

	(void)state;
	for (size_t n = 0; n < len; n += 7) {
		save(text, n);
		assert_refused(-EINVAL);
	}
	for (size_t n = 0; n < len; n++) {
		text[n] ^= (char)(1 << n % 8);
		save(text, len);
		assert_refused(-EINVAL);
		text[n] ^= (char)(1 << n % 8);
	}
	text[len] = 'x';
	save(text, len + 1);
	assert_refused(-EINVAL);
}

static void of_others(void **state)
{
	static char text[ROOM];

	(void)state;
	write_good(text);
	engine_device[1].version[0] = '4';
	assert_refused(-ESTALE);
	engine_device[1].version[0] = '2';
	engine_devices = 1;
	assert_refused(-ESTALE);
	engine_devices = 3;
	assert_refused(-ESTALE);
	engine_devices = 2;
	assert_int_equal(measured_read(path), 0);
}

#define DEVICES \
	"device crypto_a0|crypto_a|1, some CPU\ndevice crypto_b0|crypto_b|2, some GPU, driver 3\n"

static void lines(void **state)
{
	static const struct {
		const char *line;
		int err;
	} cases[] = {
		{"0|aes-gcm-128|64|1|3|100", 0},
		{"1|aes-cbc-256 hmac-sha512|1408|1e3|2|1e9", 0},
		{"", -EINVAL},
		{"next aes-gcm-256", 0},
		{"next aes-gcm-128\n0|aes-gcm-128|64|1|3|100", 0},
		{"next ", -EINVAL},
		{"next aes-gcm-129", -EINVAL},
		{"0|aes-gcm-128|64|1|3|100\nnext aes-gcm-128", -EINVAL},
		{"2|aes-gcm-128|64|1|3|100", -EINVAL},
		{"-1|aes-gcm-128|64|1|3|100", -EINVAL},
		{"4294967296|aes-gcm-128|64|1|3|100", -EINVAL},
		{"0|aes-gcm-129|64|1|3|100", -EINVAL},
		{"0||64|1|3|100", -EINVAL},
		{"0|aes-gcm-128|65|1|3|100", -EINVAL},
		{"0|aes-gcm-128|64|nan|3|100", -EINVAL},
		{"0|aes-gcm-128|64|0|3|100", -EINVAL},
		{"0|aes-gcm-128|64|1|inf|100", -EINVAL},
		{"0|aes-gcm-128|64|1|0|100", -EINVAL},
		{"0|aes-gcm-128|64|1|-2|100", -EINVAL},
		{"0|aes-gcm-128|64|1|1e99|100", -EINVAL},
		{"0|aes-gcm-128|64|1|3|-100", -EINVAL},
		{"0|aes-gcm-128|64|1|3|100 ", -EINVAL},
		{"0|aes-gcm-128|64|1|3", -EINVAL},
		{"0|aes-gcm-128|64|1|3|100|4", -EINVAL},
		{"1|aes-gcm-128|64|1|3|100\n0|aes-gcm-128|64|1|3|100", -EINVAL}, /* another order */
		{"0|aes-gcm-128|64|1|3|100\n0|aes-gcm-128|64|1|3|100", -EINVAL},
		{"device crypto_c0|crypto_c|3", -EINVAL},
		{"0|aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa|64|1|3|100",
		 -EINVAL},
	};
	char text[2048];

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		int len = snprintf(text, sizeof(text), "cygnet engines 4 2\n" DEVICES "%s\n",
				   cases[i].line);

		save_sealed(text, (size_t)len);
		if (cases[i].err)
			assert_refused(cases[i].err);
		else
			assert_int_equal(measured_read(path), 0);
	}
	save_sealed("cygnet engines 3 2\n" DEVICES, strlen("cygnet engines 3 2\n" DEVICES));
	assert_refused(-ESTALE);
	save_sealed("", 0);
	assert_refused(-EINVAL);
}

/* An attacker who can write the file can also write a valid checksum. */
static void mutated(void **state)
{
	static char good[ROOM], text[ROOM];
	size_t len = write_good(good);
	unsigned int accepted = 0;

	(void)state;
	len = (size_t)(strstr(good, "\nend ") + 1 - good);
	srandom(12);
	for (unsigned int i = 0; i < 3000; i++) {
		memcpy(text, good, len);
		for (long n = random() % 3; n >= 0; n--)
			text[(size_t)random() % len] = (char)random();
		save_sealed(text, len);
		if (measured_read(path))
			assert_true(nothing_is_measured());
		else
			accepted++;
		for (unsigned int k = 0; k < algorithm_count * LENGTH_CLASSES; k++) {
			const struct measured *m = &measured[k % 2][k / LENGTH_CLASSES][0];

			assert_true(isfinite(m->gbps) && m->gbps >= 0 && m->cost_ns >= 0);
		}
	}
	/* Some digits are replaced by other digits. */
	assert_in_range(accepted, 1, 2999);
}

static void no_file(void **state)
{
	static char big[(1 << 20) + 1];

	(void)state;
	unlink(path);
	assert_refused(-ENOENT);
	assert_int_equal(mkfifo(path, 0600), 0); /* opening does not wait for a writer */
	assert_refused(-EINVAL);
	unlink(path);
	assert_int_equal(symlink("/dev/zero", path), 0);
	assert_refused(-ELOOP);
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_refused(-EINVAL);
	rmdir(path);
	memset(big, 'a', sizeof(big));
	save(big, sizeof(big));
	assert_refused(-EINVAL);
	save("cygnet\0engines", 14);
	assert_refused(-EINVAL);
	assert_int_equal(measured_write("/nowhere/engines"), -ENOENT);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip), cmocka_unit_test(cut_short),
		cmocka_unit_test(damaged),    cmocka_unit_test(of_others),
		cmocka_unit_test(lines),      cmocka_unit_test(mutated),
		cmocka_unit_test(no_file),
	};

	return cmocka_run_group_tests(tests, start, finish);
}
