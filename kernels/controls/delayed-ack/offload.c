#define _GNU_SOURCE
#include "offload.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cannot_run.h"

/* With it off, TCP's long segments are cut before the interface sees them. */
static struct ethtool_value ask(const char *interface, unsigned command, bool on) {
    struct ethtool_value value = {.cmd = command, .data = on};
    struct ifreq request = {0};
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", interface);
    request.ifr_data = (void *)&value;
    const int asked = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (asked < 0 || ioctl(asked, SIOCETHTOOL, &request) != 0) {
        cannot_run("segmentation of %s cannot be switched or asked for (%s); it takes "
                   "CAP_NET_ADMIN and an interface that has it",
                   interface, strerror(errno));
    }
    close(asked);
    return value;
}

void offload_set(const char *interface, bool on) {
    ask(interface, ETHTOOL_STSO, on);
    if (offload_is_set(interface) != on) {
        cannot_run("segmentation offload of %s stays %s; take another interface", interface,
                   on ? "off" : "on");
    }
}

bool offload_is_set(const char *interface) {
    return ask(interface, ETHTOOL_GTSO, false).data != 0;
}
