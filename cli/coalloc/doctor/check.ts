/**
 * The type of a check, and the function that runs all of them.
 *
 * @module
 */
import type { PartName, Snapshot, SnapshotParts } from "../kube/snapshot.ts";

/** Severities; an `error` means that the product does not do its work. */
export const SEVERITIES = ["error", "warning", "info"] as const;
/** One of {@linkcode SEVERITIES}. */
export type Severity = typeof SEVERITIES[number];

/** A problem that a check has found. */
export interface Finding {
  /** In CamelCase; `docs/doctor.md` lists them. */
  readonly code: string;
  readonly severity: Severity;
  /** Kind and name, for instance `Node node-1`. */
  readonly object: string;
  /** With the value that was seen. */
  readonly seen: string;
  readonly remedy: string;
}

/** A check that did not run: its parts could not be read. */
export interface Unchecked {
  readonly check: string;
  /** The right that is missing, or the server's message. */
  readonly why: string;
}

/** A check: pure, and run only if its parts could be read. */
export interface Check {
  readonly name: string;
  readonly needs: readonly PartName[];
  readonly find: (parts: SnapshotParts) => readonly Finding[];
}

/** Defines a check; the type lets it see only the parts that it needs. */
export function check<P extends PartName>(one: {
  readonly name: string;
  readonly needs: readonly P[];
  readonly find: (parts: Pick<SnapshotParts, P>) => readonly Finding[];
}): Check {
  return one;
}

/** The result of all checks. */
export interface Diagnosis {
  /** The worst first. */
  readonly findings: readonly Finding[];
  readonly unchecked: readonly Unchecked[];
  /** Number of checks that ran. */
  readonly checked: number;
}

/** Runs each check if its parts could be read. */
export function diagnose(snapshot: Snapshot, checks: readonly Check[]): Diagnosis {
  const read: Partial<Record<PartName, unknown>> = {};
  const reasons = new Map<PartName, string>();
  for (const [name, part] of Object.entries(snapshot) as [PartName, Snapshot[PartName]][]) {
    if ("unread" in part) reasons.set(name, part.unread);
    else read[name] = part.value;
  }
  const unchecked: Unchecked[] = [];
  const findings: Finding[] = [];
  for (const { name, needs, find } of checks) {
    const missing = needs.flatMap((part) => reasons.get(part) ?? []);
    if (missing.length > 0) unchecked.push({ check: name, why: [...new Set(missing)].join("; ") });
    // All parts that the check needs are there.
    else findings.push(...find(read as unknown as SnapshotParts));
  }
  return {
    findings: SEVERITIES.flatMap((one) => findings.filter(({ severity }) => severity === one)),
    unchecked,
    checked: checks.length - unchecked.length,
  };
}
