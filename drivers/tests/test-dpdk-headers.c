/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The layout of structs in drivers/dpdk-headers, compared with what the installed DPDK's public functions
 * say of a device of its own. */
#include <stdio.h>
#include <stdlib.h>

#include <bus_vdev_driver.h>
#include <cryptodev_pmd.h>
#include <rte_eal.h>

#define CHECK(what) \
	do { \
		if (!(what)) { \
			fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #what); \
			abort(); \
		} \
	} while (0)
#define QUEUES 3

static void check_data(const struct rte_cryptodev_data *data, uint8_t id)
{
	struct rte_cryptodev_config conf = {.nb_queue_pairs = QUEUES, .socket_id = SOCKET_ID_ANY};
	struct rte_cryptodev_qp_conf queue = {.nb_descriptors = 64};

	CHECK(data->dev_id == id);
	CHECK(data->name == rte_cryptodev_name_get(id));
	CHECK(data->socket_id == rte_cryptodev_socket_id(id));
	CHECK(rte_cryptodev_configure(id, &conf) == 0);
	for (uint16_t q = 0; q < QUEUES; q++)
		CHECK(rte_cryptodev_queue_pair_setup(id, q, &queue, SOCKET_ID_ANY) == 0);
	CHECK(data->nb_queue_pairs == QUEUES && rte_cryptodev_queue_pair_count(id) == QUEUES);
	CHECK(data->queue_pairs[QUEUES - 1]);
	CHECK(!data->dev_started && rte_cryptodev_start(id) == 0 && data->dev_started);
	rte_cryptodev_stop(id);
	CHECK(!data->dev_started);
}

static void check_device(const struct rte_cryptodev *dev, uint8_t id)
{
	struct rte_cryptodev_info info;

	rte_cryptodev_info_get(id, &info);
	CHECK((const char *)rte_cryptodev_pmd_get_dev(id + 1) - (const char *)dev == sizeof(*dev));
	CHECK(dev->driver_id == rte_cryptodev_driver_id_get("crypto_null"));
	CHECK(dev->feature_flags == info.feature_flags);
	CHECK(dev->device == info.device);
	CHECK(dev->security_ctx == rte_cryptodev_get_sec_ctx(id));
	CHECK(dev->attached);
	CHECK(dev->device->name == rte_dev_name(info.device));
	CHECK(dev->device->bus_info == rte_dev_bus_info(info.device));
	CHECK(dev->device->numa_node == rte_dev_numa_node(info.device));
	CHECK(dev->device->driver == rte_dev_driver(info.device));
	CHECK(dev->device->devargs == rte_dev_devargs(info.device));
}

int main(int argc, char **argv)
{
	static char options[][24] = {"--no-huge",	    "--no-pci",	     "--no-shconf", "-m64",
				     "--vdev=crypto_null0", "--no-telemetry"};
	char *args[RTE_DIM(options) + 2] = {argv[0]};
	int id;

	(void)argc;
	for (unsigned int i = 0; i < RTE_DIM(options); i++)
		args[1 + i] = options[i];
	CHECK(rte_eal_init(RTE_DIM(args) - 1, args) >= 0);
	id = rte_cryptodev_get_dev_id("crypto_null0");
	CHECK(id >= 0);
	check_device(rte_cryptodev_pmd_get_dev((uint8_t)id), (uint8_t)id);
	check_data(rte_cryptodev_pmd_get_dev((uint8_t)id)->data, (uint8_t)id);
	CHECK(rte_eal_cleanup() == 0);
	printf("all as expected\n");
	return 0;
}
