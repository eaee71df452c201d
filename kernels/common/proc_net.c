#define _GNU_SOURCE
#include "proc_net.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FILE_BYTES = 1 << 16 };

static char text[FILE_BYTES];

/* The whole file, as far as there is room; false where it is not there. */
static bool read_text(int file) {
    size_t length = 0;
    ssize_t more = 0;
    while (length < FILE_BYTES - 1 &&
           (more = pread(file, text + length, FILE_BYTES - 1 - length, (off_t)length)) > 0) {
        length += (size_t)more;
    }
    text[length] = '\0';
    return length > 0;
}

/* Past the label of the first line from `place` on that has it; NULL: there is none. */
static const char *find_line(const char *place, const char *label) {
    const size_t length = strlen(label);
    while (place) {
        place += strspn(place, " ");
        if (strncmp(place, label, length) == 0 && place[length] == ':') {
            return place + length + 1;
        }
        const char *end = strchr(place, '\n');
        place = end ? end + 1 : NULL;
    }
    return NULL;
}

/* The word that comes next in its line; of no length at the end. */
static size_t next_word(const char **place) {
    *place += strspn(*place, " ");
    return strcspn(*place, " \n");
}

/* Each protocol has a line of names and then one of values. */
bool proc_net_count(int snmp, const char *protocol, const char *name, uint64_t *value) {
    const char *names = read_text(snmp) ? find_line(text, protocol) : NULL;
    const char *values = names ? find_line(names, protocol) : NULL;
    if (!values) {
        return false;
    }
    for (size_t length; (length = next_word(&names)) > 0; names += length) {
        const size_t digits = next_word(&values);
        if (length == strlen(name) && strncmp(names, name, length) == 0) {
            return sscanf(values, "%" SCNu64, value) == 1;
        }
        values += digits;
    }
    return false;
}

/* Received: bytes, packets, errors, drops, and four more; then sent, in the same order. */
bool proc_net_traffic(int dev, const char *interface, struct proc_net_traffic *traffic) {
    const char *numbers = read_text(dev) ? find_line(text, interface) : NULL;
    return numbers &&
           sscanf(numbers,
                  "%*u %" SCNu64 " %*u %" SCNu64 " %*u %*u %*u %*u %*u %" SCNu64 " %*u %" SCNu64,
                  &traffic->received_packets, &traffic->received_drops, &traffic->sent_packets,
                  &traffic->sent_drops) == 4;
}
