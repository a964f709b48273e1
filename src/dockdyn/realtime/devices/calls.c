#include "calls.h"

#include "egm.h"
#include "fanuc.h"
#include "netft.h"
#include "raw_udp.h"
#include "rsi.h"
#include "rtde.h"

#include <string.h>

static size_t write_nothing(void *device, uint8_t *out, size_t room) {
    (void)device, (void)out, (void)room;
    return 0;
}

static size_t start_netft(void *device, uint8_t *out, size_t room) {
    return netft_encode_request(device, NETFT_REAL_TIME, 0, out, room);
}

static size_t stop_netft(void *device, uint8_t *out, size_t room) {
    return netft_encode_request(device, NETFT_STOP, 0, out, room);
}

static int decode_netft(void *device, const uint8_t *packet, size_t size, dd_reading *reading) {
    return netft_decode_record(device, packet, size, reading);
}

static const dd_counts *counts_netft(const void *device) {
    return &((const struct netft *)device)->counts;
}

static int decode_raw_reading(void *device, const uint8_t *packet, size_t size, dd_reading *reading) {
    return raw_udp_decode_reading(device, packet, size, reading);
}

static int decode_raw_pose(void *device, const uint8_t *packet, size_t size, dd_pose *pose) {
    return raw_udp_decode_pose(device, packet, size, pose);
}

static size_t encode_raw(void *device, const dd_command *command, uint64_t ms, int last, uint8_t *out,
                          size_t room) {
    struct raw_udp *const raw = device;
    const size_t size = raw_udp_encode_command(raw, command, raw->commands + 1, out, room);
    (void)ms, (void)last;
    raw->commands += size > 0;
    return size;
}

static const dd_counts *counts_raw(const void *device) {
    return &((const struct raw_udp *)device)->counts;
}

static int decode_rsi(void *device, const uint8_t *packet, size_t size, dd_pose *pose) {
    return rsi_decode_robot(device, packet, size, pose);
}

static size_t encode_rsi(void *device, const dd_command *command, uint64_t ms, int last, uint8_t *out,
                          size_t room) {
    (void)ms, (void)last;
    return rsi_encode_answer(device, command, out, room);
}

static const dd_counts *counts_rsi(const void *device) {
    return &((const struct rsi *)device)->counts;
}

static int decode_egm(void *device, const uint8_t *packet, size_t size, dd_pose *pose) {
    return egm_decode_robot(device, packet, size, pose);
}

static size_t encode_egm(void *device, const dd_command *command, uint64_t ms, int last, uint8_t *out,
                          size_t room) {
    (void)last;
    return egm_encode_command(device, command, (uint32_t)ms, out, room);
}

static const dd_counts *counts_egm(const void *device) {
    return &((const struct egm *)device)->counts;
}

static size_t start_fanuc(void *device, uint8_t *out, size_t room) {
    return fanuc_encode_next_request(device, out, room);
}

static size_t stop_fanuc(void *device, uint8_t *out, size_t room) {
    return fanuc_encode_request(device, FANUC_STOP, out, room);
}

static int decode_fanuc(void *device, const uint8_t *packet, size_t size, dd_pose *pose) {
    return fanuc_decode_robot(device, packet, size, pose);
}

static size_t encode_fanuc(void *device, const dd_command *command, uint64_t ms, int last, uint8_t *out,
                          size_t room) {
    (void)ms;
    return fanuc_encode_command(device, command, last, out, room);
}

static size_t fill_fanuc(void *device, const dd_command *command, uint8_t *out, size_t room) {
    return fanuc_encode_fill(device, command, out, room);
}

static const dd_counts *counts_fanuc(const void *device) {
    return &((const struct fanuc *)device)->counts;
}

static int decode_rtde(void *device, const uint8_t *packet, size_t size, dd_pose *pose) {
    dd_reading reading;
    return rtde_decode_data(device, packet, size, pose, &reading);
}

static size_t encode_rtde(void *device, const dd_command *command, uint64_t ms, int last, uint8_t *out,
                          size_t room) {
    (void)ms, (void)last;
    return rtde_encode_command(device, command, out, room);
}

static const dd_counts *counts_rtde(const void *device) {
    return &((const struct rtde *)device)->counts;
}

static const dd_sensor_calls sensors[] = {
    {"ati-netft", start_netft, stop_netft, decode_netft, counts_netft},
    {"raw-udp", write_nothing, write_nothing, decode_raw_reading, counts_raw},
};

static const dd_robot_calls robots[] = {
    {"kuka-rsi", write_nothing, write_nothing, decode_rsi, encode_rsi, counts_rsi, NULL, NULL},
    {"raw-udp", write_nothing, write_nothing, decode_raw_pose, encode_raw, counts_raw, NULL, NULL},
    {"abb-egm", write_nothing, write_nothing, decode_egm, encode_egm, counts_egm, NULL, NULL},
    {"fanuc-stream-motion", start_fanuc, stop_fanuc, decode_fanuc, encode_fanuc, counts_fanuc, NULL, fill_fanuc},
    {"ur-rtde", write_nothing, write_nothing, decode_rtde, encode_rtde, counts_rtde, rtde_find_package, NULL},
};

const dd_sensor_calls *dd_find_sensor(const char *name) {
    for (size_t i = 0; i < sizeof sensors / sizeof *sensors; i++)
        if (strcmp(sensors[i].name, name) == 0)
            return &sensors[i];
    return NULL;
}

const dd_robot_calls *dd_find_robot(const char *name) {
    for (size_t i = 0; i < sizeof robots / sizeof *robots; i++)
        if (strcmp(robots[i].name, name) == 0)
            return &robots[i];
    return NULL;
}
