/**
 * One cycle of one policy: finds its workloads, reconciles those that it wins.
 *
 * @module
 */
import type { RightsizingReason } from "../../../shared/api/reasons/rightsizing_reasons.ts";
import type { Clock } from "../../../shared/clock.ts";
import type { Permits } from "../../../shared/control/permits.ts";
import {
  type PolicyProblem,
  type PolicyWorkload,
  type SamplerShape,
  samplesNote,
  scopeNote,
  validationProblem,
} from "../../../shared/rightsizing/build_policy_status.ts";
import type {
  FoundWorkload,
  LastDenial,
  RightsizedWorkload,
} from "../../../shared/rightsizing/guards/rightsizing_facts.ts";
import {
  matchesWorkload,
  outweighedRecord,
  policiesFor,
  type PolicyInput,
  readablePolicies,
  type ReadablePolicy,
  workloadKey,
} from "../../../shared/rightsizing/policy_match.ts";
import type { StoredPolicy } from "../../../shared/rightsizing/policy_spec.ts";
import { failedOutcome, type ReconcileOutcome, unreadableOutcome } from "../outcome.ts";
import type { UsageSources } from "../sources/usage_sources.ts";
import type { RecordStore } from "../store.ts";
import { type ReconcileParts, reconcileWorkload } from "../reconcile_workload.ts";

/** The state at the beginning of a cycle. */
export interface CycleState extends PolicyInput {
  /** All of them, those that can't be read and the disabled ones too. */
  readonly policies: readonly StoredPolicy[];
  readonly workloads: Iterable<FoundWorkload>;
  readonly dryRun: boolean;
  readonly sampler: SamplerShape;
  /**
   * Only these are reconciled, by key, and those that have no outcome under this policy yet.
   * @default all
   */
  readonly only?: { has(key: string): boolean };
}

/** Dependencies of a cycle, and its state from cycle to cycle. */
export interface CycleParts extends Omit<ReconcileParts, "source"> {
  readonly sources: UsageSources;
  readonly records: RecordStore;
  /** Denials of admission, by workload. */
  readonly denials: Map<string, Denial>;
  /** Limits how many workloads are reconciled at the same time. */
  readonly permits: Permits;
  /** The last outcome of each workload, by key, whichever policy had won it. */
  readonly outcomes: Map<string, ReconcileOutcome>;
  /**
   * Reconciles under way, by workload: where another policy wins in the middle of one, the second must
   * begin from the outcome of the first.
   */
  readonly underWay: Map<string, Promise<unknown>>;
  /** Called with each workload that the server refused to write, and the missing permission. */
  readonly lacksPermission?: (workload: FoundWorkload, permission: string) => void;
  readonly clock: Pick<Clock, "wall">;
}

/** A denial, and the policy that it answers, in its generation. */
export interface Denial extends LastDenial {
  readonly policy: string;
}

/** A workload that the cycle has reconciled. */
export interface ReconciledWorkload {
  readonly workload: Pick<RightsizedWorkload, "kind" | "metadata">;
  readonly outcome: ReconcileOutcome;
}

/** The outcome of a cycle. */
export interface CycleOutcome {
  readonly problem?: PolicyProblem;
  /** Its records could not be written, for a minute or longer. */
  readonly unwritten?: PolicyProblem;
  /** See `scopeNote()`. */
  readonly note?: string;
  /** See `samplesNote()`. */
  readonly lack?: string;
  /** All workloads that the policy matches. */
  readonly matched: readonly PolicyWorkload[];
  readonly reconciled: readonly ReconciledWorkload[];
  /** True where the signal was aborted before all were reconciled: nothing is reported. */
  readonly aborted: boolean;
}

/** No usage was asked for such a workload. */
const UNREADABLE: RightsizingReason = "UnreadableTemplate";

/** A denied change is retried after this, ms. */
const DENIED_MS = 3_600_000;

/**
 * Runs the cycle. A workload that fails never stops the others. A policy that is disabled or can't be read
 * sends no requests.
 */
export async function runPolicyCycle(
  policy: StoredPolicy,
  state: CycleState,
  { parts, signal }: { readonly parts: CycleParts; readonly signal: AbortSignal },
): Promise<CycleOutcome> {
  const { metadata, spec, faults } = policy;
  const nothing = { matched: [], reconciled: [], aborted: false };
  if (spec === undefined) return { problem: validationProblem(faults), ...nothing };
  if (spec.mode === "Disabled") return nothing;
  const outcome = await reconcileWorkloads({ ...policy, spec }, state, { parts, signal });
  const note = scopeNote(spec.selector, {
    policyNamespace: metadata.namespace,
    policyNamespaces: state.policyNamespaces,
    matched: outcome.matched.length,
  });
  const lack = samplesNote(spec, state.sampler);
  return {
    ...outcome,
    ...(note === undefined ? {} : { note }),
    ...(lack === undefined ? {} : { lack }),
  };
}

type ActivePolicy = StoredPolicy & ReadablePolicy;

async function reconcileWorkloads(
  policy: ActivePolicy,
  state: CycleState,
  { parts, signal }: { readonly parts: CycleParts; readonly signal: AbortSignal },
): Promise<CycleOutcome> {
  const { won, lost } = discover(policy, state);
  const lastOutcome = (workload: FoundWorkload): ReconcileOutcome | undefined => {
    const last = parts.outcomes.get(workloadKey(workload));
    return last !== undefined && isNamed(policy, last.record.policy) ? last : undefined;
  };
  const { due = [], others = [] } = Object.groupBy(won, (workload) => {
    const isDue = state.only === undefined || state.only.has(workloadKey(workload)) ||
      lastOutcome(workload) === undefined;
    return isDue ? "due" : "others";
  });
  const source = parts.sources.of(policy.spec);
  const reconciled = (await Promise.all(
    due.map((workload) =>
      parts.permits.run(async (): Promise<readonly ReconciledWorkload[]> => {
        if (signal.aborted) return [];
        const outcome = await reconcileAlone({ workload, policy }, { ...parts, source }, signal);
        return outcome === undefined ? [] : [{ workload, outcome }];
      })
    ),
  )).flat();
  const outcomes = [
    ...reconciled.map(({ outcome }) => outcome),
    ...others.flatMap((workload) => lastOutcome(workload) ?? []),
  ];
  const problem = providerProblem(outcomes);
  return {
    ...(problem === undefined ? {} : { problem }),
    matched: [...outcomes, ...lost],
    reconciled,
    aborted: reconciled.length < due.length,
  };
}

/** The workloads that the policy matches: those that it wins, and records of those that another one wins. */
function discover(
  policy: ActivePolicy,
  state: CycleState,
): { readonly won: readonly FoundWorkload[]; readonly lost: readonly PolicyWorkload[] } {
  const policies = readablePolicies(state.policies);
  const own = policies.find(({ metadata }) => isNamed(policy, metadata));
  // The policy is deleted.
  if (own === undefined) return { won: [], lost: [] };
  const won: FoundWorkload[] = [];
  const lost: PolicyWorkload[] = [];
  for (const workload of state.workloads) {
    if (!matchesWorkload(own, workload, state)) continue;
    const [winner]: readonly ReadablePolicy[] = policiesFor(workload, { ...state, policies });
    if (winner === undefined || winner === own) won.push(workload);
    else {
      const record = outweighedRecord(workload, winner);
      lost.push({ record, metricsMissing: false, difference: 0 });
    }
  }
  return { won, lost };
}

function isNamed(
  { metadata }: StoredPolicy,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): boolean {
  return metadata.namespace === namespace && metadata.name === name;
}

/** A problem of the whole policy where its source has usage of no workload. */
function providerProblem(outcomes: readonly ReconcileOutcome[]): PolicyProblem | undefined {
  const asked = outcomes.filter(({ record }) => record.reason !== UNREADABLE);
  const [first] = asked;
  const isDown = ({ missing }: ReconcileOutcome): boolean =>
    missing?.reason === "ProviderUnavailable";
  return first?.missing !== undefined && asked.every(isDown)
    ? { reason: "ProviderUnavailable", message: first.missing.message }
    : undefined;
}

async function reconcileAlone(
  one: { readonly workload: FoundWorkload; readonly policy: ActivePolicy },
  parts: CycleParts & Pick<ReconcileParts, "source">,
  signal: AbortSignal,
): Promise<ReconcileOutcome | undefined> {
  const { underWay } = parts;
  const key = workloadKey(one.workload);
  for (let before = underWay.get(key); before; before = underWay.get(key)) await before;
  if (signal.aborted) return undefined;
  const outcome = reconcileOne(one, parts, signal);
  underWay.set(key, outcome);
  try {
    return await outcome;
  } finally {
    underWay.delete(key);
  }
}

/** Never rejects: a workload that fails must not stop the others. */
async function reconcileOne(
  { workload, policy }: { readonly workload: FoundWorkload; readonly policy: ActivePolicy },
  parts: CycleParts & Pick<ReconcileParts, "source">,
  signal: AbortSignal,
): Promise<ReconcileOutcome | undefined> {
  const { records, denials, clock } = parts;
  const { kind, metadata: { namespace, name } } = workload;
  const key = workloadKey(workload);
  const before = records.get({ kind, namespace, name });
  const asking = `${policy.metadata.uid} ${policy.metadata.generation}`;
  const last = denials.get(key);
  const denial = last?.policy === asking ? last : undefined;
  const subject = { policy, before, denial };
  let outcome: ReconcileOutcome | undefined;
  try {
    outcome = "unreadableTemplate" in workload
      ? unreadableOutcome({ ...subject, workload })
      : await reconcileWorkload({ ...subject, workload }, parts, { signal });
  } catch (error) {
    outcome = failedOutcome({ ...subject, workload }, error);
  }
  if (outcome === undefined) return undefined;
  records.set(outcome.record);
  parts.outcomes.set(key, outcome);
  const { failure } = outcome;
  if (failure?.permission !== undefined) {
    parts.lacksPermission?.(workload, failure.permission);
  }
  if (failure?.reason === "AdmissionDenied") {
    denials.set(key, {
      message: failure.message,
      recommendations: outcome.record.recommendations,
      retryAtMs: clock.wall() + DENIED_MS,
      policy: asking,
    });
  } else if (outcome.applied !== undefined) denials.delete(key);
  return outcome;
}
