/* The cycle of a rig in real time: packets in, the generated cycle, a packet out, a record into a ring.
 *
 * Where the robot is the master a cycle begins when its pose arrives, or when none has for a period and a half, and each
 * period after that: then nothing is due, and only what is watched goes on. Else it begins at instants of the clock, a
 * period apart. In the loop nothing is allocated, nothing is locked, nothing is waited for but that; what others send, and
 * what is no good packet, begins no cycle and keeps none waiting.
 */
#define _GNU_SOURCE
#include "shared.h"
#include "calls.h"
#include "wire.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ASK_EVERY = 64, STOP = 4, IDLE = 0, FAULT = 5 };
enum { MOST = 256 }; /* packets that are taken from a device at once */
enum { NO_RIGHTS = 3, NO_NETWORK = 4, NO_MEMORY = 5, NO_CYCLE = 6 };
static const int64_t SECOND = 1000000000;

static volatile sig_atomic_t ended; /* a signal has come: brake, then end */

static void on_signal(int number) {
    (void)number;
    ended = 1;
}

static int64_t now(clockid_t clock) {
    struct timespec moment;
    clock_gettime(clock, &moment);
    return moment.tv_sec * SECOND + moment.tv_nsec;
}

static void fail(int code, const char *what) {
    fprintf(stderr, "%s: %s\n", what, errno ? strerror(errno) : "refused");
    exit(code);
}

/* Ask to run before ordinary processes, in memory that is kept, on one processor where that is named. */
static void become_real_time(head *shared, int priority, int cpu, bool best_effort) {
    const struct sched_param wanted = {.sched_priority = priority};
    if (cpu >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(cpu, &set);
        if (sched_setaffinity(0, sizeof set, &set) && !best_effort) fail(NO_RIGHTS, "the processor");
    }
    shared->memory_locked = !mlockall(MCL_CURRENT | MCL_FUTURE);
    if (!shared->memory_locked && !best_effort) fail(NO_RIGHTS, "memory cannot be locked");
    shared->real_time = !sched_setscheduler(0, SCHED_FIFO, &wanted);
    if (!shared->real_time && !best_effort) fail(NO_RIGHTS, "real-time scheduling");
}

/* The devices, in a file that is made for them. */
extern void *const rig_sensor_device, *const rig_robot_device;
extern const bool rig_robot_tells_late; /* its status is how many answers were late since its last pose */
extern const dd_sensor_calls *const rig_sensor_calls;
extern const dd_robot_calls *const rig_robot_calls;

typedef struct {
    wire sensor, robot;
    bool by_clock;      /* cycles begin at instants of the clock */
    int64_t period;     /* ns */
    int64_t due;        /* ns, CLOCK_MONOTONIC: when the next cycle begins at the latest */
    int64_t arrived;    /* ns, CLOCK_MONOTONIC: of the last good pose, or the instant of this cycle */
    dd_pose pose;       /* the last one, with joints that are NaN where the robot does not tell them */
} bench;

/* Whether a packet is refused for a number that no measurement has. */
static bool is_no_number(int error) {
    return error == DD_NOT_A_NUMBER || error == DD_OUT_OF_RANGE;
}

/* Numbers that are none, for the cycle to stop on. */
static void invalidate(double *numbers, size_t size) {
    for (size_t i = 0; i < size / sizeof *numbers; i++) numbers[i] = NAN;
}

static void take_readings(bench *rig, head *shared, cycle_inputs *in) {
    uint8_t packet[WIRE_PACKET];
    int64_t arrived;
    ssize_t size;
    dd_reading reading = {.status = 0};
    int left = MOST, error;
    while ((size = wire_take(&rig->sensor, packet, &arrived, &left)) >= 0) {
        if ((error = rig_sensor_calls->decode(rig_sensor_device, packet, (size_t)size, &reading))) {
            shared->bad_readings++;
            if (rig->sensor.accepted && is_no_number(error)) invalidate(in->load, sizeof in->load);
            continue;
        }
        double whole[6];
        memcpy(whole, reading.force, sizeof reading.force);
        memcpy(whole + 3, reading.torque, sizeof reading.torque);
        memcpy(in->load, whole, sizeof in->load);
        in->load_count = (int64_t)reading.sequence;
        in->load_status = reading.status;
        wire_accept(&rig->sensor);
    }
}

/* How many good poses waited; of several the last one is answered. `late` of the inputs grows by the cycles that were missed. */
static int take_poses(bench *rig, head *shared, cycle_inputs *in) {
    uint8_t packet[WIRE_PACKET];
    int64_t arrived;
    ssize_t size;
    int found = 0, left = MOST, error;
    while ((size = wire_take(&rig->robot, packet, &arrived, &left)) >= 0) {
        if ((error = rig_robot_calls->decode(rig_robot_device, packet, (size_t)size, &rig->pose))) {
            shared->bad_poses += error != DD_OTHER_MESSAGE;
            if (rig->robot.accepted && is_no_number(error)) invalidate(in->pose, sizeof in->pose);
            continue;
        }
        double whole[6];
        memcpy(whole, rig->pose.position, sizeof rig->pose.position);
        memcpy(whole + 3, rig->pose.rotation_vector, sizeof rig->pose.rotation_vector);
        memcpy(in->pose, whole, sizeof in->pose);
        in->pose_count = (int64_t)rig->pose.sequence;
        in->pose_status = rig_robot_tells_late ? 0 : rig->pose.status;
        in->late += (found > 0 && !rig->by_clock) + (rig_robot_tells_late ? rig->pose.status : 0);
        wire_accept(&rig->robot);
        if (!rig->by_clock) rig->arrived = arrived;
        found++;
    }
    return found;
}

static bool send_command(bench *rig, const cycle_outputs *out, int64_t time, bool last) {
    uint8_t packet[WIRE_PACKET];
    double whole[6] = {0};
    dd_command command;
    memcpy(whole, out->command, sizeof out->command);
    memcpy(command.position, whole, sizeof command.position);
    memcpy(command.rotation_vector, whole + 3, sizeof command.rotation_vector);
    const uint64_t milliseconds = (uint64_t)(time / 1000000);
    size_t size;
    while (rig_robot_calls->fill && (size = rig_robot_calls->fill(rig_robot_device, &command, packet, sizeof packet)))
        wire_send(&rig->robot, packet, size);
    size = rig_robot_calls->encode(rig_robot_device, &command, milliseconds, last, packet, sizeof packet);
    return size && wire_send(&rig->robot, packet, size);
}

static void ask(wire *way, void *device, size_t (*words)(void *, uint8_t *, size_t)) {
    uint8_t packet[WIRE_PACKET];
    const size_t size = way->known ? words(device, packet, sizeof packet) : 0;
    if (size) wire_send(way, packet, size);
}

/* Wait for the robot, or until it is late: how many good poses there are; negative where that cannot be waited for. */
static int wait_for_poses(bench *rig, head *shared, cycle_inputs *in) {
    int found = 0;
    int64_t left;
    do {
        struct pollfd waiting = {.fd = rig->robot.in, .events = POLLIN}; /* negative: only the time counts */
        left = rig->due - now(CLOCK_MONOTONIC);
        const struct timespec patience = {.tv_sec = left > 0 ? left / SECOND : 0, .tv_nsec = left > 0 ? left % SECOND : 0};
        if (ppoll(&waiting, 1, &patience, NULL) < 0 && errno != EINTR) return -1;
        found = take_poses(rig, shared, in);
    } while (!found && left > 0);
    return found;
}

/* Sleep until the instant of the next cycle: how many were missed before it. */
static int64_t sleep_to_instant(bench *rig) {
    const struct timespec instant = {.tv_sec = rig->due / SECOND, .tv_nsec = rig->due % SECOND};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &instant, NULL) == EINTR) continue;
    const int64_t behind = now(CLOCK_MONOTONIC) - rig->due;
    rig->arrived = rig->due;
    const int64_t missed = behind / rig->period;
    rig->due += (missed + 1) * rig->period;
    return missed;
}

static int run(bench *rig, head *shared, record *ring, char *memory) {
    cycle_inputs in = {.load_count = -1, .pose_count = -1};
    cycle_outputs out;
    bool over = false;
    const int64_t began = now(CLOCK_MONOTONIC);
    rig->due = began + rig->period;
    for (int64_t cycle = 0; !over; cycle++) {
        in.late = rig->by_clock ? sleep_to_instant(rig) : 0;
        const int poses = rig->by_clock ? take_poses(rig, shared, &in) : wait_for_poses(rig, shared, &in);
        if (poses < 0) return NO_NETWORK;
        const int64_t woken = now(CLOCK_MONOTONIC);
        if (!cycle) in.late = 0; /* what has waited for the loop to begin was not missed */
        if (!rig->by_clock) rig->due = woken + (poses ? rig->period * 3 / 2 : rig->period);
        take_readings(rig, shared, &in);
        in.request = __atomic_exchange_n(&shared->request, 0, __ATOMIC_ACQUIRE);
        if (ended) in.request = STOP;
        in.held = woken < __atomic_load_n(&shared->held_until, __ATOMIC_ACQUIRE);
        in.due = poses || rig->by_clock;
        if (!cycle_step(memory, &in, &out)) return NO_CYCLE;
        over = (ended || __atomic_load_n(&shared->quit, __ATOMIC_ACQUIRE)) && (out.state == IDLE || out.state == FAULT);
        int64_t answer = -1;
        if (in.due && out.send && send_command(rig, &out, woken - began, over)) answer = now(CLOCK_MONOTONIC) - rig->arrived;
        if (cycle % ASK_EVERY == 0 && in.load_count < 0) ask(&rig->sensor, rig_sensor_device, rig_sensor_calls->start);
        if (cycle % ASK_EVERY == 0 && in.pose_count < 0) ask(&rig->robot, rig_robot_device, rig_robot_calls->start);
        shared->foreign = rig->sensor.foreign + rig->robot.foreign;
        record *next = ring + shared->written % shared->capacity;
        *next = (record){.time = woken - began, .answer = answer, .waiting = poses, .inputs = in, .outputs = out};
        memcpy(next->joints, rig->pose.joints, sizeof next->joints);
        __atomic_store_n(&shared->written, shared->written + 1, __ATOMIC_RELEASE);
    }
    ask(&rig->sensor, rig_sensor_device, rig_sensor_calls->stop);
    ask(&rig->robot, rig_robot_device, rig_robot_calls->stop);
    return 0;
}

static void *mapped(const char *path, size_t *size) {
    struct stat facts;
    const int opened = open(path, O_RDWR);
    if (opened < 0 || fstat(opened, &facts)) fail(NO_MEMORY, path);
    *size = (size_t)facts.st_size;
    void *found = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
    if (found == MAP_FAILED) fail(NO_MEMORY, path);
    close(opened);
    return found;
}

/* SHARED IMAGE PERIOD_NS BY_CLOCK PRIORITY CPU BEST_EFFORT SENSOR ROBOT: the last two as `wire_open` takes them. */
int main(int count, char **words) {
    if (count != 10) return 2;
    size_t size, image_size;
    static bench rig;
    const pid_t parent = getppid();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    signal(SIGTERM, on_signal);
    signal(SIGHUP, on_signal);
    signal(SIGINT, SIG_IGN); /* who started it asks for the stop */
    head *shared = mapped(words[1], &size);
    char *image = mapped(words[2], &image_size);
    char *memory = malloc(image_size);
    if (!memory || image_size != (size_t)cycle_memory_bytes) fail(NO_MEMORY, "the memory of the cycle");
    memcpy(memory, image, image_size);
    munmap(image, image_size);
    shared->capacity = (int64_t)((size - RECORDS_AT) / sizeof(record));
    if (!wire_open(&rig.sensor, words[8], NULL)) fail(NO_NETWORK, words[8]);
    if (!wire_open(&rig.robot, words[9], rig_robot_calls->cut)) fail(NO_NETWORK, words[9]);
    rig.period = atoll(words[3]);
    rig.by_clock = atoi(words[4]);
    for (int i = 0; i < 8; i++) rig.pose.joints[i] = NAN;
    become_real_time(shared, atoi(words[5]), atoi(words[6]), atoi(words[7]));
    if (getppid() != parent) ended = 1;
    shared->began = now(CLOCK_REALTIME);
    const int code = run(&rig, shared, (record *)((char *)shared + RECORDS_AT), memory);
    __atomic_store_n(&shared->over, 1, __ATOMIC_RELEASE);
    return code;
}
