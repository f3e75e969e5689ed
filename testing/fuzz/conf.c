/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cygnetd.conf: the input up to a zero byte is the file, and the rest a drop-in. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "conf/conf.h"
#include "conf/conf_keys.h"
#include "input.h"

static char path[] = "cygnetd.conf", dropin[] = "cygnetd.conf.d/1.conf";

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	mkdir("cygnetd.conf" CONF_DROPINS, 0700);
	return 0;
}

static void save(const char *to, const uint8_t *text, size_t len)
{
	FILE *file = fopen(to, "w");

	if (!file || fwrite(text, 1, len, file) != len || fclose(file))
		abort();
}

/* An accepted configuration is within its limits, and can be written. */
static void check(const struct conf *conf)
{
	char text[PATH_MAX + 1024];

	if (conf->nports > CONF_MAX_PORTS || conf->ncrypto_cores > CONF_MAX_CRYPTO_CORES)
		abort();
	for (unsigned int i = 0; i < CONF_KEYS; i++) {
		const struct conf_key *key = &conf_keys[i];

		if (key->section == CONF_MAIN) {
			conf_value(key, conf, text, sizeof(text));
			conf_where(conf, NULL, key->name, text, sizeof(text));
			continue;
		}
		for (unsigned int p = 0; p < conf->nports; p++) {
			conf_value(key, &conf->port[p], text, sizeof(text));
			conf_where(conf, &conf->port[p], key->name, text, sizeof(text));
		}
	}
	conf_file_prefix(conf, text, sizeof(text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct conf conf;
	const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
	size_t len = zero ? (size_t)(zero - data) : size;
	char error[512], little[8];

	save(path, data, len);
	if (zero)
		save(dropin, zero + 1, size - len - 1);
	else
		remove(dropin);
	if (conf_read(&conf, path, error, sizeof(error)) == 0)
		check(&conf);
	else if (!error[0])
		abort();
	conf_read(&conf, path, little, sizeof(little));
	return 0;
}
