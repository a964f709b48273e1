/* The plain datagrams: the numbers themselves, little endian; in Python `datagrams.py`. */
#include "exchange.h"

#include <string.h>

enum { READING = 64, POSE = 128, COMMAND = 56 };
static const char START[8] = "ddstart";

static uint64_t number_at(const uint8_t *at, int bytes) {
    uint64_t value = 0;
    for (int i = bytes - 1; i >= 0; i--) value = value << 8 | at[i];
    return value;
}

static void doubles_at(const uint8_t *at, double *values, int count) {
    for (int i = 0; i < count; i++) {
        const uint64_t bits = number_at(at + 8 * i, 8);
        memcpy(values + i, &bits, 8);
    }
}

static void put(uint8_t *at, uint64_t value) {
    for (int i = 0; i < 8; i++) at[i] = (uint8_t)(value >> (8 * i));
}

static void put_doubles(uint8_t *at, const double *values, int count) {
    for (int i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, values + i, 8);
        put(at + 8 * i, bits);
    }
}

size_t sensor_request(uint8_t *packet, size_t room) {
    if (room < sizeof START) return 0;
    memcpy(packet, START, sizeof START);
    return sizeof START;
}

int sensor_decode(const uint8_t *packet, size_t size, dd_reading *reading) {
    if (size != READING) return -1;
    doubles_at(packet, reading->force, 3);
    doubles_at(packet + 24, reading->torque, 3);
    reading->sequence = number_at(packet + 48, 8);
    reading->status = (uint32_t)number_at(packet + 56, 4);
    return 0;
}

int robot_decode(const uint8_t *packet, size_t size, dd_pose *pose) {
    if (size != POSE) return -1;
    doubles_at(packet, pose->position, 3);
    doubles_at(packet + 24, pose->rotation_vector, 3);
    doubles_at(packet + 48, pose->joints, 8);
    pose->sequence = number_at(packet + 112, 8);
    pose->status = (uint32_t)number_at(packet + 120, 4);
    return 0;
}

size_t robot_encode(const dd_command *command, uint64_t sequence, uint8_t *packet, size_t room) {
    if (room < COMMAND) return 0;
    put_doubles(packet, command->position, 3);
    put_doubles(packet + 24, command->rotation_vector, 3);
    put(packet + 48, sequence);
    return COMMAND;
}
