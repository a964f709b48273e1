/* ABB Externally Guided Motion: protocol buffers over UDP, position guidance of poses. Sources: docs/devices.md. */
#ifndef DOCKDYN_EGM_H
#define DOCKDYN_EGM_H

#include "calls.h"

enum { EGM_LONGEST = 1472, EGM_DATA = 2, EGM_CORRECTION = 3 };

/* Bits of a pose's status: what the robot does not tell to be so. */
enum { EGM_MOTORS_NOT_ON = 1, EGM_NOT_RUNNING = 2, EGM_RAPID_NOT_RUNNING = 4 };

/* A bit that the codec sets: the robot has begun to count anew. */
enum { EGM_NEW_SESSION = 8 };

struct egm {
    uint32_t sent; /* answers, which number the next */
    uint32_t began; /* the robot's clock in the message numbered zero */
    int has_begun;
    dd_sequence sequence;
    dd_counts counts;
};

int egm_decode_robot(struct egm *, const uint8_t *packet, size_t size, dd_pose *);
size_t egm_encode_command(struct egm *, const dd_command *, uint32_t milliseconds, uint8_t *out, size_t room);
int egm_decode_command(struct egm *, const uint8_t *packet, size_t size, dd_command *, uint64_t *sequence);
size_t egm_encode_robot(struct egm *, const dd_pose *, uint32_t milliseconds, uint8_t *out, size_t room);

extern const dd_robot_calls egm_robot;

#endif
