/* ATI Net F/T: raw data transfer (RDT) over UDP. Sources: docs/devices.md. */
#ifndef DOCKDYN_NETFT_H
#define DOCKDYN_NETFT_H

#include "calls.h"

enum { NETFT_HEADER = 0x1234, NETFT_REQUEST = 8, NETFT_RECORD = 36, NETFT_RECORDS = 40 };
/* Bits of a status that the codec sets where the sensor tells none, without the bit 31 that comes with the sensor's errors. */
enum { NETFT_FT_STALLED = 0x100, NETFT_FT_WENT_BACK = 0x200 };
enum { NETFT_STOP = 0, NETFT_REAL_TIME = 2, NETFT_BUFFERED = 3, NETFT_BIAS = 0x42 };

struct netft {
    double counts_per_force, counts_per_torque; /* of the calibration, per its own units */
    double newtons, newton_metres;              /* that one of its own units is */
    dd_sequence rdt;
    uint32_t measured; /* F/T sequence of the newest measurement */
    int has_measured;
    dd_counts counts;
};

void netft_forget(struct netft *);
size_t netft_encode_request(struct netft *, uint16_t command, uint32_t samples, uint8_t *out, size_t room);
int netft_decode_record(struct netft *, const uint8_t *packet, size_t size, dd_reading *);
int netft_decode_request(struct netft *, const uint8_t *packet, size_t size, uint16_t *command, uint32_t *samples);
size_t netft_encode_record(struct netft *, const dd_reading *, uint32_t ft_sequence, uint8_t *out, size_t room);

extern const dd_sensor_calls netft_sensor;

#endif
