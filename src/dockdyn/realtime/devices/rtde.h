/* Universal Robots: real-time data exchange (RTDE) over TCP, and the reverse interface for commands. Sources: docs/devices.md.
 *
 * Here is what a cycle needs. Versions and recipes are agreed on before, in Python.
 */
#ifndef DOCKDYN_RTDE_H
#define DOCKDYN_RTDE_H

#include "calls.h"

enum { RTDE_HEAD = 3, RTDE_CONTENT = 160, RTDE_COMMAND = 32 };

/* Bits of a pose's status: 1 and 2 are what the robot does not tell to be so, those from 4 on are its safety bits. */
enum { RTDE_NOT_POWERED = 1, RTDE_NO_PROGRAM = 2, RTDE_UNSAFE = 0xffc };

struct rtde {
    int version;      /* of the protocol, 1 or 2 */
    int cycles;       /* of the controller from package to package */
    int timeout;      /* ms without a command after which the robot stops */
    int recipe;       /* that the robot answered with, in version 2 */
    int rate;         /* Hz, of the controller's cycles */
    uint64_t first;   /* the cycle of the first package */
    dd_sequence sequence; /* of packages */
    dd_counts counts;
};

/* The size of the package that the bytes of a stream begin with, zero where more must come; DD_WRONG_LENGTH for a stream that is
 * none, which cannot be read on. */
int rtde_find_package(const uint8_t *bytes, size_t size, size_t *package);

int rtde_decode_data(struct rtde *, const uint8_t *packet, size_t size, dd_pose *, dd_reading *);
size_t rtde_encode_command(struct rtde *, const dd_command *, uint8_t *out, size_t room);
int rtde_decode_command(struct rtde *, const uint8_t *packet, size_t size, dd_command *, uint64_t *timeout);
size_t rtde_encode_data(struct rtde *, double time, const dd_pose *, const dd_reading *, uint8_t *out, size_t room);

extern const dd_robot_calls rtde_robot;

#endif
