/* Packets whose fields a scenario states: types, places, byte order, units. */
#ifndef DOCKDYN_RAW_UDP_H
#define DOCKDYN_RAW_UDP_H

#include "calls.h"

enum { RAW_FIELDS = 32 };

/* What a field tells; `RAW_ROTATION` begins three or four numbers, as the layout's rotation says. */
enum raw_slot {
    RAW_FORCE = 0,
    RAW_TORQUE = 3,
    RAW_POSITION = 6,
    RAW_ROTATION = 9,
    RAW_JOINTS = 13,
    RAW_SEQUENCE = 21,
    RAW_STATUS = 22,
    RAW_CONSTANT = 23,
    RAW_SLOTS = 24
};

enum raw_rotation { RAW_VECTOR = 0, RAW_QUATERNION = 1, RAW_ANGLES = 2 };

struct raw_field {
    int slot;
    int type;     /* b B h H i I q Q f d: a whole number of 1, 2, 4, 8 bytes, signed or, in capitals, not; 4 or 8 of a float */
    int at;       /* of its first byte in the packet */
    double scale; /* SI = number * scale + zero */
    double zero;
    int64_t value; /* of a constant */
};

struct raw_layout {
    int length; /* bytes */
    int big;    /* the first byte of a number is the highest */
    int rotation;
    int fields;
    struct raw_field field[RAW_FIELDS];
};

struct raw_udp {
    struct raw_layout received, sent;
    uint64_t commands; /* sent so far, which number the next */
    dd_sequence sequence;
    dd_counts counts;
};

int raw_udp_decode_reading(struct raw_udp *, const uint8_t *packet, size_t size, dd_reading *);
int raw_udp_decode_pose(struct raw_udp *, const uint8_t *packet, size_t size, dd_pose *);
int raw_udp_decode_command(struct raw_udp *, const uint8_t *packet, size_t size, dd_command *, uint64_t *sequence);
size_t raw_udp_encode_reading(struct raw_udp *, const dd_reading *, uint8_t *out, size_t room);
size_t raw_udp_encode_pose(struct raw_udp *, const dd_pose *, uint8_t *out, size_t room);
size_t raw_udp_encode_command(struct raw_udp *, const dd_command *, uint64_t sequence, uint8_t *out, size_t room);

extern const dd_sensor_calls raw_udp_sensor;
extern const dd_robot_calls raw_udp_robot;

#endif
