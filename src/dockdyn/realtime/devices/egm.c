#include "egm.h"

#include "protobuf_wire.h"

#include <string.h>

/* Numbers of fields in the messages of egm.proto. */
enum { HEADER = 1, HEADER_SEQUENCE = 1, HEADER_TIME = 2, HEADER_TYPE = 3 };
enum { FEEDBACK = 2, PLANNED = 2, JOINTS = 1, CARTESIAN = 2, EXTERNAL = 3, POSITION = 1, ORIENTATION = 2 };
enum { MOTOR_STATE = 4, MCI_STATE = 5, RAPID_STATE = 8, STATE = 1 };
enum { MOTORS_ON = 1, MCI_RUNNING = 3, RAPID_RUNNING = 2 };

enum { PLACES = 8 }; /* of joints in a pose */
#define WORD (UINT64_C(1) << 32)
#define NEAR_WRAP (UINT64_C(1) << 16) /* messages before the counter wraps, in which a zero is the wrap */

struct joints {
    double values[PLACES];
    int count;  /* of those told */
    int beyond; /* whether one that found no place is not zero */
};

struct content {
    double position[3], orientation[4];
    struct joints joints, external;
    int has_position, has_orientation; /* a bit a number */
    int has_sequence, new_session;
    uint32_t sequence, time, type, motors, mci, rapid;
};

/* Read doubles of the fields 1 to `count`, and a bit of `has` for each. */
static int read_doubles(pb_text message, double *values, int count, int *has) {
    pb_field field;
    int more;
    while ((more = pb_next(&message, &field)) > 0)
        if (field.wire == PB_EIGHT && field.number <= (uint32_t)count) {
            values[field.number - 1] = dd_double(field.value);
            *has |= 1 << (field.number - 1);
        }
    return more;
}

static void add_joint(double joint, struct joints *joints) {
    if (joints->count < PLACES)
        joints->values[joints->count] = joint;
    else
        joints->beyond |= joint != 0.0;
    joints->count++;
}

/* Read the repeated doubles of field 1, one by one or packed. */
static int read_joints(pb_text message, struct joints *joints) {
    pb_field field;
    int more;
    while ((more = pb_next(&message, &field)) > 0) {
        if (field.number != 1)
            continue;
        if (field.wire == PB_EIGHT)
            add_joint(dd_double(field.value), joints);
        if (field.wire == PB_DELIMITED) {
            if (field.content.size % 8)
                return DD_MALFORMED;
            for (size_t i = 0; i < field.content.size; i += 8)
                add_joint(dd_double(dd_read_unsigned(field.content.at + i, 8, 0)), joints);
        }
    }
    return more;
}

/* Put external joints behind those of the robot; DD_OUT_OF_RANGE where one that is not zero finds no place. */
static int join(struct joints *robot, const struct joints *external) {
    for (int i = 0; i < external->count && i < PLACES; i++)
        add_joint(external->values[i], robot);
    return robot->beyond || external->beyond ? DD_OUT_OF_RANGE : DD_OK;
}

static int read_header(pb_text message, struct content *content) {
    pb_field field;
    int more;
    while ((more = pb_next(&message, &field)) > 0) {
        if (field.wire == PB_VARINT && field.number == HEADER_SEQUENCE) {
            content->sequence = (uint32_t)field.value;
            content->has_sequence = 1;
        }
        if (field.wire == PB_VARINT && field.number == HEADER_TIME)
            content->time = (uint32_t)field.value;
        if (field.wire == PB_VARINT && field.number == HEADER_TYPE)
            content->type = (uint32_t)field.value;
    }
    return more;
}

static int read_pose(pb_text message, struct content *content) {
    pb_field field;
    int more, error = DD_OK;
    while ((more = pb_next(&message, &field)) > 0 && !error) {
        if (field.wire == PB_DELIMITED && field.number == POSITION)
            error = read_doubles(field.content, content->position, 3, &content->has_position);
        if (field.wire == PB_DELIMITED && field.number == ORIENTATION)
            error = read_doubles(field.content, content->orientation, 4, &content->has_orientation);
    }
    return error ? error : more;
}

static int read_motion(pb_text message, struct content *content) {
    pb_field field;
    int more, error = DD_OK;
    while ((more = pb_next(&message, &field)) > 0 && !error) {
        if (field.wire == PB_DELIMITED && field.number == JOINTS)
            error = read_joints(field.content, &content->joints);
        if (field.wire == PB_DELIMITED && field.number == EXTERNAL)
            error = read_joints(field.content, &content->external);
        if (field.wire == PB_DELIMITED && field.number == CARTESIAN)
            error = read_pose(field.content, content);
    }
    return error ? error : more;
}

static int read_state(pb_text message, uint32_t *state) {
    pb_field field;
    int more;
    while ((more = pb_next(&message, &field)) > 0)
        if (field.wire == PB_VARINT && field.number == STATE)
            *state = (uint32_t)field.value;
    return more;
}

static int read_message(const uint8_t *packet, size_t size, int of_robot, struct content *content) {
    pb_text message = {packet, size, 0};
    pb_field field;
    int more, error = DD_OK;
    if (size == 0 || size > EGM_LONGEST)
        return DD_WRONG_LENGTH;
    while ((more = pb_next(&message, &field)) > 0 && !error) {
        if (field.wire != PB_DELIMITED)
            continue;
        if (field.number == HEADER)
            error = read_header(field.content, content);
        else if (field.number == FEEDBACK) /* as PLANNED */
            error = read_motion(field.content, content);
        else if (of_robot && field.number == MOTOR_STATE)
            error = read_state(field.content, &content->motors);
        else if (of_robot && field.number == MCI_STATE)
            error = read_state(field.content, &content->mci);
        else if (of_robot && field.number == RAPID_STATE)
            error = read_state(field.content, &content->rapid);
    }
    return error ? error : more;
}

/* Whether a message begins a session behind the one before: its number is zero, no wrap is due, and it is not the message
   again that began the session before, by the robot's clock. */
static int begins_anew(const struct egm *egm, const struct content *content) {
    const uint64_t place = egm->sequence.last % WORD;
    return egm->sequence.seen && content->sequence == 0 && place > 0 && place < WORD - NEAR_WRAP &&
           !(egm->has_begun && content->time == egm->began);
}

static int follow(struct egm *egm, struct content *content) {
    int error = DD_OK;
    if ((content->new_session = begins_anew(egm, content)))
        egm->sequence.last = (egm->sequence.last / WORD + 1) * WORD;
    else
        error = dd_advance(&egm->sequence, content->sequence, 32, 1, &egm->counts);
    if (!error && content->sequence == 0) {
        egm->began = content->time;
        egm->has_begun = 1;
    }
    return error;
}

/* Read a message with a pose, of the robot or to it, and follow its sequence. */
static int read_pose_message(struct egm *egm, const uint8_t *packet, size_t size, int type, struct content *content,
                             double position[3], double rotation_vector[3]) {
    double quaternion[4];
    int error = read_message(packet, size, type == EGM_DATA, content);
    if (error)
        return error;
    if (!content->has_sequence)
        return DD_MISSING_FIELD;
    if (content->type != (uint32_t)type)
        return DD_WRONG_HEADER;
    if (content->has_position != 7 || content->has_orientation != 15)
        return DD_MISSING_FIELD;
    if ((error = join(&content->joints, &content->external)))
        return error;
    for (int i = 0; i < 3; i++)
        content->position[i] /= 1000.0;
    for (int i = 0; i < PLACES; i++)
        content->joints.values[i] *= DD_DEGREE;
    if ((error = dd_within_range(content->position, 3)) || (error = dd_within_range(content->orientation, 4)) ||
        (error = dd_within_range(content->joints.values, PLACES)) || (error = dd_unit_quaternion(content->orientation, quaternion)) ||
        (error = follow(egm, content)))
        return error;
    memcpy(position, content->position, sizeof content->position);
    dd_vector_of_quaternion(quaternion, rotation_vector);
    return DD_OK;
}

int egm_decode_robot(struct egm *egm, const uint8_t *packet, size_t size, dd_pose *pose) {
    struct content content = {.has_sequence = 0};
    const int error = read_pose_message(egm, packet, size, EGM_DATA, &content, pose->position, pose->rotation_vector);
    const int told = content.joints.count < PLACES ? content.joints.count : PLACES;
    if (error)
        return dd_count(&egm->counts, error);
    memcpy(pose->joints, content.joints.values, (size_t)told * sizeof(double));
    pose->sequence = egm->sequence.last;
    pose->status = (content.new_session ? EGM_NEW_SESSION : 0) |
                   (content.motors == MOTORS_ON ? 0 : EGM_MOTORS_NOT_ON) |
                   (content.mci == MCI_RUNNING ? 0 : EGM_NOT_RUNNING) |
                   (content.rapid == RAPID_RUNNING ? 0 : EGM_RAPID_NOT_RUNNING);
    return dd_count(&egm->counts, DD_OK);
}

/* Of the robot's side. */
int egm_decode_command(struct egm *egm, const uint8_t *packet, size_t size, dd_command *command, uint64_t *sequence) {
    struct content content = {.has_sequence = 0};
    const int error =
        read_pose_message(egm, packet, size, EGM_CORRECTION, &content, command->position, command->rotation_vector);
    if (!error)
        *sequence = egm->sequence.last;
    return dd_count(&egm->counts, error);
}

static void put_header(pb_page *page, uint32_t sequence, uint32_t milliseconds, int type) {
    uint8_t bytes[24];
    pb_page header = {bytes, sizeof bytes, 0, 0};
    pb_put_number(&header, HEADER_SEQUENCE, sequence);
    pb_put_number(&header, HEADER_TIME, milliseconds);
    pb_put_number(&header, HEADER_TYPE, (uint64_t)type);
    pb_put_message(page, HEADER, &header);
}

static void put_pose(pb_page *page, const double position[3], const double rotation_vector[3]) {
    uint8_t of_position[32], of_orientation[40], of_both[80];
    pb_page length = {of_position, sizeof of_position, 0, 0}, turn = {of_orientation, sizeof of_orientation, 0, 0};
    pb_page both = {of_both, sizeof of_both, 0, 0};
    double quaternion[4];
    dd_quaternion_of_vector(rotation_vector, quaternion);
    for (int i = 0; i < 3; i++)
        pb_put_double(&length, (uint32_t)i + 1, position[i] * 1000.0);
    for (int i = 0; i < 4; i++)
        pb_put_double(&turn, (uint32_t)i + 1, quaternion[i]);
    pb_put_message(&both, POSITION, &length);
    pb_put_message(&both, ORIENTATION, &turn);
    pb_put_message(page, CARTESIAN, &both);
}

static void put_state(pb_page *page, uint32_t field, uint64_t value) {
    uint8_t bytes[4];
    pb_page state = {bytes, sizeof bytes, 0, 0};
    pb_put_number(&state, STATE, value);
    pb_put_message(page, field, &state);
}

size_t egm_encode_command(struct egm *egm, const dd_command *command, uint32_t milliseconds, uint8_t *out, size_t room) {
    uint8_t bytes[96];
    pb_page page = {out, room, 0, 0}, planned = {bytes, sizeof bytes, 0, 0};
    if (dd_within_range(command->position, 3) || dd_within_range(command->rotation_vector, 3))
        return 0;
    put_header(&page, egm->sent + 1, milliseconds, EGM_CORRECTION);
    put_pose(&planned, command->position, command->rotation_vector);
    pb_put_message(&page, PLANNED, &planned);
    if (page.full)
        return 0;
    egm->sent++;
    return page.size;
}

/* Of the robot's side: a status of zero is told as motors on, EGM and RAPID running. */
size_t egm_encode_robot(struct egm *egm, const dd_pose *pose, uint32_t milliseconds, uint8_t *out, size_t room) {
    uint8_t of_joints[64], of_feedback[160];
    pb_page page = {out, room, 0, 0}, joints = {of_joints, sizeof of_joints, 0, 0};
    pb_page feedback = {of_feedback, sizeof of_feedback, 0, 0};
    (void)egm;
    if (dd_within_range(pose->position, 3) || dd_within_range(pose->rotation_vector, 3))
        return 0;
    put_header(&page, (uint32_t)pose->sequence, milliseconds, EGM_DATA);
    for (int i = 0; i < 6; i++)
        pb_put_double(&joints, 1, pose->joints[i] / DD_DEGREE);
    pb_put_message(&feedback, JOINTS, &joints);
    put_pose(&feedback, pose->position, pose->rotation_vector);
    pb_put_message(&page, FEEDBACK, &feedback);
    put_state(&page, MOTOR_STATE, pose->status & EGM_MOTORS_NOT_ON ? 2 : MOTORS_ON);
    put_state(&page, MCI_STATE, pose->status & EGM_NOT_RUNNING ? 2 : MCI_RUNNING);
    put_state(&page, RAPID_STATE, pose->status & EGM_RAPID_NOT_RUNNING ? 1 : RAPID_RUNNING);
    return page.full ? 0 : page.size;
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

const dd_robot_calls egm_robot = {dd_write_nothing, dd_write_nothing, decode_egm, encode_egm, counts_egm, NULL, NULL};
