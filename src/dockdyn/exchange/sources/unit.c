#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

enum { WORD = 8 };

static size_t head_bytes(void) { return sizeof(Clock) + (MODEL_NUMBERS + MODEL_INPUTS) * sizeof(double); }

static size_t larger_of(size_t a, size_t b) { return a > b ? a : b; }

static size_t work_bytes(void) {
    size_t bytes = 1;
    for (size_t i = 0; i < MODEL_FUNCTIONS; i++) bytes = larger_of(bytes, (size_t)*model_work_bytes[i]);
    return bytes;
}

Unit *unit_new(void) {
    size_t own = (sizeof(Unit) + WORD - 1) / WORD * WORD, head = head_bytes();
    size_t row = (MODEL_OUTPUTS + 1) * sizeof(double);
    unsigned char *memory = malloc(own + head + row + 2 * MODEL_STATE_BYTES + work_bytes());
    if (memory == NULL) return NULL;
    Unit *unit = (Unit *)memory;
    unit->clock = (Clock *)(memory + own);
    unit->numbers = (double *)(unit->clock + 1);
    unit->inputs = unit->numbers + MODEL_NUMBERS;
    unit->outputs = (double *)(memory + own + head);
    unit->state = memory + own + head + row;
    unit->next = unit->state + MODEL_STATE_BYTES;
    unit->work = unit->next + MODEL_STATE_BYTES;
    unit_reset(unit);
    return unit;
}

void unit_free(Unit *unit) { free(unit); }

void unit_reset(Unit *unit) {
    *unit->clock = (Clock){0.0, 0.0, RUNNING, 0, 0};
    for (size_t i = 0; i < MODEL_NUMBERS; i++) unit->numbers[i] = model_numbers[i].start;
    memset(unit->inputs, 0, MODEL_INPUTS * sizeof(double));
    memset(unit->outputs, 0, MODEL_OUTPUTS * sizeof(double));
    memset(unit->state, 0, MODEL_STATE_BYTES);
    memset(unit->next, 0, MODEL_STATE_BYTES);
    unit->observed = false;
}

bool unit_allows(size_t number, double value) {
    const Number *one = &model_numbers[number];
    if (!isfinite(value)) return false;
    if (one->least_is_open ? value <= one->least : value < one->least) return false;
    return one->most_is_open ? value < one->most : value <= one->most;
}

void unit_set_number(Unit *unit, size_t number, double value) {
    unit->numbers[number] = value;
    unit->clock->begun = 0;
    unit->observed = false;
}

void unit_set_input(Unit *unit, size_t input, double value) {
    unit->inputs[input] = value;
    unit->observed = false;
}

void list_in(const void **in, size_t count, const unsigned char *state, const void *const *constants, size_t own) {
    if (state != NULL)
        for (size_t i = 0; i < MODEL_LEAVES; i++) in[count++] = state + model_places[i];
    for (size_t i = 0; i < own; i++) in[count++] = constants[i];
}

void list_out(void **out, size_t count, unsigned char *state) {
    for (size_t i = 0; i < MODEL_LEAVES; i++) out[count++] = state + model_places[i];
}

void unit_take_next(Unit *unit) {
    unsigned char *before = unit->state;
    unit->state = unit->next;
    unit->next = before;
    unit->observed = false;
}

bool unit_begin(Unit *unit) {
    const void *in[MODEL_ADDRESSES] = {unit->numbers};
    void *out[MODEL_ADDRESSES];
    list_in(in, 1, NULL, model_begin_constants, MODEL_BEGIN_CONSTANTS);
    list_out(out, 0, unit->state);
    if (!model_begin(in, out, unit->work)) return false;
    unit->clock->time = unit->clock->start;
    unit->clock->status = RUNNING;
    unit->clock->begun = 1;
    unit->observed = false;
    return true;
}

bool unit_observe(Unit *unit) {
    if (!unit->clock->begun && !unit_begin(unit)) return false;
    if (unit->observed) return true;
    const void *in[MODEL_ADDRESSES] = {unit->numbers, unit->inputs};
    void *out[1] = {unit->outputs};
    list_in(in, 2, unit->state, model_observe_constants, MODEL_OBSERVE_CONSTANTS);
    unit->observed = model_observe(in, out, unit->work);
    return unit->observed;
}

const char *unit_words(const Unit *unit) {
    int64_t status = unit->clock->status;
    return status >= 0 && status < MODEL_STATUSES ? model_statuses[status] : "it cannot go on";
}

size_t unit_bytes(void) { return sizeof(model_token) + head_bytes() + MODEL_STATE_BYTES; }

void unit_save(const Unit *unit, unsigned char *bytes) {
    memcpy(bytes, model_token, sizeof(model_token));
    memcpy(bytes + sizeof(model_token), unit->clock, head_bytes());
    memcpy(bytes + sizeof(model_token) + head_bytes(), unit->state, MODEL_STATE_BYTES);
}

bool unit_load(Unit *unit, const unsigned char *bytes, size_t size) {
    if (size != unit_bytes() || memcmp(bytes, model_token, sizeof(model_token)) != 0) return false;
    memcpy(unit->clock, bytes + sizeof(model_token), head_bytes());
    memcpy(unit->state, bytes + sizeof(model_token) + head_bytes(), MODEL_STATE_BYTES);
    unit->observed = false;
    return true;
}
