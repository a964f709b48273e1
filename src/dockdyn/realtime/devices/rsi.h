/* KUKA.RobotSensorInterface: XML over UDP, the robot is master. Sources: docs/devices.md. */
#ifndef DOCKDYN_RSI_H
#define DOCKDYN_RSI_H

#include "calls.h"

enum { RSI_IPOC_DIGITS = 19 };

struct rsi {
    const char *sensor_type; /* of the answers, as the robot's configuration names it */
    const char *correction;  /* the element that has X Y Z A B C */
    int relative;            /* corrections add up (RSI_ON(#RELATIVE)) or are from the start (#ABSOLUTE) */
    int decimals;            /* of the numbers that are written */
    int period;              /* ms, by which IPOC grows */
    /* the pose that a correction is from, and what to echo */
    double position[3], quaternion[4];
    uint8_t echo[RSI_IPOC_DIGITS];
    size_t echo_size;
    uint64_t late; /* answers, as the robot counts them */
    dd_sequence ipoc;
    uint64_t clock; /* IPOC as it was told last */
    dd_counts counts;
};

void rsi_forget(struct rsi *);
int rsi_decode_robot(struct rsi *, const uint8_t *packet, size_t size, dd_pose *);
size_t rsi_encode_answer(struct rsi *, const dd_command *, uint8_t *out, size_t room);
int rsi_decode_answer(struct rsi *, const uint8_t *packet, size_t size, dd_command *correction, uint64_t *ipoc);
size_t rsi_encode_robot(struct rsi *, const dd_pose *actual, const dd_command *setpoint, uint8_t *out, size_t room);

extern const dd_robot_calls rsi_robot;

#endif
