/* A unit that another program integrates: rates and guards of its states, and what happens at an event. */
#ifndef MOTION_H
#define MOTION_H

#include "unit.h"

typedef struct {
    uint8_t again; /* another event is due at the same instant */
    uint8_t over;  /* the motion has ended */
    double next;   /* the time of the next event that a clock makes; infinite without one */
} Jump;

double *motion_states(Unit *unit);
bool motion_rates(Unit *unit, double *rates);
bool motion_guards(Unit *unit, double *guards);
bool motion_jump(Unit *unit, Jump *jump);
bool motion_settle(Unit *unit, bool *asks); /* a step has ended; whether it asks for an event */

#endif
