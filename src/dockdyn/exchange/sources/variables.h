/* The variables of a unit by their value references: time, then numbers, inputs and outputs; of one that another program
   integrates also states, their rates and guards. All wrappers share it. */
#ifndef VARIABLES_H
#define VARIABLES_H

#include "model.h"
#include "unit.h"
#if MODEL_STATES > 0
#include "motion.h"
#endif

enum {
    FIRST_NUMBER = 1,
    FIRST_INPUT = FIRST_NUMBER + MODEL_NUMBERS,
    FIRST_OUTPUT = FIRST_INPUT + MODEL_INPUTS,
    FIRST_STATE = FIRST_OUTPUT + MODEL_OUTPUTS,
    FIRST_RATE = FIRST_STATE + MODEL_STATES,
    FIRST_GUARD = FIRST_RATE + MODEL_STATES,
    VARIABLES = FIRST_GUARD + MODEL_GUARDS
};

static inline bool is_number(uint32_t reference) { return reference >= FIRST_NUMBER && reference < FIRST_INPUT; }
static inline bool is_input(uint32_t reference) { return reference >= FIRST_INPUT && reference < FIRST_OUTPUT; }
static inline bool is_output(uint32_t reference) { return reference >= FIRST_OUTPUT && reference < FIRST_STATE; }

static inline bool is_flag(uint32_t reference) {
    return is_output(reference) && model_flags[reference - FIRST_OUTPUT];
}

/* The value of a state, a rate or a guard. */
static inline bool read_motion(Unit *unit, uint32_t reference, double *value) {
#if MODEL_STATES > 0
    double row[MODEL_STATES + MODEL_GUARDS];
    if (!unit->clock->begun && !unit_begin(unit)) return false;
    if (reference < FIRST_RATE) {
        *value = motion_states(unit)[reference - FIRST_STATE];
        return true;
    }
    if (reference < FIRST_GUARD ? !motion_rates(unit, row) : !motion_guards(unit, row)) return false;
    *value = row[reference < FIRST_GUARD ? reference - FIRST_RATE : reference - FIRST_GUARD];
    return true;
#else
    (void)unit, (void)reference, (void)value;
    return false;
#endif
}

/* The value of a variable; false where it has none. */
static inline bool read_variable(Unit *unit, uint32_t reference, double *value) {
    if (is_number(reference)) {
        *value = unit->numbers[reference - FIRST_NUMBER];
    } else if (is_input(reference)) {
        *value = unit->inputs[reference - FIRST_INPUT];
    } else if (is_output(reference)) {
        if (!unit_observe(unit)) return false;
        *value = unit->outputs[reference - FIRST_OUTPUT];
    } else if (reference >= FIRST_STATE && reference < VARIABLES) {
        return read_motion(unit, reference, value);
    } else if (reference == 0) {
        *value = unit->clock->time;
    } else {
        return false;
    }
    return true;
}

/* Sets a variable; NULL where it may be so, else why not. Numbers can be set as long as `numbers_too`. */
static inline const char *write_variable(Unit *unit, uint32_t reference, double value, bool numbers_too) {
    if (is_input(reference)) {
        if (value - value != 0.0) return "an input must be finite";
        unit_set_input(unit, reference - FIRST_INPUT, value);
        return NULL;
    }
    if (!is_number(reference)) return "this variable cannot be set";
    if (!numbers_too) return "a parameter can be set until initialization mode is left";
    if (!unit_allows(reference - FIRST_NUMBER, value)) return "a parameter is beyond its bounds";
    unit_set_number(unit, reference - FIRST_NUMBER, value);
    return NULL;
}

#endif
