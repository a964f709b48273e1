#include "calls.h"

#include <math.h>
#include <string.h>

static const char *const names[DD_ERRORS] = {
    "ok",           "wrong-length", "wrong-header", "malformed",     "missing-field",
    "not-a-number", "out-of-range", "stale",        "other-message",
};

const char *dd_error_name(int error) {
    return error <= 0 && error > -DD_ERRORS ? names[-error] : "unknown";
}

size_t dd_write_nothing(void *device, uint8_t *out, size_t room) {
    (void)device, (void)out, (void)room;
    return 0;
}

int dd_count(dd_counts *counts, int error) {
    counts->of[-error]++;
    return error;
}

/* Follow a counter of so many `bits` that grows by `stride` from packet to packet. */
int dd_advance(dd_sequence *sequence, uint64_t number, int bits, uint64_t stride, dd_counts *counts) {
    const uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    const uint64_t step = (number - sequence->last) & mask;
    if (!sequence->seen) {
        sequence->last = number & mask;
        sequence->seen = 1;
        return DD_OK;
    }
    if (step == 0 || step > mask / 2)
        return DD_STALE;
    if (step >= stride)
        counts->lost += step / stride - 1;
    sequence->last += step;
    return DD_OK;
}

uint64_t dd_read_unsigned(const uint8_t *at, int bytes, int big) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value = value << 8 | at[big ? i : bytes - 1 - i];
    return value;
}

void dd_write_unsigned(uint8_t *at, int bytes, int big, uint64_t value) {
    for (int i = 0; i < bytes; i++)
        at[big ? bytes - 1 - i : i] = (uint8_t)(value >> (8 * i));
}

int64_t dd_signed(uint64_t value, int bytes) {
    const uint64_t sign = UINT64_C(1) << (8 * bytes - 1);
    return value & sign ? -(int64_t)(sign - 1 - (value & (sign - 1))) - 1 : (int64_t)value;
}

double dd_double(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double dd_single(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

uint64_t dd_bits_of_double(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

uint32_t dd_bits_of_single(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Whether numbers are such as measurements have: DD_OK, DD_NOT_A_NUMBER or DD_OUT_OF_RANGE, by the first that is not. */
int dd_within_range(const double *values, int count) {
    for (int i = 0; i < count; i++) {
        if (values[i] - values[i] != 0.0)
            return DD_NOT_A_NUMBER;
        if (fabs(values[i]) > DD_LARGEST)
            return DD_OUT_OF_RANGE;
    }
    return DD_OK;
}

static int digit(uint8_t byte) {
    return byte >= '0' && byte <= '9';
}

static const double powers[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* Read a decimal number that fills the text. Of its digits the first fifteen that count are taken: these and a power of ten
 * up to 22 are exact in binary, so that one multiplication or division rounds correctly. */
int dd_read_decimal(const uint8_t *text, size_t size, double *value) {
    size_t i = 0;
    uint64_t mantissa = 0;
    int taken = 0, digits = 0, exponent = 0, point = 0;
    const int negative = size > 0 && text[0] == '-';
    if (size > 64)
        return DD_NOT_A_NUMBER;
    if (size > 0 && (text[0] == '-' || text[0] == '+'))
        i++;
    for (; i < size && (digit(text[i]) || (text[i] == '.' && !point)); i++) {
        if (text[i] == '.') {
            point = 1;
            continue;
        }
        digits++;
        if (taken < 15) {
            mantissa = 10 * mantissa + (uint64_t)(text[i] - '0');
            taken += mantissa > 0;
            exponent -= point;
        } else {
            exponent += !point;
        }
    }
    if (digits == 0)
        return DD_NOT_A_NUMBER;
    if (i < size && (text[i] == 'e' || text[i] == 'E')) {
        int power = 0, minus = 0;
        i++;
        if (i < size && (text[i] == '-' || text[i] == '+'))
            minus = text[i++] == '-';
        if (i == size || size - i > 3)
            return DD_NOT_A_NUMBER;
        for (; i < size && digit(text[i]); i++)
            power = 10 * power + (text[i] - '0');
        exponent += minus ? -power : power;
    }
    if (i != size)
        return DD_NOT_A_NUMBER;
    if (mantissa == 0)
        exponent = 0;
    if (exponent > 22 || exponent < -22)
        return DD_OUT_OF_RANGE;
    *value = exponent < 0 ? (double)mantissa / powers[-exponent] : (double)mantissa * powers[exponent];
    if (negative)
        *value = -*value;
    return DD_OK;
}

/* Read a whole number of 1 to 19 digits that fills the text. */
int dd_read_digits(const uint8_t *text, size_t size, uint64_t *value) {
    uint64_t found = 0;
    if (size < 1 || size > 19)
        return DD_NOT_A_NUMBER;
    for (size_t i = 0; i < size; i++) {
        if (!digit(text[i]))
            return DD_NOT_A_NUMBER;
        found = 10 * found + (uint64_t)(text[i] - '0');
    }
    *value = found;
    return DD_OK;
}

size_t dd_write_digits(uint8_t *out, size_t room, uint64_t value) {
    uint8_t reversed[20];
    size_t size = 0;
    do {
        reversed[size++] = (uint8_t)('0' + value % 10);
        value /= 10;
    } while (value);
    if (size > room)
        return 0;
    for (size_t i = 0; i < size; i++)
        out[i] = reversed[size - 1 - i];
    return size;
}

/* Write a number with so many decimals, halves to even. */
size_t dd_write_fixed(uint8_t *out, size_t room, double value, int decimals) {
    const double scaled = rint(value * powers[decimals]);
    size_t size = 0, written;
    uint64_t whole, unit = (uint64_t)powers[decimals];
    if (!(fabs(scaled) < 9007199254740992.0)) /* 2^53, beyond which the last digit is not known */
        return 0;
    whole = (uint64_t)fabs(scaled);
    if (scaled < 0) {
        if (room < 1)
            return 0;
        out[size++] = '-';
    }
    written = dd_write_digits(out + size, room - size, whole / unit);
    if (written == 0)
        return 0;
    size += written;
    if (decimals == 0)
        return size;
    if (room - size < (size_t)decimals + 1)
        return 0;
    out[size++] = '.';
    for (whole %= unit; decimals > 0; decimals--) {
        unit /= 10;
        out[size++] = (uint8_t)('0' + whole / unit % 10);
    }
    return size;
}

void dd_quaternion_of_vector(const double vector[3], double quaternion[4]) {
    const double angle = sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]);
    const double factor = angle < 1e-8 ? 0.5 : sin(0.5 * angle) / angle;
    quaternion[0] = cos(0.5 * angle);
    for (int i = 0; i < 3; i++)
        quaternion[1 + i] = factor * vector[i];
}

void dd_vector_of_quaternion(const double quaternion[4], double vector[3]) {
    const double sign = quaternion[0] < 0 ? -1.0 : 1.0;
    const double w = sign * quaternion[0], x = sign * quaternion[1], y = sign * quaternion[2], z = sign * quaternion[3];
    const double sine = sqrt(x * x + y * y + z * z);
    const double factor = sine < 1e-8 ? 2.0 : 2.0 * atan2(sine, w) / sine;
    vector[0] = factor * x;
    vector[1] = factor * y;
    vector[2] = factor * z;
}

void dd_quaternion_of_angles(const double angles[3], double quaternion[4]) {
    const double about_z[4] = {cos(0.5 * angles[0]), 0.0, 0.0, sin(0.5 * angles[0])};
    const double about_y[4] = {cos(0.5 * angles[1]), 0.0, sin(0.5 * angles[1]), 0.0};
    const double about_x[4] = {cos(0.5 * angles[2]), sin(0.5 * angles[2]), 0.0, 0.0};
    double both[4];
    dd_quaternion_product(about_z, about_y, both);
    dd_quaternion_product(both, about_x, quaternion);
}

/* Where y' is turned by a right angle the turn about x'' is zero. */
void dd_angles_of_quaternion(const double quaternion[4], double angles[3]) {
    const double w = quaternion[0], x = quaternion[1], y = quaternion[2], z = quaternion[3];
    const double forward = 1.0 - 2.0 * (y * y + z * z), left = 2.0 * (x * y + w * z);
    const double cosine = sqrt(forward * forward + left * left);
    angles[1] = atan2(2.0 * (w * y - x * z), cosine);
    if (cosine < 1e-12) {
        angles[0] = atan2(2.0 * (w * z - x * y), 1.0 - 2.0 * (x * x + z * z));
        angles[2] = 0.0;
    } else {
        angles[0] = atan2(left, forward);
        angles[2] = atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y));
    }
}

void dd_quaternion_product(const double a[4], const double b[4], double product[4]) {
    product[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    product[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    product[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    product[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

/* The turn that must follow `b` for `a` to come out. */
void dd_quaternion_quotient(const double a[4], const double b[4], double quotient[4]) {
    const double back[4] = {b[0], -b[1], -b[2], -b[3]};
    dd_quaternion_product(a, back, quotient);
}

/* Normalise a quaternion that has been rounded; one that is farther than a tenth from unit length is none. */
int dd_unit_quaternion(const double given[4], double quaternion[4]) {
    const double size =
        sqrt(given[0] * given[0] + given[1] * given[1] + given[2] * given[2] + given[3] * given[3]);
    if (!(size > 0.9 && size < 1.1))
        return DD_OUT_OF_RANGE;
    for (int i = 0; i < 4; i++)
        quaternion[i] = given[i] / size;
    return DD_OK;
}
