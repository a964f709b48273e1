/* A functional unit as FMI 2.0 has it: whoever integrates it. Names and meanings: https://fmi-standard.org/downloads, 2.0.4 */
#include <stdlib.h>
#include <string.h>

#include "fmi2.h"
#include "variables.h"

fmi2Status failed(const Instance *it, const char *words) {
    const fmi2CallbackFunctions *callbacks = it->callbacks;
    if (callbacks != NULL && callbacks->logger != NULL && it->logging)
        callbacks->logger(callbacks->environment, "", fmi2Error, "logStatusError", "%s", words);
    return fmi2Error;
}

EXPORT const char *fmi2GetTypesPlatform(void) { return "default"; }

EXPORT const char *fmi2GetVersion(void) { return "2.0"; }

EXPORT fmi2Component fmi2Instantiate(
    fmi2String name, fmi2Type type, fmi2String token, fmi2String resources, const fmi2CallbackFunctions *callbacks,
    fmi2Boolean visible, fmi2Boolean logging) {
    (void)name, (void)resources, (void)visible;
    Instance given = {NULL, callbacks, true};
    if (token == NULL || strcmp(token, model_token) != 0 || type != kind_of_unit) {
        failed(&given, "the GUID is that of another FMU, or it is not for this kind of simulation");
        return NULL;
    }
    Instance *it = malloc(sizeof(Instance));
    if (it == NULL) return NULL;
    *it = given;
    it->logging = logging != 0;
    it->unit = unit_new();
    if (it->unit != NULL) return it;
    failed(&given, "there is no memory");
    free(it);
    return NULL;
}

EXPORT void fmi2FreeInstance(fmi2Component instance) {
    Instance *it = instance;
    if (it == NULL) return;
    unit_free(it->unit);
    free(it);
}

EXPORT fmi2Status fmi2SetDebugLogging(fmi2Component instance, fmi2Boolean on, size_t count, const fmi2String names[]) {
    (void)count, (void)names;
    ((Instance *)instance)->logging = on != 0;
    return fmi2OK;
}

EXPORT fmi2Status fmi2SetupExperiment(
    fmi2Component instance, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real start, fmi2Boolean has_stop,
    fmi2Real stop) {
    (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop;
    Instance *it = instance;
    if (it->unit->clock->moving) return failed(it, "an experiment is set up before initialization, or after a reset");
    it->unit->clock->start = it->unit->clock->time = start;
    return fmi2OK;
}

EXPORT fmi2Status fmi2EnterInitializationMode(fmi2Component instance) {
    Instance *it = instance;
    if (it->unit->clock->moving) return failed(it, "initialization mode can be entered once, until a reset");
    return fmi2OK;
}

EXPORT fmi2Status fmi2ExitInitializationMode(fmi2Component instance) {
    Instance *it = instance;
    if (!it->unit->clock->begun && !unit_begin(it->unit)) return failed(it, "these parameters have no beginning");
    it->unit->clock->moving = 1;
    return fmi2OK;
}

EXPORT fmi2Status fmi2Terminate(fmi2Component instance) {
    (void)instance;
    return fmi2OK;
}

EXPORT fmi2Status fmi2Reset(fmi2Component instance) {
    unit_reset(((Instance *)instance)->unit);
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetReal(
    fmi2Component instance, const fmi2ValueReference references[], size_t count, fmi2Real values[]) {
    Instance *it = instance;
    for (size_t i = 0; i < count; i++)
        if (is_flag(references[i]) || !read_variable(it->unit, references[i], &values[i]))
            return failed(it, "this variable cannot be read as Real");
    return fmi2OK;
}

EXPORT fmi2Status fmi2SetReal(
    fmi2Component instance, const fmi2ValueReference references[], size_t count, const fmi2Real values[]) {
    Instance *it = instance;
    for (size_t i = 0; i < count; i++) {
        const char *why = write_variable(it->unit, references[i], values[i], !it->unit->clock->moving);
        if (why != NULL) return failed(it, why);
    }
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetBoolean(
    fmi2Component instance, const fmi2ValueReference references[], size_t count, fmi2Boolean values[]) {
    Instance *it = instance;
    for (size_t i = 0; i < count; i++) {
        double value = 0.0;
        if (!is_flag(references[i]) || !read_variable(it->unit, references[i], &value))
            return failed(it, "this variable cannot be read as Boolean");
        values[i] = value != 0.0;
    }
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetFMUstate(fmi2Component instance, fmi2FMUstate *state) {
    Instance *it = instance;
    if (*state == NULL) *state = malloc(unit_bytes());
    if (*state == NULL) return failed(it, "there is no memory");
    unit_save(it->unit, *state);
    return fmi2OK;
}

EXPORT fmi2Status fmi2SetFMUstate(fmi2Component instance, fmi2FMUstate state) {
    Instance *it = instance;
    if (state == NULL || !unit_load(it->unit, state, unit_bytes())) return failed(it, "this state is of another FMU");
    return fmi2OK;
}

EXPORT fmi2Status fmi2FreeFMUstate(fmi2Component instance, fmi2FMUstate *state) {
    (void)instance;
    if (state == NULL) return fmi2OK;
    free(*state);
    *state = NULL;
    return fmi2OK;
}

EXPORT fmi2Status fmi2SerializedFMUstateSize(fmi2Component instance, fmi2FMUstate state, size_t *size) {
    (void)instance, (void)state;
    *size = unit_bytes();
    return fmi2OK;
}

EXPORT fmi2Status fmi2SerializeFMUstate(fmi2Component instance, fmi2FMUstate state, fmi2Byte bytes[], size_t size) {
    if (size < unit_bytes()) return failed(instance, "the room for the state is too small");
    memcpy(bytes, state, unit_bytes());
    return fmi2OK;
}

EXPORT fmi2Status fmi2DeSerializeFMUstate(
    fmi2Component instance, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state) {
    if (size != unit_bytes()) return failed(instance, "this state is of another FMU");
    if (*state == NULL) *state = malloc(size);
    if (*state == NULL) return failed(instance, "there is no memory");
    memcpy(*state, bytes, size);
    return fmi2OK;
}

/* What no unit has: variables of other types, directional derivatives. */

REFUSED(fmi2GetInteger, const fmi2ValueReference references[], size_t count, fmi2Integer values[])
REFUSED(fmi2GetString, const fmi2ValueReference references[], size_t count, fmi2String values[])
REFUSED(fmi2SetInteger, const fmi2ValueReference references[], size_t count, const fmi2Integer values[])
REFUSED(fmi2SetBoolean, const fmi2ValueReference references[], size_t count, const fmi2Boolean values[])
REFUSED(fmi2SetString, const fmi2ValueReference references[], size_t count, const fmi2String values[])
REFUSED(fmi2GetDirectionalDerivative, const fmi2ValueReference unknowns[], size_t n, const fmi2ValueReference knowns[],
        size_t m, const fmi2Real seed[], fmi2Real sensitivity[])
