#define _GNU_SOURCE
#include "wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const int64_t second = 1000000000;

static int64_t now(clockid_t clock) {
    struct timespec moment;
    clock_gettime(clock, &moment);
    return moment.tv_sec * second + moment.tv_nsec;
}

bool wire_open(wire *way, const char *words, wire_cut cut) {
    char host[64];
    int port;
    const int on = 1;
    *way = (wire){.in = -1, .out = -1, .cut = cut, .emptied = now(CLOCK_MONOTONIC)};
    errno = EINVAL;
    if (sscanf(words, "use:%d:%d", &way->in, &way->out) == 2) {
        way->known = true;
        return !fcntl(way->in, F_SETFL, O_NONBLOCK) && !fcntl(way->out, F_SETFL, O_NONBLOCK);
    }
    way->asked = way->known = sscanf(words, "ask:%63[0-9.]:%d", host, &port) == 2;
    if (!way->asked && sscanf(words, "hear:%63[0-9.]:%d", host, &port) != 2) return false;
    way->place.sin_family = AF_INET;
    way->place.sin_port = htons((uint16_t)port);
    way->in = way->out = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    if (way->in < 0 || inet_pton(AF_INET, host, &way->place.sin_addr) != 1) return false;
    setsockopt(way->in, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    return way->asked || !bind(way->in, (struct sockaddr *)&way->place, sizeof way->place);
}

static ssize_t take_datagram(wire *way, uint8_t *packet, int64_t *arrived) {
    char control[256];
    struct iovec part = {.iov_base = packet, .iov_len = WIRE_PACKET};
    struct msghdr message = {.msg_name = &way->sender, .msg_namelen = sizeof way->sender, .msg_iov = &part,
                             .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    const ssize_t size = recvmsg(way->in, &message, MSG_DONTWAIT);
    *arrived = now(CLOCK_MONOTONIC);
    if (size < 0) {
        way->emptied = *arrived;
        return size;
    }
    for (struct cmsghdr *one = CMSG_FIRSTHDR(&message); one; one = CMSG_NXTHDR(&message, one)) {
        if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_TIMESTAMPNS) continue;
        struct timespec moment;
        memcpy(&moment, CMSG_DATA(one), sizeof moment);
        const int64_t age = now(CLOCK_REALTIME) - (moment.tv_sec * second + moment.tv_nsec);
        const int64_t longest = *arrived - way->emptied; /* none waited then; a clock that was set says otherwise */
        *arrived -= age < 0 ? 0 : age > longest ? longest : age;
        break;
    }
    return size;
}

/* The packet that the kept bytes begin with; what is no stream of packets cannot be read on, and is closed. */
static ssize_t cut_off(wire *way, uint8_t *packet) {
    size_t size;
    if (way->cut(way->rest, way->kept, &size) || size > WIRE_PACKET || (!size && way->kept == sizeof way->rest)) {
        way->in = -1;
        return -1;
    }
    if (!size) return -1;
    memcpy(packet, way->rest, size);
    way->kept -= size;
    memmove(way->rest, way->rest + size, way->kept);
    return (ssize_t)size;
}

static ssize_t take_of_stream(wire *way, uint8_t *packet, int64_t *arrived) {
    ssize_t size = cut_off(way, packet);
    while (size < 0 && way->in >= 0) {
        const ssize_t more = recv(way->in, way->rest + way->kept, sizeof way->rest - way->kept, MSG_DONTWAIT);
        if (more < 0 && (errno == EAGAIN || errno == EINTR)) break;
        if (more <= 0) way->in = -1; /* the other end has closed it */
        else {
            way->kept += (size_t)more;
            size = cut_off(way, packet);
        }
    }
    *arrived = now(CLOCK_MONOTONIC);
    return size;
}

static bool same(const struct sockaddr_in *one, const struct sockaddr_in *other) {
    return one->sin_addr.s_addr == other->sin_addr.s_addr && one->sin_port == other->sin_port;
}

ssize_t wire_take(wire *way, uint8_t packet[WIRE_PACKET], int64_t *arrived, int *left) {
    for (; way->in >= 0 && *left > 0; way->foreign++) {
        --*left;
        if (way->cut) return take_of_stream(way, packet, arrived);
        const ssize_t size = take_datagram(way, packet, arrived);
        if (size < 0 || !way->known || same(&way->sender, &way->place)) return size;
    }
    return -1;
}

/* Let the kernel drop what others send before it takes the room of what the device sends: the source address in the header of
 * IP, the source port in that of UDP. Where the kernel does not, `wire_take` leaves it out, packet by packet. */
static void hear_alone(wire *way) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)SKF_NET_OFF + 12),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ntohl(way->place.sin_addr.s_addr), 0, 3),
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ntohs(way->place.sin_port), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    const struct sock_fprog filter = {.len = sizeof steps / sizeof *steps, .filter = steps};
    setsockopt(way->in, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
}

void wire_accept(wire *way) {
    if (way->accepted) return;
    way->known = way->accepted = true;
    if (way->cut) return;
    way->place = way->sender;
    hear_alone(way);
}

bool wire_send(wire *way, const uint8_t *packet, size_t size) {
    if (way->cut) return send(way->out, packet, size, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)size;
    return sendto(way->out, packet, size, 0, (struct sockaddr *)&way->place, sizeof way->place) == (ssize_t)size;
}
