/* What the loop of a rig exchanges with its devices, in SI units, and what the file of a device answers. */
#ifndef DOCKDYN_EXCHANGE_H
#define DOCKDYN_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

#ifndef DOCKDYN_DEVICE_H
typedef struct dd_reading { /* of a force sensor; a status of zero is healthy */
    double force[3];  /* N */
    double torque[3]; /* N m */
    uint64_t sequence;
    uint32_t status;
} dd_reading;

typedef struct dd_pose { /* of what the robot carries; a status of zero is healthy */
    double position[3];        /* m */
    double rotation_vector[3]; /* rad */
    double joints[8];
    uint64_t sequence;
    uint32_t status;
} dd_pose;

typedef struct dd_command { /* where it shall be */
    double position[3];        /* m */
    double rotation_vector[3]; /* rad */
} dd_command;
#endif

/* Of the sensor: what asks it to send, zero bytes where it sends by itself; and a packet, zero where it is good. */
size_t sensor_request(uint8_t *packet, size_t room);
int sensor_decode(const uint8_t *packet, size_t size, dd_reading *reading);

/* Of the robot: a packet, zero where it is good; and the answer to the last good one. */
int robot_decode(const uint8_t *packet, size_t size, dd_pose *pose);
size_t robot_encode(const dd_command *command, uint64_t sequence, uint8_t *packet, size_t room);

#endif
