/* FMI 2.0 of a unit that another program integrates: model exchange. */
#include <math.h>
#include <string.h>

#include "fmi2.h"
#include "model.h"
#include "motion.h"

typedef struct {
    fmi2Boolean again, terminate, nominals, states, has_next;
    fmi2Real next;
} fmi2EventInfo;

const fmi2Type kind_of_unit = fmi2ModelExchange;

EXPORT fmi2Status fmi2EnterEventMode(fmi2Component instance) {
    (void)instance;
    return fmi2OK;
}

EXPORT fmi2Status fmi2EnterContinuousTimeMode(fmi2Component instance) {
    (void)instance;
    return fmi2OK;
}

EXPORT fmi2Status fmi2NewDiscreteStates(fmi2Component instance, fmi2EventInfo *info) {
    Instance *it = instance;
    Jump jump;
    if (!motion_jump(it->unit, &jump)) return failed(it, "the event cannot be worked out");
    *info = (fmi2EventInfo){jump.again, jump.over, 0, 1, isfinite(jump.next), jump.next};
    return fmi2OK;
}

EXPORT fmi2Status fmi2CompletedIntegratorStep(
    fmi2Component instance, fmi2Boolean no_return, fmi2Boolean *event, fmi2Boolean *terminate) {
    Instance *it = instance;
    bool asks;
    (void)no_return;
    *terminate = 0;
    if (!motion_settle(it->unit, &asks)) return failed(it, "the end of the step cannot be worked out");
    *event = asks;
    return fmi2OK;
}

EXPORT fmi2Status fmi2SetTime(fmi2Component instance, fmi2Real time) {
    ((Instance *)instance)->unit->clock->time = time;
    return fmi2OK;
}

EXPORT fmi2Status fmi2SetContinuousStates(fmi2Component instance, const fmi2Real states[], size_t count) {
    Instance *it = instance;
    if (count != MODEL_STATES) return failed(it, "there are not so many states");
    memcpy(motion_states(it->unit), states, count * sizeof(double));
    it->unit->observed = false;
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetContinuousStates(fmi2Component instance, fmi2Real states[], size_t count) {
    Instance *it = instance;
    if (count != MODEL_STATES) return failed(it, "there are not so many states");
    memcpy(states, motion_states(it->unit), count * sizeof(double));
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetDerivatives(fmi2Component instance, fmi2Real rates[], size_t count) {
    Instance *it = instance;
    if (count != MODEL_STATES || !motion_rates(it->unit, rates)) return failed(it, "there are no such rates");
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetEventIndicators(fmi2Component instance, fmi2Real indicators[], size_t count) {
    Instance *it = instance;
    if (count != MODEL_GUARDS || !motion_guards(it->unit, indicators)) return failed(it, "there are no such indicators");
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component instance, fmi2Real nominals[], size_t count) {
    (void)instance;
    for (size_t i = 0; i < count; i++) nominals[i] = 1.0;
    return fmi2OK;
}
