/* FMI 3.0 of a unit that integrates itself: co-simulation. */
#include "fmi3.h"
#include "steps.h"

EXPORT void fmi3FreeInstance(fmi3Instance instance);

EXPORT fmi3Instance fmi3InstantiateCoSimulation(
    fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,
    fmi3Boolean events, fmi3Boolean early, const fmi3ValueReference required[], size_t count,
    fmi3InstanceEnvironment environment, fmi3LogMessageCallback log, Callback intermediate) {
    (void)name, (void)resources, (void)visible, (void)early, (void)required, (void)intermediate;
    Instance *it = new_instance(token, logging, environment, log);
    if (it == NULL || (!events && count == 0)) return it;
    failed(it, "there is no event mode, and no variable between communication points");
    fmi3FreeInstance(it);
    return NULL;
}

EXPORT fmi3Instance fmi3InstantiateModelExchange(
    fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,
    fmi3InstanceEnvironment environment, fmi3LogMessageCallback log) {
    (void)name, (void)token, (void)resources, (void)visible, (void)logging, (void)environment, (void)log;
    return NULL;
}

EXPORT fmi3Status fmi3DoStep(
    fmi3Instance instance, fmi3Float64 now, fmi3Float64 length, fmi3Boolean no_return, fmi3Boolean *event,
    fmi3Boolean *terminate, fmi3Boolean *early, fmi3Float64 *last) {
    (void)no_return;
    Instance *it = instance;
    const Clock *clock = it->unit->clock;
    *event = *terminate = *early = false;
    *last = clock->time;
    if (!clock->moving) return failed(it, "initialization mode has not been left");
    if (clock->status == FINISHED) {
        *terminate = true;
        return fmi3Discard;
    }
    if (clock->status > FINISHED) return failed(it, unit_words(it->unit));
    if (!unit_goes_on(it->unit, now, length)) return failed(it, "a step must go on from where the last one has ended");
    bool good = unit_advance(it->unit, now + length);
    *last = clock->time;
    *terminate = clock->status == FINISHED;
    return good ? fmi3OK : failed(it, unit_words(it->unit));
}

REFUSED(fmi3UpdateDiscreteStates, fmi3Boolean *a, fmi3Boolean *b, fmi3Boolean *c, fmi3Boolean *d, fmi3Boolean *e,
        fmi3Float64 *next)
REFUSED(fmi3CompletedIntegratorStep, fmi3Boolean no_return, fmi3Boolean *event, fmi3Boolean *terminate)
REFUSED(fmi3SetTime, fmi3Float64 time)
REFUSED(fmi3SetContinuousStates, const fmi3Float64 states[], size_t count)
REFUSED(fmi3GetContinuousStateDerivatives, fmi3Float64 rates[], size_t count)
REFUSED(fmi3GetEventIndicators, fmi3Float64 indicators[], size_t count)
REFUSED(fmi3GetContinuousStates, fmi3Float64 states[], size_t count)
REFUSED(fmi3GetNominalsOfContinuousStates, fmi3Float64 nominals[], size_t count)
REFUSED(fmi3GetNumberOfEventIndicators, size_t *count)
REFUSED(fmi3GetNumberOfContinuousStates, size_t *count)

MODE(fmi3EnterEventMode)
MODE(fmi3EnterContinuousTimeMode)
