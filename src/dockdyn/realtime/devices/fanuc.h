/* FANUC Stream Motion (J519): packets of fixed fields over UDP. Sources: docs/devices.md. */
#ifndef DOCKDYN_FANUC_H
#define DOCKDYN_FANUC_H

#include "device.h"

enum { FANUC_REQUEST = 8, FANUC_STATUS = 132, FANUC_COMMAND = 64 };
enum { FANUC_START = 0, FANUC_STOP = 2 };

/* Bits of a pose's status: what the robot does not tell to be so. */
enum { FANUC_NOT_WAITING = 1, FANUC_NOT_READY = 2 };

struct fanuc {
    int version;      /* of the protocol */
    uint32_t command; /* the sequence of the next command, once one was sent */
    int commanded;
    dd_sequence sequence;
    dd_counts counts;
};

size_t fanuc_encode_request(struct fanuc *, uint32_t type, uint8_t *out, size_t room);
int fanuc_decode_robot(struct fanuc *, const uint8_t *packet, size_t size, dd_pose *);
size_t fanuc_encode_command(struct fanuc *, const dd_command *, int last, uint8_t *out, size_t room);
int fanuc_decode_request(struct fanuc *, const uint8_t *packet, size_t size, uint64_t *type);
int fanuc_decode_command(struct fanuc *, const uint8_t *packet, size_t size, dd_command *, uint64_t *last);
size_t fanuc_encode_robot(struct fanuc *, const dd_pose *, uint32_t milliseconds, uint8_t *out, size_t room);

#endif
