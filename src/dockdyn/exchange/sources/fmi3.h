/* What the files of FMI 3.0 share: its types, an instance, and how a function refuses. */
#ifndef FMI3_H
#define FMI3_H

#include "unit.h"

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef void *fmi3Instance, *fmi3InstanceEnvironment, *fmi3FMUState;
typedef uint32_t fmi3ValueReference;
typedef double fmi3Float64;
typedef bool fmi3Boolean;
typedef const char *fmi3String;
typedef const uint8_t *fmi3Binary;
typedef void (*fmi3LogMessageCallback)(fmi3InstanceEnvironment, fmi3Status, fmi3String, fmi3String);
typedef void (*Callback)(void); /* one that is never called */

typedef struct {
    Unit *unit;
    fmi3InstanceEnvironment environment;
    fmi3LogMessageCallback log;
    bool logging;
} Instance;

fmi3Status failed(const Instance *it, const char *words);
Instance *new_instance(fmi3String token, fmi3Boolean logging, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log);

/* A function of what an FMU has not, or a mode that it does not know. */
#define REFUSED(name, ...)                                              \
    EXPORT fmi3Status name(fmi3Instance instance, __VA_ARGS__) {        \
        return failed(instance, #name ": this FMU has nothing of that"); \
    }
#define MODE(name) \
    EXPORT fmi3Status name(fmi3Instance instance) { return failed(instance, #name ": this FMU has no such mode"); }

#endif
