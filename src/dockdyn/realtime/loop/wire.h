/* The way to a device: datagrams, or the bytes of connections, cut into packets. */
#ifndef DOCKDYN_WIRE_H
#define DOCKDYN_WIRE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { WIRE_PACKET = 2048 }; /* bytes of any packet */

typedef int (*wire_cut)(const uint8_t *bytes, size_t size, size_t *package);

typedef struct wire {
    int in, out;    /* descriptors; negative: closed */
    bool asked;     /* the device is asked for packets, and its place is stated */
    bool known;     /* who it is: who is asked, or else who has spoken first */
    bool accepted;  /* it has spoken: others are not heard any more */
    struct sockaddr_in place, sender;
    wire_cut cut;   /* of connections: finds the packets in what came */
    uint8_t rest[2 * WIRE_PACKET]; /* of connections: what has come and is not taken */
    size_t kept;
    int64_t emptied; /* ns, CLOCK_MONOTONIC: when no packet waited any more */
    int64_t foreign; /* datagrams from elsewhere */
} wire;

/* As words say: `ask:HOST:PORT`, the device is there; `hear:HOST:PORT`, it speaks to this computer; `use:IN:OUT`, connections
 * that are open. False, with errno, where that cannot be. */
bool wire_open(wire *, const char *words, wire_cut cut);

/* One packet that waits: its size, or negative. `arrived` is when the kernel had it, of connections when it is taken (ns,
 * CLOCK_MONOTONIC). `left` is how many packets may still be taken, those from elsewhere included. */
ssize_t wire_take(wire *, uint8_t packet[WIRE_PACKET], int64_t *arrived, int *left);

/* The sender of the last packet is the device: from now on it is heard alone. */
void wire_accept(wire *);

/* False where it could not be sent. */
bool wire_send(wire *, const uint8_t *packet, size_t size);

#endif
