/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "client.h"
#include "vici.h"
#include "vici_message.h"

#define MESSAGE_MAX (512u * 1024) /* of charon */
#define SCHEME	    "unix://"
#define ANSWER_S    30 /* for all of an answer; client_open() has a time for each part of it */

enum packet {
	REQUEST,
	RESPONSE,
	UNKNOWN,
	REGISTER,
	UNREGISTER,
	CONFIRM,
	UNKNOWN_EVENT,
	EVENT,
};

struct answer {
	uint8_t *data; /* MESSAGE_MAX bytes */
	size_t len;
	uint64_t until; /* CLOCK_MONOTONIC, us */
};

int vici_connect(const char *socket, char *error, size_t size)
{
	char reason[512];
	int fd;

	if (!strncmp(socket, SCHEME, strlen(SCHEME)))
		socket += strlen(SCHEME);
	fd = client_open(socket, SOCK_STREAM, reason, sizeof(reason));
	if (fd < 0)
		snprintf(error, size, "charon does not answer at %s: %s", socket, strerror(-fd));
	return fd;
}

/* Put a type and a name, which has a length of one byte. @return length */
static size_t put_name(uint8_t *bytes, uint8_t type, const char *name)
{
	size_t len = strlen(name);

	bytes[0] = type;
	bytes[1] = (uint8_t)len;
	memcpy(bytes + 2, name, len);
	return 2 + len;
}

/* Send a packet with a name. @param key  the only key of its message, whose value is "yes"; NULL: no message */
static bool send_packet(int fd, enum packet type, const char *name, const char *key)
{
	static const uint8_t yes[] = {0, 3, 'y', 'e', 's'};
	uint8_t packet[4 + 2 * (2 + 255) + sizeof(yes)];
	size_t len = 4 + put_name(packet + 4, (uint8_t)type, name);
	uint32_t length;

	if (key) {
		len += put_name(packet + len, VICI_KEY_VALUE, key);
		memcpy(packet + len, yes, sizeof(yes));
		len += sizeof(yes);
	}
	length = htonl((uint32_t)(len - 4));
	memcpy(packet, &length, sizeof(length));
	return send(fd, packet, len, MSG_NOSIGNAL) == (ssize_t)len;
}

static bool receive_all(int fd, void *data, size_t len, uint64_t until)
{
	while (len) {
		ssize_t n = TEMP_FAILURE_RETRY(recv(fd, data, len, 0));

		if (n <= 0 || clock_read_us(CLOCK_MONOTONIC) > until)
			return false;
		data = (uint8_t *)data + n;
		len -= (size_t)n;
	}
	return true;
}

/* @return type of the packet; -1: there is none, or one that is too long */
static int receive_packet(int fd, struct answer *answer)
{
	uint32_t length;

	if (!receive_all(fd, &length, sizeof(length), answer->until))
		return -1;
	answer->len = ntohl(length);
	if (!answer->len || answer->len > MESSAGE_MAX ||
	    !receive_all(fd, answer->data, answer->len, answer->until))
		return -1;
	return answer->data[0];
}

/* Events have a name before their message: that of the only one that is registered. */
static json_t *parse(const struct answer *answer, enum packet type)
{
	size_t head = 1;

	if (type == EVENT)
		head += answer->len > 1 ? 1u + answer->data[1] : 1;
	return head <= answer->len ? vici_message_parse(answer->data + head, answer->len - head)
				   : NULL;
}

static bool open_answer(struct answer *answer)
{
	*answer = (struct answer){
		.data = malloc(MESSAGE_MAX),
		.until = clock_read_us(CLOCK_MONOTONIC) + ANSWER_S * 1000000ull,
	};
	return answer->data;
}

json_t *vici_ask(int fd, const char *command, char *error, size_t size)
{
	json_t *message = NULL;
	struct answer answer;

	if (open_answer(&answer) && send_packet(fd, REQUEST, command, NULL) &&
	    receive_packet(fd, &answer) == RESPONSE)
		message = parse(&answer, RESPONSE);
	free(answer.data);
	if (!message)
		snprintf(error, size, "charon does not answer %s", command);
	return message;
}

/* Receive events until the answer to the command. @return 0 or -EPROTO */
static int receive_events(int fd, struct answer *answer,
			  int (*each)(void *context, json_t *message), void *context)
{
	int type;

	while ((type = receive_packet(fd, answer)) == EVENT) {
		json_t *message = parse(answer, EVENT);
		int err = message ? each(context, message) : -EPROTO;

		json_decref(message);
		if (err)
			return -EPROTO;
	}
	return type == RESPONSE ? 0 : -EPROTO;
}

int vici_list(int fd, const char *command, const char *key, const char *event,
	      int (*each)(void *context, json_t *message), void *context, char *error, size_t size)
{
	struct answer answer;
	bool done;

	done = open_answer(&answer) && send_packet(fd, REGISTER, event, NULL) &&
	       receive_packet(fd, &answer) == CONFIRM && send_packet(fd, REQUEST, command, key) &&
	       !receive_events(fd, &answer, each, context) &&
	       send_packet(fd, UNREGISTER, event, NULL) && receive_packet(fd, &answer) == CONFIRM;
	free(answer.data);
	if (done)
		return 0;
	snprintf(error, size, "charon does not answer %s", command);
	return -EPROTO;
}
