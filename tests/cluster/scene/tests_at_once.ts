/**
 * Tests of one file that run at the same time: they wait for the same things, and do not disturb each
 * other.
 *
 * @module
 */

/** A test, or one that is left out. */
export type Test = (() => Promise<void>) | {
  readonly ignore: boolean;
  readonly fn: () => Promise<void>;
};

/** Registers the tests by name; all of them start with the first, and each reports its own outcome. */
export function testsAtOnce(tests: Readonly<Record<string, Test>>): void {
  const all = Object.entries(tests).map(([name, test]) =>
    typeof test === "function" ? { name, ignore: false, fn: test } : { name, ...test }
  );
  const started = new Map<string, Promise<() => void>>();
  const startAll = (): void => {
    for (const { name, fn } of all.filter(({ ignore }) => !ignore)) {
      const outcome = fn().then(
        () => () => {},
        // Reported by the test of this name, however long after it has failed.
        (error: unknown) => () => {
          throw error;
        },
      );
      started.set(name, outcome);
    }
  };
  for (const { name, ignore } of all) {
    Deno.test({
      name,
      ignore,
      // What another one has opened is none of this one's leaks.
      sanitizeOps: false,
      sanitizeResources: false,
      async fn() {
        if (started.size === 0) startAll();
        const report = await started.get(name);
        report?.();
      },
    });
  }
}

/** By then each has prepared what it needs, and the state has begun. */
const JOIN_MS = 400_000;

/** The state. */
export interface SharedPeriod {
  /**
   * Waits until all tests have joined and the state is there; disposing waits until it is over. Throws
   * an `Error` when one does not join, for instance because it has failed before.
   */
  join(): Promise<AsyncDisposable>;
}

/** A period for so many tests; `begin` brings the state about. */
export function sharedPeriod(tests: number, begin: () => Promise<AsyncDisposable>): SharedPeriod {
  const ready = countdown(tests);
  const done = countdown(tests);
  const begun = ready.reached.then(begin);
  const ended = Promise.all([begun, done.reached]).then(([state]) => state[Symbol.asyncDispose]());
  // Reported by the tests that wait for it.
  begun.catch(() => {});
  ended.catch(() => {});
  return {
    async join() {
      ready.count();
      await inTime(begun);
      return {
        [Symbol.asyncDispose]() {
          done.count();
          return ended;
        },
      };
    },
  };
}

async function inTime<T>(promise: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`Cannot go on: not all tests have joined after ${JOIN_MS} ms`)),
    JOIN_MS,
  );
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

function countdown(from: number): { readonly reached: Promise<void>; count(): void } {
  const { promise: reached, resolve } = Promise.withResolvers<void>();
  let left = from;
  return {
    reached,
    count() {
      left--;
      if (left === 0) resolve();
    },
  };
}
