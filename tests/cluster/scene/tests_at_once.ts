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
