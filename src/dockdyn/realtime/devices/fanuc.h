/* FANUC Stream Motion (J519): packets of fixed fields over UDP. Sources: docs/devices.md. */
#ifndef DOCKDYN_FANUC_H
#define DOCKDYN_FANUC_H

#include "calls.h"

enum { FANUC_REQUEST = 8, FANUC_CAPABILITY_REQUEST = 28, FANUC_STATUS = 132, FANUC_COMMAND = 64, FANUC_TARGET = 36 };
enum { FANUC_START = 0, FANUC_STOP = 2, FANUC_VERSION = 6, FANUC_CAPABILITY = 7 };
enum { FANUC_STACK = 10 }; /* commands that a controller keeps at most */

/* Bits of a pose's status: what the robot does not tell to be so. */
enum { FANUC_NOT_WAITING = 1, FANUC_NOT_READY = 2 };

struct fanuc {
    int version;  /* of the protocol */
    int cycle;    /* ms that the robot must have; zero: any */
    int lead;     /* commands that are sent in advance */
    int asked;    /* requests so far */
    int blocked;  /* bits of the answers that forbid a start */
    uint32_t time; /* ms, of the last status */
    int low;      /* statuses in which the robot, told to move, did not wait for commands */
    uint32_t command; /* the sequence of the next command, once one was sent */
    int commanded, moved; /* whether one was sent, and the last one differs from that before */
    uint8_t target[FANUC_TARGET];  /* of the last command */
    uint8_t extended[12]; /* E1 to E3 before the first command */
    dd_sequence sequence;
    dd_counts counts;
};

void fanuc_forget(struct fanuc *); /* a connection: the next packet is the first */
size_t fanuc_encode_request(struct fanuc *, uint32_t type, uint8_t *out, size_t room);

/* What is to be asked next, in turn: version and capability where the version of the protocol has them, then the start. Zero in
 * place of a start that the robot's answers forbid. */
size_t fanuc_encode_next_request(struct fanuc *, uint8_t *out, size_t room);
int fanuc_decode_robot(struct fanuc *, const uint8_t *packet, size_t size, dd_pose *);

/* A command that must go out before the one that is wanted: the last one again, in place of one that was missed; before the first
 * one, so many as shall be ahead. Zero where none is left. */
size_t fanuc_encode_fill(struct fanuc *, const dd_command *, uint8_t *out, size_t room);
size_t fanuc_encode_command(struct fanuc *, const dd_command *, int last, uint8_t *out, size_t room);
int fanuc_decode_request(struct fanuc *, const uint8_t *packet, size_t size, uint64_t *type);
int fanuc_decode_command(struct fanuc *, const uint8_t *packet, size_t size, dd_command *, uint64_t *last);
size_t fanuc_encode_robot(struct fanuc *, const dd_pose *, uint32_t milliseconds, uint8_t *out, size_t room);

extern const dd_robot_calls fanuc_robot;

#endif
