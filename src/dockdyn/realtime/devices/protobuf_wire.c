#include "protobuf_wire.h"

#include <string.h>

static int take_varint(pb_text *text, size_t longest, uint64_t *value) {
    *value = 0;
    for (size_t i = 0; i < longest && i < text->size; i++) {
        *value |= (uint64_t)(text->at[i] & 0x7f) << (7 * i);
        if (text->at[i] < 0x80) {
            text->at += i + 1;
            text->size -= i + 1;
            return DD_OK;
        }
    }
    return DD_MALFORMED;
}

static int take_fixed(pb_text *text, int bytes, uint64_t *value) {
    if (text->size < (size_t)bytes)
        return DD_MALFORMED;
    *value = dd_read_unsigned(text->at, bytes, 0);
    text->at += bytes;
    text->size -= (size_t)bytes;
    return DD_OK;
}

/* Take a tag and what follows it; the content of a group is not taken. In groups the library for Python lets a field of
 * number zero pass, and so does this. */
static int take_field(pb_text *text, pb_field *field) {
    uint64_t tag, size;
    if (take_varint(text, 5, &tag) || tag > UINT32_MAX)
        return DD_MALFORMED;
    field->number = (uint32_t)(tag >> 3);
    field->wire = (int)(tag & 7);
    switch (field->wire) {
    case PB_VARINT:
        return take_varint(text, 10, &field->value);
    case PB_EIGHT:
        return take_fixed(text, 8, &field->value);
    case PB_FOUR:
        return take_fixed(text, 4, &field->value);
    case PB_DELIMITED:
        if (take_varint(text, 5, &size) || size > text->size)
            return DD_MALFORMED;
        field->content = (pb_text){text->at, (size_t)size, text->depth + 1};
        text->at += size;
        text->size -= (size_t)size;
        return DD_OK;
    case PB_GROUP:
    case PB_GROUP_END:
        return DD_OK;
    default:
        return DD_MALFORMED;
    }
}

static int pass_group(pb_text *text, uint32_t number) {
    uint32_t open[PB_DEEPEST];
    int depth = text->depth;
    pb_field field;
    if (depth >= PB_DEEPEST)
        return DD_MALFORMED;
    for (open[depth++] = number; depth > text->depth;) {
        if (take_field(text, &field))
            return DD_MALFORMED;
        if (field.wire == PB_GROUP_END && open[--depth] != field.number)
            return DD_MALFORMED;
        if (field.wire == PB_GROUP) {
            if (depth >= PB_DEEPEST)
                return DD_MALFORMED;
            open[depth++] = field.number;
        }
    }
    return DD_OK;
}

int pb_next(pb_text *message, pb_field *field) {
    if (message->depth > PB_DEEPEST)
        return DD_MALFORMED;
    while (message->size) {
        if (take_field(message, field) || field->wire == PB_GROUP_END || field->number == 0)
            return DD_MALFORMED;
        if (field->wire != PB_GROUP)
            return 1;
        if (pass_group(message, field->number))
            return DD_MALFORMED;
    }
    return 0;
}

static void put_bytes(pb_page *page, const void *bytes, size_t size) {
    if (page->full || size > page->room - page->size) {
        page->full = 1;
        return;
    }
    memcpy(page->out + page->size, bytes, size);
    page->size += size;
}

static void put_varint(pb_page *page, uint64_t value) {
    uint8_t bytes[10];
    size_t size = 0;
    do {
        bytes[size] = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        size++;
        value >>= 7;
    } while (value);
    put_bytes(page, bytes, size);
}

void pb_put_number(pb_page *page, uint32_t field, uint64_t value) {
    put_varint(page, field << 3 | PB_VARINT);
    put_varint(page, value);
}

void pb_put_double(pb_page *page, uint32_t field, double value) {
    uint8_t bytes[8];
    dd_write_unsigned(bytes, 8, 0, dd_bits_of_double(value));
    put_varint(page, field << 3 | PB_EIGHT);
    put_bytes(page, bytes, sizeof bytes);
}

void pb_put_message(pb_page *page, uint32_t field, const pb_page *message) {
    put_varint(page, field << 3 | PB_DELIMITED);
    put_varint(page, message->size);
    put_bytes(page, message->out, message->size);
    page->full |= message->full;
}
