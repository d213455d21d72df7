/**
 * Tests of one file that run at the same time: they wait for the same things, and do not disturb each
 * other.
 *
 * @module
 */

/** Tests by name. */
export type Tests = Readonly<Record<string, () => Promise<void>>>;

/** How they are run. */
export interface TestsAtOnceOptions {
  /** @default {false} */
  readonly ignore?: boolean;
}

/** Registers the tests; all of them start with the first, and each reports its own outcome. */
export function testsAtOnce(tests: Tests, { ignore = false }: TestsAtOnceOptions = {}): void {
  const started = new Map<string, Promise<() => void>>();
  const startAll = (): void => {
    for (const [name, fn] of Object.entries(tests)) {
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
  for (const name of Object.keys(tests)) {
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
