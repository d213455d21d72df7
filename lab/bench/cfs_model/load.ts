/**
 * One busy thread of `bench:cfs-model`, a process of its own: it works exact amounts of CPU time at
 * exact times, as it is reported line by line on standard input.
 *
 * It must not ask the kernel for its CPU time while it works: that makes the kernel settle the
 * quota's account at once (`task_sched_runtime()` in kernel/sched/core.c), where other programs wait
 * for the tick. So it watches the wall clock, which needs no system call, and leaves out the jumps
 * in which it did not run; after each burst, when the account is settled anyway, it asks and corrects
 * the next one. Permissions: FFI.
 *
 * @module
 */

/** What the thread is to do; times in ms of the monotonic clock. */
export interface LoadOrder {
  readonly startMs: number;
  readonly stopMs: number;
  /** CPU time of a request, ms; `null`: works all the time. */
  readonly busyMs: number | null;
  /** A request comes this often, ms. Late ones are worked off one after the other. */
  readonly cycleMs: number;
}

/** A larger step of the clock than this is time in which the thread did not run, ms. */
const JUMP_MS = 0.1;
/** CPU that a thread takes to go to sleep and wake up is part of the next burst; not below this, ms. */
const LEAST_BURST_MS = 0.05;

const MONOTONIC = 1;
const THREAD_CPU = 3;
const ABSOLUTE = 1;

/** Clocks in ms, and a sleep to a given time of the monotonic one. */
export interface ThreadClocks {
  monotonic(): number;
  cpu(): number;
  sleepUntil(ms: number): void;
}

/** Opens the C library's clocks: `performance.now()` is not the same in two processes. */
export function threadClocks(): ThreadClocks {
  const { symbols } = Deno.dlopen("libc.so.6", {
    clock_gettime: { parameters: ["i32", "buffer"], result: "i32" },
    clock_nanosleep: { parameters: ["i32", "i32", "buffer", "pointer"], result: "i32" },
  });
  // A timespec: two whole numbers of 64 bits, of which the lower halves hold what is needed.
  const time = new Uint32Array(4);
  const read = (clock: number): number => {
    symbols.clock_gettime(clock, time);
    return (time[0] ?? 0) * 1000 + (time[2] ?? 0) / 1e6;
  };
  return {
    monotonic: () => read(MONOTONIC),
    cpu: () => read(THREAD_CPU),
    sleepUntil(ms) {
      time.fill(0);
      time[0] = Math.floor(ms / 1000);
      time[2] = Math.floor(ms % 1000 * 1e6);
      symbols.clock_nanosleep(MONOTONIC, ABSOLUTE, time, null);
    },
  };
}

/** Works for `ms` of its own time, or until the clock says `stopMs`. */
function work(clocks: ThreadClocks, { ms, stopMs }: { ms: number; stopMs: number }): void {
  let last = clocks.monotonic();
  for (let done = 0; done < ms && last < stopMs;) {
    const now = clocks.monotonic();
    if (now - last < JUMP_MS) done += now - last;
    last = now;
  }
}

/** Does what it is given; returns when the time has come. */
export function obey(clocks: ThreadClocks, { startMs, stopMs, busyMs, cycleMs }: LoadOrder): void {
  clocks.sleepUntil(startMs);
  if (busyMs === null) {
    work(clocks, { ms: Infinity, stopMs });
    return;
  }
  let owed = clocks.cpu();
  for (let next = startMs; next < stopMs; next += cycleMs) {
    if (clocks.monotonic() < next) clocks.sleepUntil(next);
    owed += busyMs;
    work(clocks, { ms: Math.max(LEAST_BURST_MS, owed - clocks.cpu()), stopMs });
  }
}

if (import.meta.main) {
  const clocks = threadClocks();
  // Compiled before it counts.
  work(clocks, { ms: 200, stopMs: Infinity });
  const encoder = new TextEncoder();
  Deno.stdout.writeSync(encoder.encode("ready\n"));
  const buffer = new Uint8Array(1024);
  for (let read = Deno.stdin.readSync(buffer); read !== null; read = Deno.stdin.readSync(buffer)) {
    obey(clocks, JSON.parse(new TextDecoder().decode(buffer.subarray(0, read))));
    Deno.stdout.writeSync(encoder.encode("done\n"));
  }
}
