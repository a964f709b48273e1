#include "steps.h"

#include <math.h>

#include "model.h"

bool unit_goes_on(const Unit *unit, double now, double length) {
    return length > 0.0 && fabs(now - unit->clock->time) <= 1e-9 * fmax(1.0, fabs(now));
}

bool unit_advance(Unit *unit, double time) {
    double until = time - unit->clock->start, reached = 0.0;
    const void *in[MODEL_ADDRESSES] = {unit->numbers, unit->inputs, &until};
    void *out[MODEL_ADDRESSES] = {&unit->clock->status, &reached};
    list_in(in, 3, unit->state, model_advance_constants, MODEL_ADVANCE_CONSTANTS);
    list_out(out, 2, unit->next);
    if (!model_advance(in, out, unit->work)) return false;
    unit_take_next(unit);
    unit->clock->time = unit->clock->status == RUNNING ? time : unit->clock->start + reached;
    return unit->clock->status <= FINISHED;
}
