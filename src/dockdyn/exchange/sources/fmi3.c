/* A functional unit as FMI 3.0 has it, whoever integrates it. Names and meanings: https://fmi-standard.org/docs/3.0 */
#include <stdlib.h>
#include <string.h>

#include "fmi3.h"
#include "variables.h"

EXPORT const char *fmi3GetVersion(void) { return "3.0"; }

Instance *new_instance(fmi3String token, fmi3Boolean logging, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log) {
    Instance given = {NULL, environment, log, log != NULL};
    if (token == NULL || strcmp(token, model_token) != 0) {
        failed(&given, "the instantiation token is that of another FMU");
        return NULL;
    }
    Instance *it = malloc(sizeof(Instance));
    if (it == NULL) return NULL;
    *it = given;
    it->logging = logging;
    it->unit = unit_new();
    if (it->unit != NULL) return it;
    failed(&given, "there is no memory");
    free(it);
    return NULL;
}

fmi3Status failed(const Instance *it, const char *words) {
    if (it->log != NULL && it->logging) it->log(it->environment, fmi3Error, "logStatusError", words);
    return fmi3Error;
}

EXPORT fmi3Instance fmi3InstantiateScheduledExecution(
    fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,
    fmi3InstanceEnvironment environment, fmi3LogMessageCallback log, Callback update, Callback lock, Callback unlock) {
    (void)name, (void)token, (void)resources, (void)visible, (void)logging, (void)environment, (void)log;
    (void)update, (void)lock, (void)unlock;
    return NULL;
}

EXPORT void fmi3FreeInstance(fmi3Instance instance) {
    Instance *it = instance;
    if (it == NULL) return;
    unit_free(it->unit);
    free(it);
}

EXPORT fmi3Status fmi3SetDebugLogging(fmi3Instance instance, fmi3Boolean on, size_t count, const fmi3String names[]) {
    (void)count, (void)names;
    ((Instance *)instance)->logging = on;
    return fmi3OK;
}

EXPORT fmi3Status fmi3EnterInitializationMode(
    fmi3Instance instance, fmi3Boolean has_tolerance, fmi3Float64 tolerance, fmi3Float64 start, fmi3Boolean has_stop,
    fmi3Float64 stop) {
    (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop;
    Instance *it = instance;
    if (it->unit->clock->moving) return failed(it, "initialization mode can be entered once, until a reset");
    it->unit->clock->start = it->unit->clock->time = start;
    return fmi3OK;
}

EXPORT fmi3Status fmi3ExitInitializationMode(fmi3Instance instance) {
    Instance *it = instance;
    if (!it->unit->clock->begun && !unit_begin(it->unit)) return failed(it, "these parameters have no beginning");
    it->unit->clock->moving = 1;
    return fmi3OK;
}

EXPORT fmi3Status fmi3Terminate(fmi3Instance instance) {
    (void)instance;
    return fmi3OK;
}

EXPORT fmi3Status fmi3Reset(fmi3Instance instance) {
    Instance *it = instance;
    unit_reset(it->unit);
    return fmi3OK;
}

EXPORT fmi3Status fmi3GetFloat64(
    fmi3Instance instance, const fmi3ValueReference references[], size_t count, fmi3Float64 values[], size_t size) {
    Instance *it = instance;
    if (count != size) return failed(it, "every variable has one value");
    for (size_t i = 0; i < count; i++)
        if (is_flag(references[i]) || !read_variable(it->unit, references[i], &values[i]))
            return failed(it, "this variable cannot be read as Float64");
    return fmi3OK;
}

EXPORT fmi3Status fmi3SetFloat64(
    fmi3Instance instance, const fmi3ValueReference references[], size_t count, const fmi3Float64 values[], size_t size) {
    Instance *it = instance;
    if (count != size) return failed(it, "every variable has one value");
    for (size_t i = 0; i < count; i++) {
        const char *why = write_variable(it->unit, references[i], values[i], !it->unit->clock->moving);
        if (why != NULL) return failed(it, why);
    }
    return fmi3OK;
}

EXPORT fmi3Status fmi3GetBoolean(
    fmi3Instance instance, const fmi3ValueReference references[], size_t count, fmi3Boolean values[], size_t size) {
    Instance *it = instance;
    if (count != size) return failed(it, "every variable has one value");
    for (size_t i = 0; i < count; i++) {
        double value = 0.0;
        if (!is_flag(references[i]) || !read_variable(it->unit, references[i], &value))
            return failed(it, "this variable cannot be read as Boolean");
        values[i] = value != 0.0;
    }
    return fmi3OK;
}

EXPORT fmi3Status fmi3GetFMUState(fmi3Instance instance, fmi3FMUState *state) {
    Instance *it = instance;
    if (*state == NULL) *state = malloc(unit_bytes());
    if (*state == NULL) return failed(it, "there is no memory");
    unit_save(it->unit, *state);
    return fmi3OK;
}

EXPORT fmi3Status fmi3SetFMUState(fmi3Instance instance, fmi3FMUState state) {
    Instance *it = instance;
    if (state == NULL || !unit_load(it->unit, state, unit_bytes())) return failed(it, "this state is of another FMU");
    return fmi3OK;
}

EXPORT fmi3Status fmi3FreeFMUState(fmi3Instance instance, fmi3FMUState *state) {
    (void)instance;
    if (state == NULL) return fmi3OK;
    free(*state);
    *state = NULL;
    return fmi3OK;
}

EXPORT fmi3Status fmi3SerializedFMUStateSize(fmi3Instance instance, fmi3FMUState state, size_t *size) {
    (void)instance, (void)state;
    *size = unit_bytes();
    return fmi3OK;
}

EXPORT fmi3Status fmi3SerializeFMUState(fmi3Instance instance, fmi3FMUState state, uint8_t bytes[], size_t size) {
    if (size < unit_bytes()) return failed(instance, "the room for the state is too small");
    memcpy(bytes, state, unit_bytes());
    return fmi3OK;
}

EXPORT fmi3Status fmi3DeserializeFMUState(
    fmi3Instance instance, const uint8_t bytes[], size_t size, fmi3FMUState *state) {
    if (size != unit_bytes()) return failed(instance, "this state is of another FMU");
    if (*state == NULL) *state = malloc(size);
    if (*state == NULL) return failed(instance, "there is no memory");
    memcpy(*state, bytes, size);
    return fmi3OK;
}

/* What no unit has: variables of other types, clocks, dependencies, directional derivatives, states to integrate. */

#define VALUES(type, ctype)                                                                                     \
    REFUSED(fmi3Get##type, const fmi3ValueReference references[], size_t count, ctype values[], size_t size)    \
    REFUSED(fmi3Set##type, const fmi3ValueReference references[], size_t count, const ctype values[], size_t size)

VALUES(Float32, float)
VALUES(Int8, int8_t)
VALUES(UInt8, uint8_t)
VALUES(Int16, int16_t)
VALUES(UInt16, uint16_t)
VALUES(Int32, int32_t)
VALUES(UInt32, uint32_t)
VALUES(Int64, int64_t)
VALUES(UInt64, uint64_t)
VALUES(String, fmi3String)
REFUSED(fmi3SetBoolean, const fmi3ValueReference references[], size_t count, const fmi3Boolean values[], size_t size)
REFUSED(fmi3GetBinary, const fmi3ValueReference references[], size_t count, size_t sizes[], fmi3Binary values[], size_t n)
REFUSED(fmi3SetBinary, const fmi3ValueReference references[], size_t count, const size_t sizes[],
        const fmi3Binary values[], size_t n)
REFUSED(fmi3GetClock, const fmi3ValueReference references[], size_t count, fmi3Boolean values[])
REFUSED(fmi3SetClock, const fmi3ValueReference references[], size_t count, const fmi3Boolean values[])
REFUSED(fmi3GetNumberOfVariableDependencies, fmi3ValueReference reference, size_t *count)
REFUSED(fmi3GetVariableDependencies, fmi3ValueReference reference, size_t elements[], fmi3ValueReference others[],
        size_t other_elements[], int kinds[], size_t count)
REFUSED(fmi3GetDirectionalDerivative, const fmi3ValueReference unknowns[], size_t n, const fmi3ValueReference knowns[],
        size_t m, const fmi3Float64 seed[], size_t seeds, fmi3Float64 sensitivity[], size_t sensitivities)
REFUSED(fmi3GetAdjointDerivative, const fmi3ValueReference unknowns[], size_t n, const fmi3ValueReference knowns[],
        size_t m, const fmi3Float64 seed[], size_t seeds, fmi3Float64 sensitivity[], size_t sensitivities)
REFUSED(fmi3GetIntervalDecimal, const fmi3ValueReference references[], size_t count, fmi3Float64 intervals[], int kinds[])
REFUSED(fmi3GetIntervalFraction, const fmi3ValueReference references[], size_t count, uint64_t counters[],
        uint64_t resolutions[], int kinds[])
REFUSED(fmi3GetShiftDecimal, const fmi3ValueReference references[], size_t count, fmi3Float64 shifts[])
REFUSED(fmi3GetShiftFraction, const fmi3ValueReference references[], size_t count, uint64_t counters[],
        uint64_t resolutions[])
REFUSED(fmi3SetIntervalDecimal, const fmi3ValueReference references[], size_t count, const fmi3Float64 intervals[])
REFUSED(fmi3SetIntervalFraction, const fmi3ValueReference references[], size_t count, const uint64_t counters[],
        const uint64_t resolutions[])
REFUSED(fmi3SetShiftDecimal, const fmi3ValueReference references[], size_t count, const fmi3Float64 shifts[])
REFUSED(fmi3SetShiftFraction, const fmi3ValueReference references[], size_t count, const uint64_t counters[],
        const uint64_t resolutions[])
REFUSED(fmi3GetOutputDerivatives, const fmi3ValueReference references[], size_t count, const int32_t orders[],
        fmi3Float64 values[], size_t size)
REFUSED(fmi3ActivateModelPartition, fmi3ValueReference clock, fmi3Float64 time)

MODE(fmi3EnterConfigurationMode)
MODE(fmi3ExitConfigurationMode)
MODE(fmi3EnterStepMode)
MODE(fmi3EvaluateDiscreteStates)
