#include "motion.h"

#include "model.h"

double *motion_states(Unit *unit) { return (double *)(unit->state + model_places[0]); }

static double since_start(const Unit *unit) { return unit->clock->time - unit->clock->start; }

bool motion_rates(Unit *unit, double *rates) {
    double time = since_start(unit);
    const void *in[MODEL_ADDRESSES] = {unit->numbers, unit->inputs, &time};
    void *out[1] = {rates};
    list_in(in, 3, unit->state, model_rates_constants, MODEL_RATES_CONSTANTS);
    return model_rates(in, out, unit->work);
}

bool motion_guards(Unit *unit, double *guards) {
    double time = since_start(unit);
    const void *in[MODEL_ADDRESSES] = {unit->numbers, unit->inputs, &time};
    void *out[1] = {guards};
    list_in(in, 3, unit->state, model_guards_constants, MODEL_GUARDS_CONSTANTS);
    return model_guards(in, out, unit->work);
}

bool motion_jump(Unit *unit, Jump *jump) {
    double time = since_start(unit);
    const void *in[MODEL_ADDRESSES] = {unit->numbers, unit->inputs, &time};
    void *out[MODEL_ADDRESSES] = {&jump->again, &jump->over, &jump->next};
    list_in(in, 3, unit->state, model_jump_constants, MODEL_JUMP_CONSTANTS);
    list_out(out, 3, unit->next);
    if (!model_jump(in, out, unit->work)) return false;
    jump->next += unit->clock->start;
    unit_take_next(unit);
    return true;
}

bool motion_settle(Unit *unit, bool *asks) {
    *asks = false;
#if MODEL_SETTLES
    double time = since_start(unit);
    uint8_t event;
    const void *in[MODEL_ADDRESSES] = {unit->numbers, unit->inputs, &time};
    void *out[MODEL_ADDRESSES] = {&event};
    list_in(in, 3, unit->state, model_settle_constants, MODEL_SETTLE_CONSTANTS);
    list_out(out, 1, unit->next);
    if (!model_settle(in, out, unit->work)) return false;
    *asks = event;
    unit_take_next(unit);
#else
    (void)unit;
#endif
    return true;
}
