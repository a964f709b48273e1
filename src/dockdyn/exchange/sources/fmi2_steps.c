/* FMI 2.0 of a unit that integrates itself: co-simulation. */
#include "fmi2.h"
#include "steps.h"

const fmi2Type kind_of_unit = fmi2CoSimulation;

EXPORT fmi2Status fmi2DoStep(fmi2Component instance, fmi2Real now, fmi2Real length, fmi2Boolean no_return) {
    (void)no_return;
    Instance *it = instance;
    const Clock *clock = it->unit->clock;
    if (!clock->moving) return failed(it, "initialization mode has not been left");
    if (clock->status == FINISHED) return fmi2Discard;
    if (clock->status > FINISHED) return failed(it, unit_words(it->unit));
    if (!unit_goes_on(it->unit, now, length)) return failed(it, "a step must go on from where the last one has ended");
    if (!unit_advance(it->unit, now + length)) return failed(it, unit_words(it->unit));
    return clock->status == FINISHED ? fmi2Discard : fmi2OK;
}

EXPORT fmi2Status fmi2GetRealStatus(fmi2Component instance, const fmi2StatusKind kind, fmi2Real *value) {
    Instance *it = instance;
    if (kind != fmi2LastSuccessfulTime) return fmi2Discard;
    *value = it->unit->clock->time;
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetBooleanStatus(fmi2Component instance, const fmi2StatusKind kind, fmi2Boolean *value) {
    Instance *it = instance;
    if (kind != fmi2Terminated) return fmi2Discard;
    *value = it->unit->clock->status == FINISHED;
    return fmi2OK;
}

REFUSED(fmi2SetRealInputDerivatives, const fmi2ValueReference references[], size_t count, const fmi2Integer orders[],
        const fmi2Real values[])
REFUSED(fmi2GetRealOutputDerivatives, const fmi2ValueReference references[], size_t count, const fmi2Integer orders[],
        fmi2Real values[])
REFUSED(fmi2GetStatus, const fmi2StatusKind kind, fmi2Status *value)
REFUSED(fmi2GetIntegerStatus, const fmi2StatusKind kind, fmi2Integer *value)
REFUSED(fmi2GetStringStatus, const fmi2StatusKind kind, fmi2String *value)

EXPORT fmi2Status fmi2CancelStep(fmi2Component instance) { return failed(instance, "steps end by themselves"); }
