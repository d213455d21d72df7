/*
 * A service that answers requests of a known CPU cost.
 *
 *   service FILE THREADS
 *
 * FILE is a list of requests (request_file.ts), mapped into memory and shared by all replicas. A
 * thread takes the next request that nobody has, sleeps until it comes, works until the CPU time
 * of the thread has grown by the request's cost, and notes when it was done. So the requests are
 * served in their order by as many threads as there are, and the queue is what has come and was not
 * taken. Cost is CPU time of the thread, its own waking up included: it is the same however long the
 * thread has to wait for a CPU. SIGTERM: each thread ends what it has taken, then the program ends.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>

#define SECOND 1000000000ull

struct request {
  uint64_t comes;   /* ns after the start */
  uint64_t cost;    /* ns of CPU */
  uint64_t taken;   /* when a thread took it, ns after the start; 0: not yet */
  uint64_t done;    /* ns after the start; 0: not yet */
};

struct list {
  _Atomic uint64_t start;   /* ns of CLOCK_REALTIME; 0: not known yet */
  uint64_t count;
  _Atomic uint64_t next;    /* the first request that nobody has taken */
  uint64_t unused;
  struct request requests[];
};

static struct list *list;
static atomic_bool stopping;
static volatile uint64_t sink;

static uint64_t now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static void sleep_until(uint64_t at) {
  struct timespec t = { .tv_sec = at / SECOND, .tv_nsec = at % SECOND };
  while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &t, NULL) == EINTR) {}
}

/* Some 10 us of work: the granularity of a cost. */
static void work_a_little(void) {
  uint64_t x = sink;
  for (int i = 0; i < 8000; i++) x = x * 6364136223846793005ull + 1442695040888963407ull;
  sink = x;
}

static void *serve(void *unused) {
  (void)unused;
  prctl(PR_SET_TIMERSLACK, 1ul);
  while (!atomic_load(&stopping)) {
    uint64_t cpu = now(CLOCK_THREAD_CPUTIME_ID);
    uint64_t index = atomic_fetch_add(&list->next, 1);
    if (index >= list->count) break;
    struct request *request = &list->requests[index];
    uint64_t start = atomic_load(&list->start);
    uint64_t taken = now(CLOCK_REALTIME);
    request->taken = taken > start ? taken - start : 1;
    sleep_until(start + request->comes);
    while (now(CLOCK_THREAD_CPUTIME_ID) - cpu < request->cost) work_a_little();
    request->done = now(CLOCK_REALTIME) - start;
  }
  return NULL;
}

static int fail(const char *what) {
  perror(what);
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 3) return fprintf(stderr, "usage: service FILE THREADS\n"), 2;
  sigset_t end;
  sigemptyset(&end);
  sigaddset(&end, SIGTERM);
  sigprocmask(SIG_BLOCK, &end, NULL);
  int file = open(argv[1], O_RDWR);
  if (file < 0) return fail("Cannot open the list of requests");
  struct stat size;
  if (fstat(file, &size) < 0) return fail("Cannot read the size of the list of requests");
  list = mmap(NULL, size.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (list == MAP_FAILED) return fail("Cannot map the list of requests");
  if (sizeof *list + list->count * sizeof(struct request) > (uint64_t)size.st_size) {
    return fprintf(stderr, "Cannot serve: the list is shorter than it says\n"), 1;
  }
  struct timespec look = { .tv_nsec = 20000000 };
  while (atomic_load(&list->start) == 0) {
    if (sigtimedwait(&end, NULL, &look) == SIGTERM) return 0;
  }
  int threads = atoi(argv[2]);
  pthread_t ids[threads];
  for (int i = 0; i < threads; i++) {
    if (pthread_create(&ids[i], NULL, serve, NULL) != 0) return fail("Cannot start a thread");
  }
  int got;
  sigwait(&end, &got);
  atomic_store(&stopping, 1);
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  return 0;
}
