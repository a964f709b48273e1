/* FMI 3.0 of a unit that another program integrates: model exchange. */
#include <math.h>
#include <string.h>

#include "fmi3.h"
#include "model.h"
#include "motion.h"

EXPORT fmi3Instance fmi3InstantiateModelExchange(
    fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,
    fmi3InstanceEnvironment environment, fmi3LogMessageCallback log) {
    (void)name, (void)resources, (void)visible;
    return new_instance(token, logging, environment, log);
}

EXPORT fmi3Instance fmi3InstantiateCoSimulation(
    fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,
    fmi3Boolean events, fmi3Boolean early, const fmi3ValueReference required[], size_t count,
    fmi3InstanceEnvironment environment, fmi3LogMessageCallback log, Callback intermediate) {
    (void)name, (void)token, (void)resources, (void)visible, (void)logging, (void)events, (void)early, (void)required;
    (void)count, (void)environment, (void)log, (void)intermediate;
    return NULL;
}

EXPORT fmi3Status fmi3EnterEventMode(fmi3Instance instance) {
    (void)instance;
    return fmi3OK;
}

EXPORT fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance instance) {
    (void)instance;
    return fmi3OK;
}

EXPORT fmi3Status fmi3UpdateDiscreteStates(
    fmi3Instance instance, fmi3Boolean *again, fmi3Boolean *terminate, fmi3Boolean *nominals, fmi3Boolean *states,
    fmi3Boolean *has_next, fmi3Float64 *next) {
    Instance *it = instance;
    Jump jump;
    if (!motion_jump(it->unit, &jump)) return failed(it, "the event cannot be worked out");
    *again = jump.again;
    *terminate = jump.over;
    *nominals = false;
    *states = true;
    *has_next = isfinite(jump.next);
    *next = jump.next;
    return fmi3OK;
}

EXPORT fmi3Status fmi3CompletedIntegratorStep(
    fmi3Instance instance, fmi3Boolean no_return, fmi3Boolean *event, fmi3Boolean *terminate) {
    Instance *it = instance;
    bool asks;
    (void)no_return;
    *terminate = false;
    if (!motion_settle(it->unit, &asks)) return failed(it, "the end of the step cannot be worked out");
    *event = asks;
    return fmi3OK;
}

EXPORT fmi3Status fmi3SetTime(fmi3Instance instance, fmi3Float64 time) {
    ((Instance *)instance)->unit->clock->time = time;
    return fmi3OK;
}

EXPORT fmi3Status fmi3SetContinuousStates(fmi3Instance instance, const fmi3Float64 states[], size_t count) {
    Instance *it = instance;
    if (count != MODEL_STATES) return failed(it, "there are not so many states");
    memcpy(motion_states(it->unit), states, count * sizeof(double));
    it->unit->observed = false;
    return fmi3OK;
}

EXPORT fmi3Status fmi3GetContinuousStates(fmi3Instance instance, fmi3Float64 states[], size_t count) {
    Instance *it = instance;
    if (count != MODEL_STATES) return failed(it, "there are not so many states");
    memcpy(states, motion_states(it->unit), count * sizeof(double));
    return fmi3OK;
}

EXPORT fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance instance, fmi3Float64 rates[], size_t count) {
    Instance *it = instance;
    if (count != MODEL_STATES || !motion_rates(it->unit, rates)) return failed(it, "there are no such rates");
    return fmi3OK;
}

EXPORT fmi3Status fmi3GetEventIndicators(fmi3Instance instance, fmi3Float64 indicators[], size_t count) {
    Instance *it = instance;
    if (count != MODEL_GUARDS || !motion_guards(it->unit, indicators)) return failed(it, "there are no such indicators");
    return fmi3OK;
}

EXPORT fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance instance, fmi3Float64 nominals[], size_t count) {
    (void)instance;
    for (size_t i = 0; i < count; i++) nominals[i] = 1.0;
    return fmi3OK;
}

EXPORT fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance instance, size_t *count) {
    (void)instance;
    *count = MODEL_GUARDS;
    return fmi3OK;
}

EXPORT fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance instance, size_t *count) {
    (void)instance;
    *count = MODEL_STATES;
    return fmi3OK;
}

REFUSED(fmi3DoStep, fmi3Float64 now, fmi3Float64 length, fmi3Boolean no_return, fmi3Boolean *event,
        fmi3Boolean *terminate, fmi3Boolean *early, fmi3Float64 *last)
