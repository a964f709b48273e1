/* A host without Python: loads an FMU of FMI 3.0, sets a parameter, takes steps and prints what it reads. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *(*Instantiate)(const char *, const char *, const char *, bool, bool, bool, bool, const uint32_t *, size_t,
                             void *, void *, void *);
typedef int (*Enter)(void *, bool, double, double, bool, double);
typedef int (*Plain)(void *);
typedef int (*Set)(void *, const uint32_t *, size_t, const double *, size_t);
typedef int (*Get)(void *, const uint32_t *, size_t, double *, size_t);
typedef int (*Step)(void *, double, double, bool, bool *, bool *, bool *, double *);

static void *library;

static void *named(const char *name) {
    void *found = dlsym(library, name);
    if (found == NULL) exit(1);
    return found;
}

/* host LIBRARY TOKEN PARAMETER VALUE STEP COUNT OUTPUT... */
int main(int count, char **words) {
    library = dlopen(words[1], RTLD_NOW);
    if (library == NULL || count < 8) return 1;
    void *fmu = ((Instantiate)named("fmi3InstantiateCoSimulation"))(
        "one", words[2], "", false, false, false, false, NULL, 0, NULL, NULL, NULL);
    if (fmu == NULL) return 2;
    uint32_t parameter = (uint32_t)atoi(words[3]);
    double value = strtod(words[4], NULL), step = strtod(words[5], NULL), last;
    bool event, end, early;
    int bad = ((Set)named("fmi3SetFloat64"))(fmu, &parameter, 1, &value, 1);
    bad |= ((Enter)named("fmi3EnterInitializationMode"))(fmu, false, 0.0, 0.0, false, 0.0);
    bad |= ((Plain)named("fmi3ExitInitializationMode"))(fmu);
    for (int i = 0; i < atoi(words[6]); i++)
        bad |= ((Step)named("fmi3DoStep"))(fmu, i * step, (i + 1) * step - i * step, true, &event, &end, &early, &last);
    for (int i = 7; i < count; i++) {
        uint32_t output = (uint32_t)atoi(words[i]);
        bad |= ((Get)named("fmi3GetFloat64"))(fmu, &output, 1, &value, 1);
        printf("%a\n", value);
    }
    ((void (*)(void *))named("fmi3FreeInstance"))(fmu);
    return bad ? 3 : 0;
}
