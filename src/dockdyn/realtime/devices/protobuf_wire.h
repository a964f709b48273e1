/* The wire format of protocol buffers, as far as messages of numbers need it. */
#ifndef DOCKDYN_PROTOBUF_WIRE_H
#define DOCKDYN_PROTOBUF_WIRE_H

#include "device.h"

enum { PB_VARINT = 0, PB_EIGHT = 1, PB_DELIMITED = 2, PB_GROUP = 3, PB_GROUP_END = 4, PB_FOUR = 5 };
enum { PB_DEEPEST = 100 }; /* messages and groups in each other, as the library for Python has it */

typedef struct pb_text { /* what is left of a message, and how deep it lies */
    const uint8_t *at;
    size_t size;
    int depth;
} pb_text;

typedef struct pb_field {
    uint32_t number;
    int wire;
    uint64_t value;  /* of a varint, of four or eight bytes */
    pb_text content; /* of a delimited field */
} pb_field;

/* Take the next field; groups are passed over. 1, or 0 at the end, or DD_MALFORMED. */
int pb_next(pb_text *message, pb_field *field);

typedef struct pb_page { /* where a message is written; once something did not fit it is full */
    uint8_t *out;
    size_t room, size;
    int full;
} pb_page;

void pb_put_number(pb_page *, uint32_t field, uint64_t value);
void pb_put_double(pb_page *, uint32_t field, double value);
void pb_put_message(pb_page *, uint32_t field, const pb_page *message);

#endif
