/* The codecs behind one small protocol, for a loop that serves any of them, with the codec's struct as `device`. A device whose
 * struct is `struct x` has its calls as `x_sensor` or `x_robot`. */
#ifndef DOCKDYN_CALLS_H
#define DOCKDYN_CALLS_H

#include "device.h"

enum { DD_LONGEST = 2048 }; /* bytes of any packet */

typedef struct dd_sensor_calls {
    size_t (*start)(void *device, uint8_t *out, size_t room); /* what asks for readings; zero where nothing does */
    size_t (*stop)(void *device, uint8_t *out, size_t room);
    int (*decode)(void *device, const uint8_t *packet, size_t size, dd_reading *);
    const dd_counts *(*counts)(const void *device);
} dd_sensor_calls;

typedef struct dd_robot_calls {
    size_t (*start)(void *device, uint8_t *out, size_t room); /* what asks for poses; zero where nothing does */
    size_t (*stop)(void *device, uint8_t *out, size_t room);
    int (*decode)(void *device, const uint8_t *packet, size_t size, dd_pose *);
    size_t (*encode)(void *device, const dd_command *, uint64_t milliseconds, int last, uint8_t *out, size_t room);
    const dd_counts *(*counts)(const void *device);
    int (*cut)(const uint8_t *bytes, size_t size, size_t *package); /* of a stream: finds its packets; else NULL */
    size_t (*fill)(void *device, const dd_command *, uint8_t *out, size_t room); /* one that must go out before a command, in
                                         place of one that was missed; zero where none is left; NULL of robots without such */
} dd_robot_calls;

size_t dd_write_nothing(void *device, uint8_t *out, size_t room); /* of a device that sends by itself */

#endif
