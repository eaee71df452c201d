#include "trip.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "companion.h"

int trip_connect(struct trip *trip) {
    const int type = trip->protocol == PROTOCOL_TCP ? SOCK_STREAM : SOCK_DGRAM;
    const struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr = trip->here};
    const int near = socket(AF_INET, type | SOCK_CLOEXEC, 0);
    if (near < 0 || bind(near, (const struct sockaddr *)&here, sizeof here) != 0 ||
        connect(near, (const struct sockaddr *)&trip->there, sizeof trip->there) != 0) {
        const char *why = strerror(errno);
        companions_watch_dying();
        refuse("the far side cannot be reached (%s); check addresses, ports and limits", why);
    }
    trip->sockets_opened++;
    return near;
}
