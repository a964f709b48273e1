#include "raw_udp.h"

#include <math.h>
#include <string.h>

struct content {
    double value[RAW_SLOTS];
    uint64_t sequence;
    uint32_t status;
};

static int bytes_of(int type) {
    switch (type) {
    case 'b':
    case 'B':
        return 1;
    case 'h':
    case 'H':
        return 2;
    case 'i':
    case 'I':
    case 'f':
        return 4;
    default:
        return 8;
    }
}

static int is_signed(int type) {
    return type == 'b' || type == 'h' || type == 'i' || type == 'q';
}

static double number(int type, uint64_t bits) {
    if (type == 'f')
        return dd_single((uint32_t)bits);
    if (type == 'd')
        return dd_double(bits);
    return is_signed(type) ? (double)dd_signed(bits, bytes_of(type)) : (double)bits;
}

/* The bits of a number in a field's type; DD_OUT_OF_RANGE where it does not fit. */
static int bits_of(int type, double value, uint64_t *bits) {
    const int bytes = bytes_of(type);
    const double whole = rint(value), largest = ldexp(1.0, 8 * bytes - is_signed(type));
    if (type == 'd') {
        *bits = dd_bits_of_double(value);
        return DD_OK;
    }
    if (type == 'f') {
        if (fabs(value) > 3.4e38)
            return DD_OUT_OF_RANGE;
        *bits = dd_bits_of_single((float)value);
        return DD_OK;
    }
    if (!(whole >= (is_signed(type) ? -largest : 0.0) && whole < largest))
        return DD_OUT_OF_RANGE;
    *bits = is_signed(type) ? (uint64_t)(int64_t)whole : (uint64_t)whole;
    return DD_OK;
}

static uint64_t masked(int type, uint64_t value) {
    const int bytes = bytes_of(type);
    return bytes == 8 ? value : value & ((UINT64_C(1) << 8 * bytes) - 1);
}

static int read_field(const struct raw_field *field, uint64_t bits, struct content *content) {
    if (field->slot == RAW_CONSTANT || field->slot == RAW_SEQUENCE)
        return DD_OK;
    if (field->slot == RAW_STATUS) {
        content->status = (uint32_t)bits;
        return DD_OK;
    }
    content->value[field->slot] = number(field->type, bits) * field->scale + field->zero;
    return dd_within_range(&content->value[field->slot], 1);
}

static int read_rotation(const struct raw_layout *layout, struct content *content) {
    double *const rotation = content->value + RAW_ROTATION;
    double quaternion[4];
    if (layout->rotation == RAW_VECTOR)
        return DD_OK;
    if (layout->rotation == RAW_QUATERNION) {
        const int error = dd_unit_quaternion(rotation, quaternion);
        if (error)
            return error;
    } else {
        dd_quaternion_of_angles(rotation, quaternion);
    }
    dd_vector_of_quaternion(quaternion, rotation);
    return DD_OK;
}

static int read_content(struct raw_udp *raw, const uint8_t *packet, size_t size, struct content *content) {
    const struct raw_layout *layout = &raw->received;
    const struct raw_field *const end = layout->field + layout->fields;
    int error;
    if (size != (size_t)layout->length)
        return DD_WRONG_LENGTH;
    for (const struct raw_field *field = layout->field; field < end; field++)
        if (field->slot == RAW_CONSTANT && dd_read_unsigned(packet + field->at, bytes_of(field->type), layout->big) !=
                                               masked(field->type, (uint64_t)field->value))
            return DD_WRONG_HEADER;
    for (const struct raw_field *field = layout->field; field < end; field++)
        if ((error = read_field(field, dd_read_unsigned(packet + field->at, bytes_of(field->type), layout->big), content)))
            return error;
    if ((error = read_rotation(layout, content)))
        return error;
    for (const struct raw_field *field = layout->field; field < end; field++)
        if (field->slot == RAW_SEQUENCE) {
            const int bytes = bytes_of(field->type);
            const uint64_t sent = dd_read_unsigned(packet + field->at, bytes, layout->big);
            if ((error = dd_advance(&raw->sequence, sent, 8 * bytes, 1, &raw->counts)))
                return error;
            content->sequence = raw->sequence.last;
            return DD_OK;
        }
    content->sequence = raw->counts.of[0] + 1;
    return DD_OK;
}

static struct content nothing(const struct raw_layout *layout) {
    struct content content = {{0.0}, 0, 0};
    content.value[RAW_ROTATION] = layout->rotation == RAW_QUATERNION;
    return content;
}

int raw_udp_decode_reading(struct raw_udp *raw, const uint8_t *packet, size_t size, dd_reading *reading) {
    struct content content = nothing(&raw->received);
    const int error = read_content(raw, packet, size, &content);
    if (!error) {
        memcpy(reading->force, content.value + RAW_FORCE, sizeof reading->force);
        memcpy(reading->torque, content.value + RAW_TORQUE, sizeof reading->torque);
        reading->sequence = content.sequence;
        reading->status = content.status;
    }
    return dd_count(&raw->counts, error);
}

int raw_udp_decode_pose(struct raw_udp *raw, const uint8_t *packet, size_t size, dd_pose *pose) {
    struct content content = nothing(&raw->received);
    const int error = read_content(raw, packet, size, &content);
    if (!error) {
        memcpy(pose->position, content.value + RAW_POSITION, sizeof pose->position);
        memcpy(pose->rotation_vector, content.value + RAW_ROTATION, sizeof pose->rotation_vector);
        for (int i = 0; i < raw->received.fields; i++) {
            const int joint = raw->received.field[i].slot - RAW_JOINTS;
            if (joint >= 0 && joint < RAW_SEQUENCE - RAW_JOINTS)
                pose->joints[joint] = content.value[RAW_JOINTS + joint];
        }
        pose->sequence = content.sequence;
        pose->status = content.status;
    }
    return dd_count(&raw->counts, error);
}

int raw_udp_decode_command(struct raw_udp *raw, const uint8_t *packet, size_t size, dd_command *command,
                           uint64_t *sequence) {
    struct content content = nothing(&raw->received);
    const int error = read_content(raw, packet, size, &content);
    if (!error) {
        memcpy(command->position, content.value + RAW_POSITION, sizeof command->position);
        memcpy(command->rotation_vector, content.value + RAW_ROTATION, sizeof command->rotation_vector);
        *sequence = content.sequence;
    }
    return dd_count(&raw->counts, error);
}

/* The rotation as the layout tells it, in place of the vector. */
static void turn(const struct raw_layout *layout, double rotation[4]) {
    double quaternion[4];
    if (layout->rotation == RAW_VECTOR)
        return;
    dd_quaternion_of_vector(rotation, quaternion);
    if (layout->rotation == RAW_QUATERNION)
        memcpy(rotation, quaternion, sizeof quaternion);
    else
        dd_angles_of_quaternion(quaternion, rotation);
}

static size_t write_content(const struct raw_layout *layout, struct content *content, uint8_t *out, size_t room) {
    if (room < (size_t)layout->length)
        return 0;
    memset(out, 0, (size_t)layout->length);
    turn(layout, content->value + RAW_ROTATION);
    for (int i = 0; i < layout->fields; i++) {
        const struct raw_field *const field = &layout->field[i];
        uint64_t bits;
        if (field->slot == RAW_CONSTANT)
            bits = (uint64_t)field->value;
        else if (field->slot == RAW_SEQUENCE)
            bits = content->sequence;
        else if (field->slot == RAW_STATUS)
            bits = content->status;
        else if (bits_of(field->type, (content->value[field->slot] - field->zero) / field->scale, &bits))
            return 0;
        dd_write_unsigned(out + field->at, bytes_of(field->type), layout->big, bits);
    }
    return (size_t)layout->length;
}

size_t raw_udp_encode_reading(struct raw_udp *raw, const dd_reading *reading, uint8_t *out, size_t room) {
    struct content content = {{0.0}, reading->sequence, reading->status};
    memcpy(content.value + RAW_FORCE, reading->force, sizeof reading->force);
    memcpy(content.value + RAW_TORQUE, reading->torque, sizeof reading->torque);
    return write_content(&raw->sent, &content, out, room);
}

size_t raw_udp_encode_pose(struct raw_udp *raw, const dd_pose *pose, uint8_t *out, size_t room) {
    struct content content = {{0.0}, pose->sequence, pose->status};
    memcpy(content.value + RAW_POSITION, pose->position, sizeof pose->position);
    memcpy(content.value + RAW_ROTATION, pose->rotation_vector, sizeof pose->rotation_vector);
    memcpy(content.value + RAW_JOINTS, pose->joints, sizeof pose->joints);
    if (dd_within_range(content.value, RAW_SLOTS))
        return 0;
    return write_content(&raw->sent, &content, out, room);
}

size_t raw_udp_encode_command(struct raw_udp *raw, const dd_command *command, uint64_t sequence, uint8_t *out,
                              size_t room) {
    struct content content = {{0.0}, sequence, 0};
    memcpy(content.value + RAW_POSITION, command->position, sizeof command->position);
    memcpy(content.value + RAW_ROTATION, command->rotation_vector, sizeof command->rotation_vector);
    if (dd_within_range(content.value, RAW_SLOTS))
        return 0;
    return write_content(&raw->sent, &content, out, room);
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

const dd_sensor_calls raw_udp_sensor = {dd_write_nothing, dd_write_nothing, decode_raw_reading, counts_raw};

const dd_robot_calls raw_udp_robot = {dd_write_nothing, dd_write_nothing, decode_raw_pose, encode_raw, counts_raw, NULL, NULL};
