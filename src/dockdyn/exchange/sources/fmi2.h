/* What the files of FMI 2.0 share: its types, an instance, and how a function refuses. */
#ifndef FMI2_H
#define FMI2_H

#include "unit.h"

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum { fmi2DoStepStatus, fmi2PendingStatus, fmi2LastSuccessfulTime, fmi2Terminated } fmi2StatusKind;
typedef void *fmi2Component, *fmi2ComponentEnvironment, *fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer, fmi2Boolean;
typedef const char *fmi2String;
typedef char fmi2Byte;
typedef void (*fmi2Logger)(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String, ...);

typedef struct {
    fmi2Logger logger;
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*finished)(fmi2ComponentEnvironment, fmi2Status);
    fmi2ComponentEnvironment environment;
} fmi2CallbackFunctions;

typedef struct {
    Unit *unit;
    const fmi2CallbackFunctions *callbacks;
    bool logging;
} Instance;

extern const fmi2Type kind_of_unit;

fmi2Status failed(const Instance *it, const char *words);

/* A function of what an FMU has not. */
#define REFUSED(name, ...)                                               \
    EXPORT fmi2Status name(fmi2Component instance, __VA_ARGS__) {        \
        return failed(instance, #name ": this FMU has nothing of that"); \
    }

#endif
