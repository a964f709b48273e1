/* The memory that the loop shares with those who watch it: a head, then a ring of records. In Python `ring.py`. */
#ifndef DOCKDYN_SHARED_H
#define DOCKDYN_SHARED_H

#include "cycle.h"

enum { RECORDS_AT = 4096 }; /* bytes */

typedef struct {
    int64_t time;    /* ns since the loop began, CLOCK_MONOTONIC */
    int64_t answer;  /* ns from the kernel's receiving a pose, or the cycle's instant, to the command's being sent; negative:
                        none was sent */
    int64_t waiting; /* poses that waited when the cycle began */
    double joints[8]; /* rad or m, as the robot told them last; NaN: it does not */
    cycle_inputs inputs;
    cycle_outputs outputs;
} record;

typedef struct {
    /* written by those who watch */
    int64_t request;    /* what the operator asks for; the loop takes it away */
    int64_t held_until; /* ns, CLOCK_MONOTONIC: until then hold-to-run is held */
    int64_t quit;       /* not zero: end, once nothing moves */
    /* written by the loop */
    int64_t real_time, memory_locked; /* what the system allowed */
    int64_t began;                    /* ns, CLOCK_REALTIME */
    int64_t bad_readings, bad_poses, foreign; /* packets that are refused, or come from elsewhere */
    int64_t capacity; /* records in the ring */
    int64_t written;  /* records so far: number n is at n % capacity */
    int64_t over;     /* not zero: no more will come; also written by those who watch, of a loop that was killed */
    /* written by who logs */
    int64_t logged; /* records that are in the log */
} head;

#endif
