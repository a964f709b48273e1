/* A unit that integrates itself, step by step. */
#ifndef STEPS_H
#define STEPS_H

#include "unit.h"

bool unit_goes_on(const Unit *unit, double now, double length); /* whether a step is the next one */
bool unit_advance(Unit *unit, double time);                     /* false: it could not reach the time */

#endif
