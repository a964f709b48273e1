/* One instance of a functional unit: a state of its own, advanced by the functions that dockdyn has written (model.h).

   Memory is taken in unit_new alone. Times are in seconds. */
#ifndef UNIT_H
#define UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RUNNING = 0, FINISHED = 1 }; /* what is above cannot go on: unit_words */

typedef struct {
    double start;   /* the time at which the motion begins */
    double time;    /* that the motion has reached */
    int64_t status;
    int64_t begun;  /* whether there is a state */
    int64_t moving; /* whether the numbers are settled and the motion may go on */
} Clock;

typedef struct {
    Clock *clock;    /* followed by numbers and inputs: one block with them */
    double *numbers; /* of the scenario */
    double *inputs;
    double *outputs;
    unsigned char *state, *next;
    void *work;
    bool observed; /* whether the outputs are those of the state */
} Unit;

Unit *unit_new(void); /* NULL without memory */
void unit_free(Unit *unit);
void unit_reset(Unit *unit);

bool unit_allows(size_t number, double value); /* whether a number of the scenario may be this */
void unit_set_number(Unit *unit, size_t number, double value);
void unit_set_input(Unit *unit, size_t input, double value);

bool unit_begin(Unit *unit);
bool unit_observe(Unit *unit);
const char *unit_words(const Unit *unit); /* of its status */

size_t unit_bytes(void); /* of what unit_save writes */
void unit_save(const Unit *unit, unsigned char *bytes);
bool unit_load(Unit *unit, const unsigned char *bytes, size_t size); /* false: of another unit */

/* For functions of the model: addresses of a state's leaves from `count` on, then of constants. */
void list_in(const void **in, size_t count, const unsigned char *state, const void *const *constants, size_t own);
void list_out(void **out, size_t count, unsigned char *state);
void unit_take_next(Unit *unit); /* the state that was written beside the old one */

#endif
