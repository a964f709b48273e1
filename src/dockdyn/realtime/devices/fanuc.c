#include "fanuc.h"

#include <string.h>

/* Places of fields. */
enum { TYPE = 0, VERSION = 4, SEQUENCE = 8, STATE = 12, TIME = 20, FRAME = 24, JOINTS = 60 };
enum { LAST = 12, STYLE = 18, TARGET = 28 };
enum { OF_STATUS = 0, OF_COMMAND = 1, CARTESIAN = 0 };
enum { WAITING = 1, SYSTEM_READY = 4 }; /* bits of the state */

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

size_t fanuc_encode_request(struct fanuc *fanuc, uint32_t type, uint8_t *out, size_t room) {
    if (room < FANUC_REQUEST)
        return 0;
    write_head(fanuc, type, out);
    if (type == FANUC_START) {
        fanuc->sequence.seen = 0;
        fanuc->commanded = 0;
    }
    return FANUC_REQUEST;
}

static int read_status(struct fanuc *fanuc, const uint8_t *packet, size_t size, dd_pose *pose) {
    double joints[8], position[3], rotation_vector[3];
    int error;
    if (size != FANUC_STATUS)
        return DD_WRONG_LENGTH;
    for (int i = 0; i < 8; i++)
        joints[i] = read_single(packet + JOINTS + 4 * i) * DD_DEGREE;
    if ((error = check_head(fanuc, packet, OF_STATUS)) ||
        (error = read_frame(packet + FRAME, position, rotation_vector)) || (error = dd_within_range(joints, 8)) ||
        (error = dd_advance(&fanuc->sequence, dd_read_unsigned(packet + SEQUENCE, 4, 1), 32, 1, &fanuc->counts)))
        return error;
    memcpy(pose->position, position, sizeof position);
    memcpy(pose->rotation_vector, rotation_vector, sizeof rotation_vector);
    memcpy(pose->joints, joints, sizeof joints);
    pose->sequence = fanuc->sequence.last;
    pose->status = (packet[STATE] & WAITING ? 0 : FANUC_NOT_WAITING) |
                   (packet[STATE] & SYSTEM_READY ? 0 : FANUC_NOT_READY);
    return DD_OK;
}

int fanuc_decode_robot(struct fanuc *fanuc, const uint8_t *packet, size_t size, dd_pose *pose) {
    return dd_count(&fanuc->counts, read_status(fanuc, packet, size, pose));
}

/* The first command has the sequence of the status that came last, each further one the next. */
size_t fanuc_encode_command(struct fanuc *fanuc, const dd_command *command, int last, uint8_t *out, size_t room) {
    const uint32_t sequence = fanuc->commanded ? fanuc->command : (uint32_t)fanuc->sequence.last;
    if (room < FANUC_COMMAND || !fanuc->sequence.seen)
        return 0;
    memset(out, 0, FANUC_COMMAND);
    if (write_frame(out + TARGET, command->position, command->rotation_vector))
        return 0;
    write_head(fanuc, OF_COMMAND, out);
    dd_write_unsigned(out + SEQUENCE, 4, 1, sequence);
    out[LAST] = last != 0;
    out[STYLE] = CARTESIAN;
    fanuc->command = sequence + 1;
    fanuc->commanded = 1;
    return FANUC_COMMAND;
}

/* Of the robot's side. */
int fanuc_decode_request(struct fanuc *fanuc, const uint8_t *packet, size_t size, uint64_t *type) {
    if (size != FANUC_REQUEST)
        return dd_count(&fanuc->counts, DD_WRONG_LENGTH);
    if (check_head(fanuc, packet, FANUC_START) && check_head(fanuc, packet, FANUC_STOP))
        return dd_count(&fanuc->counts, DD_WRONG_HEADER);
    *type = dd_read_unsigned(packet + TYPE, 4, 1);
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
