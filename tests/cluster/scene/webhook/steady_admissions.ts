/**
 * Pods that the server is asked to try at a steady rate, and what the webhook made of each.
 *
 * @module
 */
import type { AdmissionProbe } from "./admission_probe.ts";
import { pause } from "../until.ts";

/** The load while it lasts. */
export interface SteadyAdmissions {
  /** Ends it, waits for the last answers, and reports. Throws what a request has thrown. */
  end(): Promise<AdmissionCount>;
}

/** Pods that were tried. */
export interface AdmissionCount {
  readonly asked: number;
  /** Those that would have been stored as they were sent. */
  readonly unplaced: number;
}

/** Asks so often, however long the answers take. */
export function steadyAdmissions(
  probe: Pick<AdmissionProbe, "ask">,
  { perSecond }: { readonly perSecond: number },
): SteadyAdmissions {
  const end = new AbortController();
  const answers: Promise<string | undefined>[] = [];
  const failures: unknown[] = [];

  async function run(): Promise<void> {
    const begunMs = performance.now();
    while (!end.signal.aborted) {
      const answer = probe.ask();
      answer.catch((error: unknown) => failures.push(error));
      answers.push(answer);
      await pause(Math.max(0, begunMs + answers.length * 1000 / perSecond - performance.now()));
    }
  }

  const running = run();
  return {
    async end() {
      end.abort();
      await running;
      const all = await Promise.allSettled(answers);
      if (failures.length > 0) throw failures[0];
      const unplaced = all.filter((one) => one.status === "fulfilled" && one.value === undefined);
      return { asked: all.length, unplaced: unplaced.length };
    },
  };
}
