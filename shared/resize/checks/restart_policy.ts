/**
 * Check: would a resize restart a container?
 *
 * @module
 */
import { type Verdict, withoutPairs } from "../run_checks.ts";
import { type PairEntry, pairOf, pairsOf, type WantedResources } from "../inputs/resources.ts";
import { pairIn, type Subject, subjectWanted } from "../inputs/subject.ts";

/** A pair of values for which a resize would restart the container, or be refused by the server. */
export interface Disruption extends PairEntry {
  readonly reason: "RestartPolicy" | "MemoryLimitLocked";
  readonly message: string;
}

/** The input of the rule. */
export interface DisruptionsAsked {
  /** Running pods. */
  readonly subjects: readonly Subject[];
  /** Whether the server lowers memory limits in place. @default {true} */
  readonly lowersMemoryLimits?: boolean;
}

/** The pairs that disrupt one of the subjects, without values that it already has. */
export function disruptions(
  wanted: WantedResources,
  { subjects, lowersMemoryLimits = true }: DisruptionsAsked,
): readonly Disruption[] {
  const changed = subjects.map((subject) => subjectWanted(subject, wanted));
  return pairsOf(wanted).flatMap((entry): Disruption[] => {
    const { resource, container } = entry;
    for (const [index, subject] of subjects.entries()) {
      const present = subject.containers.find(({ name }) => name === container);
      const next = changed[index];
      if (present === undefined || next === undefined) continue;
      const [before, after] = [pairOf(present, resource), pairIn(next, entry) ?? {}];
      if (before.request === after.request && before.limit === after.limit) continue;
      const restarts = resource === "cpu" ? present.restartsOnCPU : present.restartsOnMemory;
      if (restarts) {
        const message = `resizePolicy restarts ${container} on a change of ${resource}`;
        return [{ ...entry, reason: "RestartPolicy", message }];
      }
      const lowers = (after.limit ?? 0) < (before.limit ?? 0);
      if (resource === "memory" && lowers && !lowersMemoryLimits) {
        const message = `the server does not lower the memory limit of ${container} in place`;
        return [{ ...entry, reason: "MemoryLimitLocked", message }];
      }
    }
    return [];
  });
}

/** Leaves out the pairs that would restart a container, or be refused. */
export function disruptionVerdict(
  wanted: WantedResources,
  asked: DisruptionsAsked,
): Verdict<Disruption["reason"]> {
  const found = disruptions(wanted, asked);
  const [first] = found;
  if (first === undefined) return undefined;
  return withoutPairs(wanted, first.reason, {
    against: ({ container, resource }) =>
      found.find((one) => one.container === container && one.resource === resource)?.message,
  });
}
