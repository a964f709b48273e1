/* The cycle of a rig in real time: packets in, the generated cycle, a packet out, a record into a ring.
 *
 * The robot is the master: a cycle begins when its pose arrives, or when none has for four periods. In the loop
 * nothing is allocated, nothing is locked, nothing is waited for but the packet of the robot.
 */
#define _GNU_SOURCE
#include "shared.h"
#include "calls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { PACKET = 2048, ASK_EVERY = 64, STOP = 4, IDLE = 0, FAULT = 5, MOST = 1024, PATIENCE = 4 };
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

static int open_socket(const char *host, int port, struct sockaddr_in *place, bool listens) {
    const int on = 1, opened = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    memset(place, 0, sizeof *place);
    place->sin_family = AF_INET;
    place->sin_port = htons((uint16_t)port);
    if (opened < 0 || inet_pton(AF_INET, host, &place->sin_addr) != 1) fail(NO_NETWORK, host);
    setsockopt(opened, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    if (listens && bind(opened, (struct sockaddr *)place, sizeof *place)) fail(NO_NETWORK, host);
    return opened;
}

/* One packet that waits and where it is from: its size, or negative; `arrived` is when the kernel had it (ns, CLOCK_REALTIME). */
static ssize_t take(int from, uint8_t *packet, struct sockaddr_in *sender, int64_t *arrived) {
    char control[256];
    struct iovec part = {.iov_base = packet, .iov_len = PACKET};
    struct msghdr message = {.msg_name = sender, .msg_namelen = sizeof *sender, .msg_iov = &part, .msg_iovlen = 1,
                             .msg_control = control, .msg_controllen = sizeof control};
    const ssize_t size = recvmsg(from, &message, MSG_DONTWAIT);
    *arrived = 0;
    for (struct cmsghdr *one = size < 0 ? NULL : CMSG_FIRSTHDR(&message); one; one = CMSG_NXTHDR(&message, one)) {
        if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_TIMESTAMPNS) continue;
        struct timespec moment;
        memcpy(&moment, CMSG_DATA(one), sizeof moment);
        *arrived = moment.tv_sec * SECOND + moment.tv_nsec;
    }
    return size;
}

static bool same(const struct sockaddr_in *one, const struct sockaddr_in *other) {
    return one->sin_addr.s_addr == other->sin_addr.s_addr && one->sin_port == other->sin_port;
}

typedef struct {
    int sensor, robot;
    struct sockaddr_in sensor_place, robot_place;
    bool sensor_known, robot_known; /* who they are: who is asked, or else who has spoken first */
    int64_t arrived; /* ns, of the last good pose */
} network;

/* The devices, in a file that is made for them. */
extern const char *const rig_sensor_name, *const rig_robot_name;
extern void *const rig_sensor_device, *const rig_robot_device;
extern const bool rig_robot_tells_late; /* its status is how many answers were late since its last pose */
static const dd_sensor_calls *sensor_calls;
static const dd_robot_calls *robot_calls;

static void take_readings(network *net, head *shared, cycle_inputs *in) {
    uint8_t packet[PACKET];
    struct sockaddr_in sender;
    int64_t arrived;
    dd_reading reading = {.status = 0};
    for (int i = 0; i < MOST; i++) {
        const ssize_t size = take(net->sensor, packet, &sender, &arrived);
        if (size < 0) break;
        if (net->sensor_known && !same(&sender, &net->sensor_place)) {
            shared->foreign++;
        } else if (sensor_calls->decode(rig_sensor_device, packet, (size_t)size, &reading)) {
            shared->bad_readings++;
        } else {
            double whole[6];
            memcpy(whole, reading.force, sizeof reading.force);
            memcpy(whole + 3, reading.torque, sizeof reading.torque);
            memcpy(in->load, whole, sizeof in->load);
            in->load_count = (int64_t)reading.sequence;
            in->load_status = reading.status;
            net->sensor_place = sender;
            net->sensor_known = true;
        }
    }
}

/* How many good poses waited; and in `late` of the inputs how many cycles were missed: of several the last one is answered. */
static int take_poses(network *net, head *shared, cycle_inputs *in) {
    uint8_t packet[PACKET];
    struct sockaddr_in sender;
    int64_t arrived;
    dd_pose pose = {.status = 0};
    int found = 0;
    in->late = 0;
    for (int i = 0; i < MOST; i++) {
        const ssize_t size = take(net->robot, packet, &sender, &arrived);
        if (size < 0) break;
        if (net->robot_known && !same(&sender, &net->robot_place)) {
            shared->foreign++;
        } else if (robot_calls->decode(rig_robot_device, packet, (size_t)size, &pose)) {
            shared->bad_poses++;
        } else {
            double whole[6];
            memcpy(whole, pose.position, sizeof pose.position);
            memcpy(whole + 3, pose.rotation_vector, sizeof pose.rotation_vector);
            memcpy(in->pose, whole, sizeof in->pose);
            in->pose_count = (int64_t)pose.sequence;
            in->pose_status = rig_robot_tells_late ? 0 : pose.status;
            in->late += (found > 0) + (rig_robot_tells_late ? pose.status : 0);
            net->robot_place = sender;
            net->robot_known = true;
            net->arrived = arrived;
            found++;
        }
    }
    return found;
}

static void send_command(network *net, const cycle_outputs *out, int64_t time) {
    uint8_t packet[PACKET];
    double whole[6] = {0};
    dd_command command;
    memcpy(whole, out->command, sizeof out->command);
    memcpy(command.position, whole, sizeof command.position);
    memcpy(command.rotation_vector, whole + 3, sizeof command.rotation_vector);
    const uint64_t milliseconds = (uint64_t)(time / 1000000);
    const size_t size = robot_calls->encode(rig_robot_device, &command, milliseconds, packet, sizeof packet);
    if (size) sendto(net->robot, packet, size, 0, (struct sockaddr *)&net->robot_place, sizeof net->robot_place);
}

static void ask_sensor(network *net, size_t (*ask)(void *, uint8_t *, size_t)) {
    uint8_t packet[PACKET];
    const size_t size = ask(rig_sensor_device, packet, sizeof packet);
    if (size) sendto(net->sensor, packet, size, 0, (struct sockaddr *)&net->sensor_place, sizeof net->sensor_place);
}

static int run(network *net, head *shared, record *ring, char *memory, int64_t period) {
    cycle_inputs in = {.load_count = -1, .pose_count = -1};
    cycle_outputs out;
    const int64_t began = now(CLOCK_MONOTONIC);
    int64_t due = began + period;
    for (int64_t cycle = 0;; cycle++) {
        struct pollfd waiting = {.fd = net->robot, .events = POLLIN};
        const int64_t left = due - now(CLOCK_MONOTONIC);
        const struct timespec patience = {.tv_sec = left > 0 ? left / SECOND : 0, .tv_nsec = left > 0 ? left % SECOND : 0};
        if (ppoll(&waiting, 1, &patience, NULL) < 0 && errno != EINTR) return NO_NETWORK;
        const int64_t woken = now(CLOCK_MONOTONIC);
        due = woken + PATIENCE * period;
        const int poses = take_poses(net, shared, &in);
        take_readings(net, shared, &in);
        in.request = __atomic_exchange_n(&shared->request, 0, __ATOMIC_ACQUIRE);
        if (ended) in.request = STOP;
        in.held = woken < __atomic_load_n(&shared->held_until, __ATOMIC_ACQUIRE);
        if (!cycle_step(memory, &in, &out)) return NO_CYCLE;
        int64_t answer = -1;
        if (poses && out.send) {
            send_command(net, &out, woken - began);
            answer = now(CLOCK_REALTIME) - net->arrived;
        }
        if (cycle % ASK_EVERY == 0 && in.load_count < 0) ask_sensor(net, sensor_calls->start);
        record *next = ring + shared->written % shared->capacity;
        *next = (record){.time = woken - began, .answer = answer, .waiting = poses, .inputs = in, .outputs = out};
        __atomic_store_n(&shared->written, shared->written + 1, __ATOMIC_RELEASE);
        const bool over = ended || __atomic_load_n(&shared->quit, __ATOMIC_ACQUIRE);
        if (over && (out.state == IDLE || out.state == FAULT)) break;
    }
    ask_sensor(net, sensor_calls->stop);
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

/* SHARED IMAGE PERIOD_NS SENSOR_HOST SENSOR_PORT SENSOR_ASKED ROBOT_HOST ROBOT_PORT PRIORITY CPU BEST_EFFORT: the address of
 * a sensor that is asked, of this computer for one that is not, and for the robot. */
int main(int count, char **words) {
    if (count != 12) return 2;
    size_t size, image_size;
    const pid_t parent = getppid();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    signal(SIGTERM, on_signal);
    signal(SIGINT, SIG_IGN); /* who started it asks for the stop */
    head *shared = mapped(words[1], &size);
    char *image = mapped(words[2], &image_size);
    char *memory = malloc(image_size);
    if (!memory || image_size != (size_t)cycle_memory_bytes) fail(NO_MEMORY, "the memory of the cycle");
    memcpy(memory, image, image_size);
    munmap(image, image_size);
    shared->capacity = (int64_t)((size - RECORDS_AT) / sizeof(record));
    become_real_time(shared, atoi(words[9]), atoi(words[10]), atoi(words[11]));
    sensor_calls = dd_find_sensor(rig_sensor_name);
    robot_calls = dd_find_robot(rig_robot_name);
    if (!sensor_calls || !robot_calls) return 2;
    network net = {.sensor_known = atoi(words[6])};
    net.sensor = open_socket(words[4], atoi(words[5]), &net.sensor_place, !net.sensor_known);
    net.robot = open_socket(words[7], atoi(words[8]), &net.robot_place, true);
    if (getppid() != parent) ended = 1;
    shared->began = now(CLOCK_REALTIME);
    return run(&net, shared, (record *)((char *)shared + RECORDS_AT), memory, atoll(words[3]));
}
