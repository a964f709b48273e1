#include "rsi.h"

#include "flat_xml.h"

#include <math.h>
#include <string.h>

static int read_attribute(const dd_element *element, const char *name, double *value) {
    dd_text text;
    if (!dd_xml_attribute(element, name, &text))
        return DD_MISSING_FIELD;
    text = dd_xml_stripped(text);
    return dd_read_decimal(text.at, text.size, value);
}

/* Read X Y Z in mm and A B C in degrees. */
static int read_frame(const dd_element *element, double position[3], double quaternion[4]) {
    static const char *const names[6] = {"X", "Y", "Z", "A", "B", "C"};
    double values[6];
    for (int i = 0; i < 6; i++) {
        const int error = read_attribute(element, names[i], &values[i]);
        if (error)
            return error;
        values[i] = i < 3 ? values[i] / 1000.0 : values[i] * DD_DEGREE;
        if (dd_within_range(&values[i], 1))
            return DD_OUT_OF_RANGE;
    }
    memcpy(position, values, sizeof(double[3]));
    dd_quaternion_of_angles(values + 3, quaternion);
    return DD_OK;
}

static int read_digits(const dd_element *root, const char *name, dd_text *digits, uint64_t *value) {
    dd_element element;
    if (!dd_xml_find(root, name, &element))
        return DD_MISSING_FIELD;
    *digits = dd_xml_stripped(element.content);
    return dd_read_digits(digits->at, digits->size, value);
}

/* What a message of the robot says. */
struct message {
    double position[3], quaternion[4], setpoint[3], setpoint_quaternion[4], joints[6];
    int tells_joint[6];
    dd_text echo;
    uint64_t ipoc, late;
};

static int read_joints(const dd_element *root, struct message *message) {
    static const char *const names[6] = {"A1", "A2", "A3", "A4", "A5", "A6"};
    dd_element element;
    const int there = dd_xml_find(root, "AIPos", &element);
    for (int i = 0; i < 6; i++) {
        const int error = there ? read_attribute(&element, names[i], &message->joints[i]) : DD_MISSING_FIELD;
        message->tells_joint[i] = error == DD_OK;
        if (error == DD_MISSING_FIELD)
            continue;
        message->joints[i] = error ? 0.0 : message->joints[i] * DD_DEGREE;
        if (error || dd_within_range(&message->joints[i], 1))
            return error ? error : DD_OUT_OF_RANGE;
    }
    return DD_OK;
}

static int read_late(const dd_element *root, uint64_t *late) {
    dd_element element;
    dd_text text;
    *late = 0;
    if (!dd_xml_find(root, "Delay", &element))
        return DD_OK;
    if (!dd_xml_attribute(&element, "D", &text))
        return DD_MISSING_FIELD;
    text = dd_xml_stripped(text);
    return dd_read_digits(text.at, text.size, late);
}

static int read_robot(const uint8_t *packet, size_t size, struct message *message) {
    dd_element root, element;
    int error = dd_xml_check(packet, size, "Rob", &root);
    if (error)
        return error;
    if (!dd_xml_find(&root, "RIst", &element))
        return DD_MISSING_FIELD;
    if ((error = read_frame(&element, message->position, message->quaternion)))
        return error;
    memcpy(message->setpoint, message->position, sizeof message->position);
    memcpy(message->setpoint_quaternion, message->quaternion, sizeof message->quaternion);
    if (dd_xml_find(&root, "RSol", &element) &&
        (error = read_frame(&element, message->setpoint, message->setpoint_quaternion)))
        return error;
    if ((error = read_joints(&root, message)) || (error = read_late(&root, &message->late)))
        return error;
    return read_digits(&root, "IPOC", &message->echo, &message->ipoc);
}

/* Forget a connection: the next message of the robot is the first, and tells the pose that corrections are from. */
void rsi_forget(struct rsi *rsi) {
    rsi->ipoc.seen = 0;
    rsi->clock = 0;
}

/* Follow IPOC, which is a counter of 32 bits until it tells more. */
static int follow(struct rsi *rsi, uint64_t clock) {
    const int bits = clock <= UINT32_MAX && rsi->clock <= UINT32_MAX ? 32 : 64;
    const int error = dd_advance(&rsi->ipoc, clock, bits, (uint64_t)rsi->period, &rsi->counts);
    if (!error)
        rsi->clock = clock;
    return error;
}

static uint32_t newly_late(uint64_t before, uint64_t now) {
    const uint64_t more = now > before ? now - before : 0;
    return more > UINT32_MAX ? UINT32_MAX : (uint32_t)more;
}

/* The status of a pose is how many more answers were late than the message before has told. */
int rsi_decode_robot(struct rsi *rsi, const uint8_t *packet, size_t size, dd_pose *pose) {
    struct message message;
    const int first = !rsi->ipoc.seen;
    int error = read_robot(packet, size, &message);
    if (!error)
        error = follow(rsi, message.ipoc);
    if (error)
        return dd_count(&rsi->counts, error);
    if (first) {
        memcpy(rsi->position, rsi->relative ? message.position : message.setpoint, sizeof rsi->position);
        memcpy(rsi->quaternion, rsi->relative ? message.quaternion : message.setpoint_quaternion, sizeof rsi->quaternion);
    }
    memcpy(rsi->echo, message.echo.at, message.echo.size);
    rsi->echo_size = message.echo.size;
    memcpy(pose->position, message.position, sizeof message.position);
    dd_vector_of_quaternion(message.quaternion, pose->rotation_vector);
    for (int i = 0; i < 6; i++)
        if (message.tells_joint[i])
            pose->joints[i] = message.joints[i];
    pose->sequence = rsi->ipoc.last;
    pose->status = newly_late(first ? message.late : rsi->late, message.late);
    rsi->late = message.late;
    return dd_count(&rsi->counts, DD_OK);
}

/* Of the robot's side: the correction, a turn and a shift, and the IPOC that it answers. */
int rsi_decode_answer(struct rsi *rsi, const uint8_t *packet, size_t size, dd_command *correction, uint64_t *ipoc) {
    dd_element root, element;
    dd_text text;
    double position[3], quaternion[4];
    uint64_t number;
    int error = dd_xml_check(packet, size, "Sen", &root);
    if (error)
        return dd_count(&rsi->counts, error);
    if (!dd_xml_attribute(&root, "Type", &text) || !dd_text_is(text, rsi->sensor_type))
        return dd_count(&rsi->counts, DD_WRONG_HEADER);
    error = dd_xml_find(&root, rsi->correction, &element) ? read_frame(&element, position, quaternion) : DD_MISSING_FIELD;
    if (!error)
        error = read_digits(&root, "IPOC", &text, &number);
    if (error)
        return dd_count(&rsi->counts, error);
    memcpy(correction->position, position, sizeof position);
    dd_vector_of_quaternion(quaternion, correction->rotation_vector);
    *ipoc = number;
    return dd_count(&rsi->counts, DD_OK);
}

/* Where a message is written; once something did not fit it is full. */
struct page {
    uint8_t *out;
    size_t room, size;
    int full;
};

static void put_bytes(struct page *page, const void *bytes, size_t size) {
    if (page->full || size > page->room - page->size) {
        page->full = 1;
        return;
    }
    memcpy(page->out + page->size, bytes, size);
    page->size += size;
}

static void put(struct page *page, const char *words) {
    put_bytes(page, words, strlen(words));
}

static void put_digits(struct page *page, uint64_t value) {
    uint8_t digits[20];
    put_bytes(page, digits, dd_write_digits(digits, sizeof digits, value));
}

static void put_number(struct page *page, double value, int decimals) {
    uint8_t number[32];
    const size_t size = dd_write_fixed(number, sizeof number, value, decimals);
    put_bytes(page, number, size);
    page->full |= size == 0;
}

static void put_attributes(struct page *page, const char *const *names, const double *values, int count, int decimals) {
    for (int i = 0; i < count; i++) {
        put(page, " ");
        put(page, names[i]);
        put(page, "=\"");
        put_number(page, values[i], decimals);
        put(page, "\"");
    }
    put(page, "/>");
}

static void put_frame(struct page *page, const double values[6], int decimals) {
    static const char *const names[6] = {"X", "Y", "Z", "A", "B", "C"};
    put_attributes(page, names, values, 6, decimals);
}

static size_t written(const struct page *page) {
    return page->full ? 0 : page->size;
}

/* The numbers of a frame on the wire: mm, degrees. */
static void frame(const double position[3], const double quaternion[4], double values[6]) {
    double angles[3];
    dd_angles_of_quaternion(quaternion, angles);
    for (int i = 0; i < 3; i++) {
        values[i] = position[i] * 1000.0;
        values[3 + i] = angles[i] / DD_DEGREE;
    }
}

/* Move the pose that relative corrections are from by what has been written. */
static void move_reference(struct rsi *rsi, const double values[6]) {
    static const double ones[7] = {1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
    double angles[3], turn[4], turned[4];
    for (int i = 0; i < 3; i++) {
        const double unit = ones[rsi->decimals];
        rsi->position[i] += rint(values[i] * unit) / unit / 1000.0;
        angles[i] = rint(values[3 + i] * unit) / unit * DD_DEGREE;
    }
    dd_quaternion_of_angles(angles, turn);
    dd_quaternion_product(turn, rsi->quaternion, turned);
    dd_unit_quaternion(turned, rsi->quaternion);
}

size_t rsi_encode_answer(struct rsi *rsi, const dd_command *command, uint8_t *out, size_t room) {
    struct page page = {out, room, 0, 0};
    double shift[3], wanted[4], turn[4], values[6];
    if (!rsi->ipoc.seen || dd_within_range(command->position, 3) || dd_within_range(command->rotation_vector, 3))
        return 0;
    dd_quaternion_of_vector(command->rotation_vector, wanted);
    dd_quaternion_quotient(wanted, rsi->quaternion, turn);
    for (int i = 0; i < 3; i++)
        shift[i] = command->position[i] - rsi->position[i];
    frame(shift, turn, values);
    put(&page, "<Sen Type=\"");
    put(&page, rsi->sensor_type);
    put(&page, "\"><");
    put(&page, rsi->correction);
    put_frame(&page, values, rsi->decimals);
    put(&page, "<IPOC>");
    put_bytes(&page, rsi->echo, rsi->echo_size);
    put(&page, "</IPOC></Sen>");
    if (written(&page) && rsi->relative)
        move_reference(rsi, values);
    return written(&page);
}

/* Of the robot's side: where it is, where it shall be, how many answers were late, and its clock. */
size_t rsi_encode_robot(struct rsi *rsi, const dd_pose *actual, const dd_command *setpoint, uint8_t *out, size_t room) {
    static const char *const axes[6] = {"A1", "A2", "A3", "A4", "A5", "A6"};
    struct page page = {out, room, 0, 0};
    double quaternion[4], values[6];
    if (dd_within_range(actual->position, 3) || dd_within_range(actual->rotation_vector, 3) ||
        dd_within_range(setpoint->position, 3) || dd_within_range(setpoint->rotation_vector, 3))
        return 0;
    dd_quaternion_of_vector(actual->rotation_vector, quaternion);
    frame(actual->position, quaternion, values);
    put(&page, "<Rob Type=\"KUKA\"><RIst");
    put_frame(&page, values, rsi->decimals);
    dd_quaternion_of_vector(setpoint->rotation_vector, quaternion);
    frame(setpoint->position, quaternion, values);
    put(&page, "<RSol");
    put_frame(&page, values, rsi->decimals);
    for (int i = 0; i < 6; i++)
        values[i] = actual->joints[i] / DD_DEGREE;
    put(&page, "<AIPos");
    put_attributes(&page, axes, values, 6, rsi->decimals);
    put(&page, "<Delay D=\"");
    put_digits(&page, actual->status);
    put(&page, "\"/><IPOC>");
    put_digits(&page, actual->sequence);
    put(&page, "</IPOC></Rob>");
    return written(&page);
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

const dd_robot_calls rsi_robot = {dd_write_nothing, dd_write_nothing, decode_rsi, encode_rsi, counts_rsi, NULL, NULL};
