#include "fanuc.h"

#include <string.h>

/* Places of fields. */
enum { TYPE = 0, VERSION = 4, SEQUENCE = 8, STATE = 12, TIME = 20, FRAME = 24, EXTENDED = 48, JOINTS = 60 };
enum { LAST = 12, STYLE = 18, TARGET = 28 };
enum { OF_STATUS = 0, OF_COMMAND = 1, CARTESIAN = 0 };
enum { WAITING = 1, SYSTEM_READY = 4 }; /* bits of the state */
enum { CYCLE = 12, NEWEST = 3, GRACE = FANUC_STACK };

static void write_head(const struct fanuc *fanuc, uint32_t type, uint8_t *out) {
    dd_write_unsigned(out + TYPE, 4, 1, type);
    dd_write_unsigned(out + VERSION, 4, 1, (uint64_t)fanuc->version);
}

static int check_head(const struct fanuc *fanuc, const uint8_t *packet, uint32_t type) {
    const int right = dd_read_unsigned(packet + TYPE, 4, 1) == type &&
                      dd_read_unsigned(packet + VERSION, 4, 1) == (uint64_t)fanuc->version;
    return right ? DD_OK : DD_WRONG_HEADER;
}

static double read_single(const uint8_t *at) {
    return dd_single((uint32_t)dd_read_unsigned(at, 4, 1));
}

static void write_single(uint8_t *at, double value) {
    dd_write_unsigned(at, 4, 1, dd_bits_of_single((float)value));
}

/* Read X Y Z in mm and W P R in degrees, which turn about x, y, z: R about z first, then P about y', then W about x''. */
static int read_frame(const uint8_t *at, double position[3], double rotation_vector[3]) {
    double lengths[3], angles[3], quaternion[4];
    int error;
    for (int i = 0; i < 3; i++) {
        lengths[i] = read_single(at + 4 * i) / 1000.0;
        angles[i] = read_single(at + 12 + 4 * (2 - i)) * DD_DEGREE;
    }
    if ((error = dd_within_range(lengths, 3)) || (error = dd_within_range(angles, 3)))
        return error;
    dd_quaternion_of_angles(angles, quaternion);
    memcpy(position, lengths, sizeof lengths);
    dd_vector_of_quaternion(quaternion, rotation_vector);
    return DD_OK;
}

static int write_frame(uint8_t *at, const double position[3], const double rotation_vector[3]) {
    double quaternion[4], angles[3];
    if (dd_within_range(position, 3) || dd_within_range(rotation_vector, 3))
        return DD_OUT_OF_RANGE;
    dd_quaternion_of_vector(rotation_vector, quaternion);
    dd_angles_of_quaternion(quaternion, angles);
    for (int i = 0; i < 3; i++) {
        write_single(at + 4 * i, position[i] * 1000.0);
        write_single(at + 12 + 4 * (2 - i), angles[i] / DD_DEGREE);
    }
    return DD_OK;
}

void fanuc_forget(struct fanuc *fanuc) {
    fanuc->sequence.seen = 0;
    fanuc->commanded = fanuc->moved = fanuc->low = 0;
    fanuc->time = 0;
    memset(fanuc->extended, 0, sizeof fanuc->extended);
}

size_t fanuc_encode_request(struct fanuc *fanuc, uint32_t type, uint8_t *out, size_t room) {
    const size_t size = type == FANUC_CAPABILITY ? FANUC_CAPABILITY_REQUEST : FANUC_REQUEST;
    if (room < size)
        return 0;
    memset(out, 0, size);
    write_head(fanuc, type, out);
    if (type == FANUC_CAPABILITY)
        dd_write_unsigned(out + SEQUENCE, 4, 1, 1);
    if (type == FANUC_START)
        fanuc_forget(fanuc);
    return size;
}

size_t fanuc_encode_next_request(struct fanuc *fanuc, uint8_t *out, size_t room) {
    static const uint32_t requests[NEWEST] = {FANUC_VERSION, FANUC_CAPABILITY, FANUC_START};
    const int turn = fanuc->asked++ % fanuc->version;
    const uint32_t type = turn == fanuc->version - 1 ? FANUC_START : requests[turn];
    return type == FANUC_START && fanuc->blocked ? 0 : fanuc_encode_request(fanuc, type, out, room);
}

static int answered(struct fanuc *fanuc, int request, int good, int error) {
    const int bit = 1 << request;
    fanuc->blocked = (fanuc->blocked & ~bit) | (good ? 0 : bit);
    return good ? DD_OTHER_MESSAGE : error;
}

/* Look whether the robot has the version and the cycle: DD_OK for what is no answer. */
static int read_answer(struct fanuc *fanuc, const uint8_t *packet, size_t size) {
    uint64_t type, cycle;
    if (size < FANUC_REQUEST)
        return DD_OK;
    type = dd_read_unsigned(packet + TYPE, 4, 1);
    if (type == FANUC_VERSION)
        return answered(fanuc, FANUC_VERSION, dd_read_unsigned(packet + VERSION, 4, 1) >= (uint64_t)fanuc->version,
                        DD_WRONG_HEADER);
    if (type != FANUC_CAPABILITY || size != FANUC_CAPABILITY_REQUEST)
        return DD_OK;
    cycle = dd_read_unsigned(packet + CYCLE, 4, 1);
    return answered(fanuc, FANUC_CAPABILITY, !fanuc->cycle || cycle == (uint64_t)fanuc->cycle, DD_OUT_OF_RANGE);
}

/* Refuse a status whose time stamp is not as many cycles after the one before as its sequence says. */
static int check_time(const struct fanuc *fanuc, const uint8_t *packet) {
    const uint32_t step = (uint32_t)dd_read_unsigned(packet + SEQUENCE, 4, 1) - (uint32_t)fanuc->sequence.last;
    const int64_t expected = (int64_t)step * fanuc->cycle;
    const uint32_t found = (uint32_t)dd_read_unsigned(packet + TIME, 4, 1) - fanuc->time;
    const int64_t off = (int64_t)found - expected;
    if (!fanuc->sequence.seen || !expected || step >= UINT32_C(1) << 31)
        return DD_OK;
    return 2 * (off < 0 ? -off : off) >= expected ? DD_OUT_OF_RANGE : DD_OK;
}

/* Whether the robot does not take commands. At rest it may say so: that counts only while it is told to move. */
static int waits_no_more(struct fanuc *fanuc, int waiting) {
    if (waiting || (fanuc->commanded && !fanuc->moved)) {
        fanuc->low = 0;
        return 0;
    }
    fanuc->low++;
    return !fanuc->commanded || fanuc->low > GRACE;
}

static int read_status(struct fanuc *fanuc, const uint8_t *packet, size_t size, dd_pose *pose) {
    double joints[8], position[3], rotation_vector[3], extended[3];
    uint64_t version;
    int error;
    if ((error = read_answer(fanuc, packet, size)))
        return error;
    if (size != FANUC_STATUS)
        return DD_WRONG_LENGTH;
    version = dd_read_unsigned(packet + VERSION, 4, 1);
    if (dd_read_unsigned(packet + TYPE, 4, 1) != OF_STATUS || version < 1 || version > NEWEST)
        return DD_WRONG_HEADER;
    for (int i = 0; i < 8; i++)
        joints[i] = read_single(packet + JOINTS + 4 * i) * DD_DEGREE;
    for (int i = 0; i < 3; i++)
        extended[i] = read_single(packet + EXTENDED + 4 * i);
    if ((error = read_frame(packet + FRAME, position, rotation_vector)) || (error = dd_within_range(joints, 8)) ||
        (error = dd_within_range(extended, 3)) || (error = check_time(fanuc, packet)) ||
        (error = dd_advance(&fanuc->sequence, dd_read_unsigned(packet + SEQUENCE, 4, 1), 32, 1, &fanuc->counts)))
        return error;
    fanuc->time = (uint32_t)dd_read_unsigned(packet + TIME, 4, 1);
    if (!fanuc->commanded)
        memcpy(fanuc->extended, packet + EXTENDED, sizeof fanuc->extended);
    memcpy(pose->position, position, sizeof position);
    memcpy(pose->rotation_vector, rotation_vector, sizeof rotation_vector);
    memcpy(pose->joints, joints, sizeof joints);
    pose->sequence = fanuc->sequence.last;
    pose->status = (waits_no_more(fanuc, packet[STATE] & WAITING) ? FANUC_NOT_WAITING : 0) |
                   (packet[STATE] & SYSTEM_READY ? 0 : FANUC_NOT_READY);
    return DD_OK;
}

int fanuc_decode_robot(struct fanuc *fanuc, const uint8_t *packet, size_t size, dd_pose *pose) {
    return dd_count(&fanuc->counts, read_status(fanuc, packet, size, pose));
}

/* The nine numbers of a command; extended axes stay where they were before the first one. */
static int write_target(const struct fanuc *fanuc, const dd_command *command, uint8_t target[FANUC_TARGET]) {
    memcpy(target + FANUC_TARGET - sizeof fanuc->extended, fanuc->extended, sizeof fanuc->extended);
    return write_frame(target, command->position, command->rotation_vector);
}

static size_t write_command(struct fanuc *fanuc, const uint8_t target[FANUC_TARGET], int last, uint8_t *out) {
    memset(out, 0, FANUC_COMMAND);
    write_head(fanuc, OF_COMMAND, out);
    dd_write_unsigned(out + SEQUENCE, 4, 1, fanuc->command);
    out[LAST] = last != 0;
    out[STYLE] = CARTESIAN;
    memcpy(out + TARGET, target, FANUC_TARGET);
    fanuc->moved = fanuc->commanded && memcmp(fanuc->target, target, FANUC_TARGET) != 0;
    memmove(fanuc->target, target, FANUC_TARGET);
    fanuc->command++;
    fanuc->commanded = 1;
    return FANUC_COMMAND;
}

size_t fanuc_encode_fill(struct fanuc *fanuc, const dd_command *command, uint8_t *out, size_t room) {
    const uint32_t last = (uint32_t)fanuc->sequence.last, now = fanuc->commanded ? fanuc->command : last;
    const uint32_t missing = last + (uint32_t)fanuc->lead - now;
    uint8_t target[FANUC_TARGET];
    if (room < FANUC_COMMAND || !fanuc->sequence.seen || !missing || missing >= UINT32_C(1) << 31)
        return 0;
    if (!fanuc->commanded && write_target(fanuc, command, target))
        return 0;
    fanuc->command = now + (missing > FANUC_STACK - 1 ? missing - (FANUC_STACK - 1) : 0);
    return write_command(fanuc, fanuc->commanded ? fanuc->target : target, 0, out);
}

/* The first command has the sequence of the status that came last, each further one the next. */
size_t fanuc_encode_command(struct fanuc *fanuc, const dd_command *command, int last, uint8_t *out, size_t room) {
    uint8_t target[FANUC_TARGET];
    if (room < FANUC_COMMAND || !fanuc->sequence.seen || write_target(fanuc, command, target))
        return 0;
    if (!fanuc->commanded)
        fanuc->command = (uint32_t)fanuc->sequence.last;
    return write_command(fanuc, target, last, out);
}

/* Of the robot's side. */
int fanuc_decode_request(struct fanuc *fanuc, const uint8_t *packet, size_t size, uint64_t *type) {
    uint64_t told;
    int right;
    if (size != FANUC_REQUEST && size != FANUC_CAPABILITY_REQUEST)
        return dd_count(&fanuc->counts, DD_WRONG_LENGTH);
    told = dd_read_unsigned(packet + TYPE, 4, 1);
    right = size == FANUC_REQUEST ? told == FANUC_START || told == FANUC_STOP || told == FANUC_VERSION
                                  : told == FANUC_CAPABILITY;
    if (!right || dd_read_unsigned(packet + VERSION, 4, 1) != (uint64_t)fanuc->version)
        return dd_count(&fanuc->counts, DD_WRONG_HEADER);
    *type = told;
    return dd_count(&fanuc->counts, DD_OK);
}

static int read_command(struct fanuc *fanuc, const uint8_t *packet, size_t size, dd_command *command) {
    dd_command found;
    int error;
    if (size != FANUC_COMMAND)
        return DD_WRONG_LENGTH;
    if (check_head(fanuc, packet, OF_COMMAND) || packet[STYLE] != CARTESIAN)
        return DD_WRONG_HEADER;
    if ((error = read_frame(packet + TARGET, found.position, found.rotation_vector)) ||
        (error = dd_advance(&fanuc->sequence, dd_read_unsigned(packet + SEQUENCE, 4, 1), 32, 1, &fanuc->counts)))
        return error;
    *command = found;
    return DD_OK;
}

int fanuc_decode_command(struct fanuc *fanuc, const uint8_t *packet, size_t size, dd_command *command, uint64_t *last) {
    const int error = read_command(fanuc, packet, size, command);
    if (!error)
        *last = packet[LAST];
    return dd_count(&fanuc->counts, error);
}

/* Of the robot's side; motor currents and the ninth axis are zero. */
size_t fanuc_encode_robot(struct fanuc *fanuc, const dd_pose *pose, uint32_t milliseconds, uint8_t *out, size_t room) {
    if (room < FANUC_STATUS || dd_within_range(pose->joints, 8))
        return 0;
    memset(out, 0, FANUC_STATUS);
    if (write_frame(out + FRAME, pose->position, pose->rotation_vector))
        return 0;
    write_head(fanuc, OF_STATUS, out);
    dd_write_unsigned(out + SEQUENCE, 4, 1, pose->sequence);
    out[STATE] = (uint8_t)((pose->status & FANUC_NOT_WAITING ? 0 : WAITING) |
                           (pose->status & FANUC_NOT_READY ? 0 : SYSTEM_READY));
    dd_write_unsigned(out + TIME, 4, 1, milliseconds);
    for (int i = 0; i < 8; i++)
        write_single(out + JOINTS + 4 * i, pose->joints[i] / DD_DEGREE);
    return FANUC_STATUS;
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

const dd_robot_calls fanuc_robot = {start_fanuc, stop_fanuc, decode_fanuc, encode_fanuc, counts_fanuc, NULL, fill_fanuc};
