/* What the cycle of a rig exchanges with its devices, in SI units, and what their codecs share.
 *
 * No function here allocates, locks, reads a clock or the locale, or runs longer than in proportion to its packet.
 */
#ifndef DOCKDYN_DEVICE_H
#define DOCKDYN_DEVICE_H

#include <stddef.h>
#include <stdint.h>

typedef struct dd_reading { /* of a force sensor; a status of zero is healthy */
    double force[3];  /* N */
    double torque[3]; /* N m */
    uint64_t sequence;
    uint32_t status;
} dd_reading;

typedef struct dd_pose { /* of a robot's tool in the robot's base; a status of zero is healthy */
    double position[3];        /* m */
    double rotation_vector[3]; /* rad */
    double joints[8];          /* rad or m; those that a robot does not tell stay as they are */
    uint64_t sequence;
    uint32_t status;
} dd_pose;

typedef struct dd_command { /* where the tool shall be in the robot's base */
    double position[3];        /* m */
    double rotation_vector[3]; /* rad */
} dd_command;

/* Why a packet is refused: what a decoder returns, zero or negative. An encoder that refuses writes nothing, returns 0. */
enum dd_error {
    DD_OK = 0,
    DD_WRONG_LENGTH = -1,
    DD_WRONG_HEADER = -2,
    DD_MALFORMED = -3,
    DD_MISSING_FIELD = -4,
    DD_NOT_A_NUMBER = -5,
    DD_OUT_OF_RANGE = -6,
    DD_STALE = -7,
    DD_OTHER_MESSAGE = -8 /* a good packet that tells neither reading nor pose: a text, an answer */
};
#define DD_ERRORS 9

const char *dd_error_name(int error);

typedef struct dd_counts {
    uint64_t of[DD_ERRORS]; /* packets by their error, `of[0]` the good ones */
    uint64_t lost;          /* packets that the sequence says were sent and that never came, or came late */
} dd_counts;

int dd_count(dd_counts *counts, int error);

/* A counter on the wire that wraps, unwrapped. */
typedef struct dd_sequence {
    uint64_t last;
    int seen;
} dd_sequence;

int dd_advance(dd_sequence *sequence, uint64_t number, int bits, uint64_t stride, dd_counts *counts);

/* Numbers in bytes; `big` says whether the first byte is the highest. */
uint64_t dd_read_unsigned(const uint8_t *at, int bytes, int big);
void dd_write_unsigned(uint8_t *at, int bytes, int big, uint64_t value);
int64_t dd_signed(uint64_t value, int bytes);
double dd_double(uint64_t bits);
double dd_single(uint32_t bits);
uint64_t dd_bits_of_double(double value);
uint32_t dd_bits_of_single(float value);
int dd_within_range(const double *values, int count);

/* Numbers in text. */
int dd_read_decimal(const uint8_t *text, size_t size, double *value);
int dd_read_digits(const uint8_t *text, size_t size, uint64_t *value);
size_t dd_write_fixed(uint8_t *out, size_t room, double value, int decimals);
size_t dd_write_digits(uint8_t *out, size_t room, uint64_t value);

/* Rotations: unit quaternions with the scalar first; angles of turns about z, then y', then x''. */
void dd_quaternion_of_vector(const double vector[3], double quaternion[4]);
void dd_vector_of_quaternion(const double quaternion[4], double vector[3]);
void dd_quaternion_of_angles(const double angles[3], double quaternion[4]);
void dd_angles_of_quaternion(const double quaternion[4], double angles[3]);
void dd_quaternion_product(const double a[4], const double b[4], double product[4]);
void dd_quaternion_quotient(const double a[4], const double b[4], double quotient[4]);
int dd_unit_quaternion(const double given[4], double quaternion[4]);

#define DD_LARGEST 1e9 /* of any number in SI units: what is larger is no measurement */
#define DD_DEGREE (3.14159265358979323846 / 180.0)

#endif
