#include "rtde.h"

#include <math.h>
#include <string.h>

/* Places in the content of a package: time, pose, joints, force and torque, bits of the robot and of its safety. */
enum { TIME = 0, POSE = 8, JOINTS = 56, WRENCH = 104, ROBOT_BITS = 152, SAFETY_BITS = 156 };
enum { DATA = 'U', TEXT = 'M', MODE_POSE = 5 };
enum { POWERED = 1, PROGRAM_RUNS = 2, NORMAL = 1 };

static const double per_unit = 1e6; /* of the numbers of commands: 1 µm, 1 µrad */

int rtde_find_package(const uint8_t *bytes, size_t size, size_t *package) {
    *package = 0;
    if (size < 2)
        return DD_OK;
    if (dd_read_unsigned(bytes, 2, 1) < RTDE_HEAD)
        return DD_WRONG_LENGTH;
    if (dd_read_unsigned(bytes, 2, 1) <= size)
        *package = (size_t)dd_read_unsigned(bytes, 2, 1);
    return DD_OK;
}

static void read_doubles(const uint8_t *at, double *values, int count) {
    for (int i = 0; i < count; i++)
        values[i] = dd_double(dd_read_unsigned(at + 8 * i, 8, 1));
}

static void write_doubles(uint8_t *at, const double *values, int count) {
    for (int i = 0; i < count; i++)
        dd_write_unsigned(at + 8 * i, 8, 1, dd_bits_of_double(values[i]));
}

static size_t head_size(const struct rtde *rtde) {
    return rtde->version == 1 ? RTDE_HEAD : RTDE_HEAD + 1;
}

/* Number the packages by the controller's cycle that they tell: the first by it, each other one by how many periods it is from
 * there, to the nearest. So none is taken before its time, at whichever rate the robot sends. */
static int follow(struct rtde *rtde, double time) {
    const uint64_t cycle = (uint64_t)rint(time * rtde->rate), period = (uint64_t)rtde->cycles;
    const uint64_t first = rtde->sequence.seen ? rtde->first : cycle;
    int error;
    if (cycle < first)
        return DD_STALE;
    error = dd_advance(&rtde->sequence, first / period + (2 * (cycle - first) + period) / (2 * period), 64, 1, &rtde->counts);
    if (!error)
        rtde->first = first;
    return error;
}

static int read_data(struct rtde *rtde, const uint8_t *packet, size_t size, dd_pose *pose, dd_reading *reading) {
    const uint8_t *const content = packet + head_size(rtde);
    double time, values[18];
    uint64_t robot, safety;
    int error;
    if (size >= RTDE_HEAD && dd_read_unsigned(packet, 2, 1) == size && packet[2] == TEXT)
        return DD_OTHER_MESSAGE;
    if (size != head_size(rtde) + RTDE_CONTENT || dd_read_unsigned(packet, 2, 1) != size)
        return DD_WRONG_LENGTH;
    if (packet[2] != DATA || (rtde->version != 1 && packet[3] != rtde->recipe))
        return DD_WRONG_HEADER;
    read_doubles(content + TIME, &time, 1);
    read_doubles(content + POSE, values, 18);
    if ((error = dd_within_range(&time, 1)) || (error = dd_within_range(values, 18)))
        return error;
    if (time < 0)
        return DD_OUT_OF_RANGE;
    if ((error = follow(rtde, time)))
        return error;
    robot = dd_read_unsigned(content + ROBOT_BITS, 4, 1);
    safety = dd_read_unsigned(content + SAFETY_BITS, 4, 1);
    memcpy(pose->position, values, sizeof pose->position);
    memcpy(pose->rotation_vector, values + 3, sizeof pose->rotation_vector);
    memcpy(pose->joints, values + 6, sizeof(double[6]));
    memcpy(reading->force, values + 12, sizeof reading->force);
    memcpy(reading->torque, values + 15, sizeof reading->torque);
    pose->sequence = reading->sequence = rtde->sequence.last;
    pose->status = (robot & POWERED ? 0 : RTDE_NOT_POWERED) | (robot & PROGRAM_RUNS ? 0 : RTDE_NO_PROGRAM) |
                   (uint32_t)(safety & RTDE_UNSAFE);
    reading->status = pose->status;
    return DD_OK;
}

int rtde_decode_data(struct rtde *rtde, const uint8_t *packet, size_t size, dd_pose *pose, dd_reading *reading) {
    return dd_count(&rtde->counts, read_data(rtde, packet, size, pose, reading));
}

size_t rtde_encode_command(struct rtde *rtde, const dd_command *command, uint8_t *out, size_t room) {
    if (room < RTDE_COMMAND)
        return 0;
    for (int i = 0; i < 6; i++) {
        const double value = i < 3 ? command->position[i] : command->rotation_vector[i - 3];
        const double units = rint(value * per_unit);
        if (!(units >= -2147483648.0 && units <= 2147483647.0))
            return 0;
        dd_write_unsigned(out + 4 + 4 * i, 4, 1, (uint64_t)(int64_t)units);
    }
    dd_write_unsigned(out, 4, 1, (uint64_t)rtde->timeout);
    dd_write_unsigned(out + 28, 4, 1, MODE_POSE);
    return RTDE_COMMAND;
}

/* Of the robot's side: a command and the time without another after which it stops. */
int rtde_decode_command(struct rtde *rtde, const uint8_t *packet, size_t size, dd_command *command, uint64_t *timeout) {
    int64_t after;
    if (size != RTDE_COMMAND)
        return dd_count(&rtde->counts, DD_WRONG_LENGTH);
    if (dd_read_unsigned(packet + 28, 4, 1) != MODE_POSE)
        return dd_count(&rtde->counts, DD_WRONG_HEADER);
    after = dd_signed(dd_read_unsigned(packet, 4, 1), 4);
    if (after < 0)
        return dd_count(&rtde->counts, DD_OUT_OF_RANGE);
    for (int i = 0; i < 3; i++) {
        command->position[i] = (double)dd_signed(dd_read_unsigned(packet + 4 + 4 * i, 4, 1), 4) / per_unit;
        command->rotation_vector[i] = (double)dd_signed(dd_read_unsigned(packet + 16 + 4 * i, 4, 1), 4) / per_unit;
    }
    *timeout = (uint64_t)after;
    return dd_count(&rtde->counts, DD_OK);
}

/* Of the robot's side. */
size_t rtde_encode_data(struct rtde *rtde, double time, const dd_pose *pose, const dd_reading *reading, uint8_t *out,
                        size_t room) {
    const size_t size = head_size(rtde) + RTDE_CONTENT;
    uint8_t *const content = out + head_size(rtde);
    if (room < size || dd_within_range(pose->position, 3) || dd_within_range(pose->rotation_vector, 3) ||
        dd_within_range(pose->joints, 6))
        return 0;
    dd_write_unsigned(out, 2, 1, size);
    out[2] = DATA;
    if (rtde->version != 1)
        out[3] = (uint8_t)rtde->recipe;
    write_doubles(content + TIME, &time, 1);
    write_doubles(content + POSE, pose->position, 3);
    write_doubles(content + POSE + 24, pose->rotation_vector, 3);
    write_doubles(content + JOINTS, pose->joints, 6);
    write_doubles(content + WRENCH, reading->force, 3);
    write_doubles(content + WRENCH + 24, reading->torque, 3);
    dd_write_unsigned(content + ROBOT_BITS, 4, 1,
                      (pose->status & RTDE_NOT_POWERED ? 0 : POWERED) |
                          (pose->status & RTDE_NO_PROGRAM ? 0 : PROGRAM_RUNS));
    dd_write_unsigned(content + SAFETY_BITS, 4, 1,
                      pose->status & RTDE_UNSAFE ? pose->status & RTDE_UNSAFE : NORMAL);
    return size;
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

const dd_robot_calls rtde_robot = {dd_write_nothing, dd_write_nothing, decode_rtde, encode_rtde, counts_rtde, rtde_find_package, NULL};
