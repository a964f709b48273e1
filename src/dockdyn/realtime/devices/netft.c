#include "netft.h"

#include <math.h>

/* Forget a stream: the next record is the first. */
void netft_forget(struct netft *ft) {
    ft->rdt.seen = ft->has_measured = 0;
}

size_t netft_encode_request(struct netft *ft, uint16_t command, uint32_t samples, uint8_t *out, size_t room) {
    if (room < NETFT_REQUEST)
        return 0;
    dd_write_unsigned(out, 2, 1, NETFT_HEADER);
    dd_write_unsigned(out + 2, 2, 1, command);
    dd_write_unsigned(out + 4, 4, 1, samples);
    if (command == NETFT_REAL_TIME || command == NETFT_BUFFERED)
        netft_forget(ft); /* the sensor counts from one again */
    return NETFT_REQUEST;
}

/* Follow the F/T sequence: zero where it goes on, else the bit for that it does not. */
static uint32_t follow(struct netft *ft, uint32_t measured) {
    const uint32_t step = ft->has_measured ? measured - ft->measured : 1;
    if (step == 0)
        return NETFT_FT_STALLED;
    if (step >= UINT32_C(1) << 31)
        return NETFT_FT_WENT_BACK;
    ft->measured = measured;
    ft->has_measured = 1;
    return 0;
}

/* Take the newest of the records in a packet, with what all of them say of the sensor's health. */
int netft_decode_record(struct netft *ft, const uint8_t *packet, size_t size, dd_reading *reading) {
    const uint8_t *last;
    uint32_t told = 0, progress = 0;
    int error;
    if (size < NETFT_RECORD || size % NETFT_RECORD || size > NETFT_RECORD * NETFT_RECORDS)
        return dd_count(&ft->counts, DD_WRONG_LENGTH);
    last = packet + size - NETFT_RECORD;
    error = dd_advance(&ft->rdt, dd_read_unsigned(last, 4, 1), 32, size / NETFT_RECORD, &ft->counts);
    if (error)
        return dd_count(&ft->counts, error);
    for (int i = 0; i < 3; i++) {
        const double force = (double)dd_signed(dd_read_unsigned(last + 12 + 4 * i, 4, 1), 4);
        const double torque = (double)dd_signed(dd_read_unsigned(last + 24 + 4 * i, 4, 1), 4);
        reading->force[i] = force / ft->counts_per_force * ft->newtons;
        reading->torque[i] = torque / ft->counts_per_torque * ft->newton_metres;
    }
    reading->sequence = ft->rdt.last;
    for (const uint8_t *record = packet; record <= last; record += NETFT_RECORD) {
        told |= (uint32_t)dd_read_unsigned(record + 8, 4, 1);
        progress |= follow(ft, (uint32_t)dd_read_unsigned(record + 4, 4, 1));
    }
    reading->status = told ? told : progress;
    return dd_count(&ft->counts, DD_OK);
}

int netft_decode_request(struct netft *ft, const uint8_t *packet, size_t size, uint16_t *command, uint32_t *samples) {
    if (size != NETFT_REQUEST)
        return dd_count(&ft->counts, DD_WRONG_LENGTH);
    if (dd_read_unsigned(packet, 2, 1) != NETFT_HEADER)
        return dd_count(&ft->counts, DD_WRONG_HEADER);
    *command = (uint16_t)dd_read_unsigned(packet + 2, 2, 1);
    *samples = (uint32_t)dd_read_unsigned(packet + 4, 4, 1);
    return dd_count(&ft->counts, DD_OK);
}

static int write_counts(const double values[3], double per_unit, double unit, uint8_t *out) {
    for (int i = 0; i < 3; i++) {
        const double counts = rint(values[i] / unit * per_unit);
        if (!(counts >= -2147483648.0 && counts <= 2147483647.0))
            return DD_OUT_OF_RANGE;
        dd_write_unsigned(out + 4 * i, 4, 1, (uint64_t)(int64_t)counts);
    }
    return DD_OK;
}

size_t netft_encode_record(struct netft *ft, const dd_reading *reading, uint32_t ft_sequence, uint8_t *out, size_t room) {
    if (room < NETFT_RECORD)
        return 0;
    dd_write_unsigned(out, 4, 1, reading->sequence);
    dd_write_unsigned(out + 4, 4, 1, ft_sequence);
    dd_write_unsigned(out + 8, 4, 1, reading->status);
    if (write_counts(reading->force, ft->counts_per_force, ft->newtons, out + 12) ||
        write_counts(reading->torque, ft->counts_per_torque, ft->newton_metres, out + 24))
        return 0;
    return NETFT_RECORD;
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

const dd_sensor_calls netft_sensor = {start_netft, stop_netft, decode_netft, counts_netft};
