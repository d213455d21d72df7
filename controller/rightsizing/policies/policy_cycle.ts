/**
 * One cycle of one policy: finds its workloads, reconciles those that it wins.
 *
 * @module
 */
import type { RightsizingReason } from "../../../shared/api/reasons/rightsizing_reasons.ts";
import type { Clock } from "../../../shared/clock.ts";
import type { Permits } from "../../../shared/control/permits.ts";
import {
  buildPolicyStatus,
  type PolicyProblem,
  type PolicyWorkload,
  type SamplerShape,
  samplesNote,
  scopeNote,
  validationProblem,
} from "../../../shared/rightsizing/build_policy_status.ts";
import type {
  LastDenial,
  RightsizedWorkload,
} from "../../../shared/rightsizing/guards/rightsizing_facts.ts";
import {
  discoverWorkloads,
  outweighedRecord,
  type PolicySurroundings,
  readablePolicies,
  type ReadablePolicy,
  workloadKey,
} from "../../../shared/rightsizing/policy_match.ts";
import type { StoredPolicy } from "../../../shared/rightsizing/policy_spec.ts";
import type { FoundWorkload } from "../../../shared/rightsizing/rightsized_workload.ts";
import { failedPass, type PassOutcome, unreadablePass } from "../outcome.ts";
import type { PolicyStatusWriter } from "../ports.ts";
import type { UsageSources } from "../sources/usage_sources.ts";
import type { RecordBook } from "../store.ts";
import { type PassParts, passWorkload } from "../workload_pass.ts";

/** What there is when a cycle begins. */
export interface CycleState extends PolicySurroundings {
  /** All of them, those that can't be read and the disabled ones too. */
  readonly policies: readonly StoredPolicy[];
  readonly workloads: Iterable<FoundWorkload>;
  readonly dryRun: boolean;
  readonly sampler: SamplerShape;
  /**
   * Only these are looked at, by key, and those of which nothing is known under this policy; nothing new
   * is learnt of the others. @default all
   */
  readonly only?: { has(key: string): boolean };
}

/** What a cycle works with. */
export interface CycleParts extends Omit<PassParts, "source"> {
  readonly sources: UsageSources;
  readonly book: RecordBook;
  /** What policy engines have said no to, by workload. */
  readonly denials: Map<string, Denial>;
  /** Bounds how many workloads are looked at at the same time. */
  readonly permits: Permits;
  /** What became of workloads when they were last looked at, by key, whichever policy had won them. */
  readonly past: Map<string, PassOutcome>;
  /**
   * Looks under way, by workload: where another policy wins in the middle of one, the second look must
   * begin from what the first came to.
   */
  readonly underWay: Map<string, Promise<unknown>>;
  /** Hears of each workload whose write was refused for want of a right. */
  readonly lacksPermission?: (workload: FoundWorkload) => void;
  readonly clock: Pick<Clock, "wall">;
}

/** A denial, and which policy in which generation had asked: of another one nothing has been said. */
export interface Denial extends LastDenial {
  readonly policy: string;
}

/** A workload that the cycle has looked at. */
export interface LookedAt {
  readonly workload: Pick<RightsizedWorkload, "kind" | "metadata">;
  readonly outcome: PassOutcome;
}

/** What a cycle came to. */
export interface CycleOutcome {
  readonly problem?: PolicyProblem;
  /** What it came to can't be put on record, for a minute or longer. */
  readonly unwritten?: PolicyProblem;
  /** See `scopeNote()`. */
  readonly note?: string;
  /** See `samplesNote()`. */
  readonly lack?: string;
  /** All workloads that the policy matches. */
  readonly matched: readonly PolicyWorkload[];
  readonly looked: readonly LookedAt[];
  /** True where the signal was aborted before all were looked at: there is nothing whole to tell. */
  readonly calledOff: boolean;
}

/** Of these nothing was asked: what they make pods of is not known. */
const UNREADABLE: RightsizingReason = "UnreadableTemplate";

/** After a denial the policy engine is asked again after this, ms: it is an hour's clock. */
const DENIED_MS = 3_600_000;

/**
 * Runs the cycle. One workload that fails never stops the others. Nothing is asked for a policy that is
 * disabled or can't be read.
 */
export async function runPolicyCycle(
  policy: StoredPolicy,
  state: CycleState,
  { parts, signal }: { readonly parts: CycleParts; readonly signal: AbortSignal },
): Promise<CycleOutcome> {
  const { spec, faults } = policy;
  if (spec !== undefined) {
    const outcome = await lookAtAll({ ...policy, spec }, state, { parts, signal });
    if (spec.mode === "Disabled") return outcome;
    const note = scopeNote(spec.selector, {
      policyNamespace: policy.metadata.namespace,
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
  return { problem: validationProblem(faults), matched: [], looked: [], calledOff: false };
}

/**
 * Writes what a cycle came to. `policy`: as it is now, which may be later than the cycle saw it; of
 * another generation there is nothing to tell. What the writer throws comes through.
 */
export async function tellPolicyStatus(
  policy: StoredPolicy,
  { unwritten, problem = unwritten, note, lack, matched, calledOff }: CycleOutcome,
  { statuses, nowMs, dryRun, generation }: {
    readonly statuses: PolicyStatusWriter;
    readonly nowMs: number;
    readonly dryRun: boolean;
    /** Of the policy that was looked at. */
    readonly generation: number;
  },
): Promise<void> {
  const { metadata, spec, status: before } = policy;
  if (calledOff || metadata.generation !== generation) return;
  const isIdle = spec === undefined || spec.mode === "Disabled";
  await statuses.writeStatus(
    policy,
    buildPolicyStatus({
      nowMs,
      generation,
      before,
      dryRun,
      ...(problem === undefined ? {} : { problem }),
      notes: [note, lack].filter((one) => one !== undefined),
      ...(isIdle ? {} : { workloads: matched }),
    }),
  );
}

type LookingPolicy = StoredPolicy & ReadablePolicy;

async function lookAtAll(
  policy: LookingPolicy,
  state: CycleState,
  { parts, signal }: { readonly parts: CycleParts; readonly signal: AbortSignal },
): Promise<CycleOutcome> {
  if (policy.spec.mode === "Disabled") return { matched: [], looked: [], calledOff: false };
  const readable = readablePolicies(state.policies);
  const { namespace, name } = policy.metadata;
  const own = readable.find(({ metadata }) =>
    metadata.namespace === namespace && metadata.name === name
  );
  const found = own === undefined
    ? []
    : discoverWorkloads(state.workloads, { ...state, policies: readable }).get(own) ?? [];
  const won = found.filter(({ winner }) => winner === own).map(({ workload }) => workload);
  /** Of the last look, unless that was for another policy. */
  const knownOf = (workload: FoundWorkload): PassOutcome | undefined => {
    const last = parts.past.get(workloadKey(workload));
    const isOwn = last?.record.policy.namespace === namespace && last.record.policy.name === name;
    return isOwn ? last : undefined;
  };
  const isDue = (workload: FoundWorkload): boolean =>
    state.only === undefined || state.only.has(workloadKey(workload)) ||
    knownOf(workload) === undefined;
  const [due, others] = [won.filter(isDue), won.filter((workload) => !isDue(workload))];
  const source = parts.sources.of(policy.spec);
  const looks = await Promise.all(
    due.map((workload) =>
      parts.permits.run(async (): Promise<readonly LookedAt[]> => {
        if (signal.aborted) return [];
        const outcome = await passAlone({ workload, policy }, { ...parts, source }, signal);
        return outcome === undefined ? [] : [{ workload, outcome }];
      })
    ),
  );
  const looked = looks.flat();
  const calledOff = looked.length < due.length;
  const lost = found.filter(({ winner }) => winner !== own).map((one): PolicyWorkload => ({
    record: outweighedRecord(one),
    metricsMissing: false,
    difference: 0,
  }));
  const outcomes = [
    ...looked.map(({ outcome }) => outcome),
    ...others.flatMap((workload) => knownOf(workload) ?? []),
  ];
  const matched = [...outcomes, ...lost];
  const asked = outcomes.filter(({ record }) => record.reason !== UNREADABLE);
  const [down] = asked;
  const isDown = ({ missing }: PassOutcome): boolean => missing?.reason === "ProviderUnavailable";
  if (down?.missing === undefined || !asked.every(isDown)) return { matched, looked, calledOff };
  const problem = { reason: "ProviderUnavailable", message: down.missing.message } as const;
  return { problem, matched, looked, calledOff };
}

async function passAlone(
  one: { readonly workload: FoundWorkload; readonly policy: LookingPolicy },
  parts: CycleParts & Pick<PassParts, "source">,
  signal: AbortSignal,
): Promise<PassOutcome | undefined> {
  const { underWay } = parts;
  const key = workloadKey(one.workload);
  for (let before = underWay.get(key); before; before = underWay.get(key)) await before;
  if (signal.aborted) return undefined;
  const look = passOne(one, parts, signal);
  underWay.set(key, look);
  try {
    return await look;
  } finally {
    underWay.delete(key);
  }
}

/** Never rejects: one workload that can't be looked at must not keep the others from it. */
async function passOne(
  { workload, policy }: { readonly workload: FoundWorkload; readonly policy: LookingPolicy },
  parts: CycleParts & Pick<PassParts, "source">,
  signal: AbortSignal,
): Promise<PassOutcome | undefined> {
  const { book, denials, clock } = parts;
  const { kind, metadata: { namespace, name } } = workload;
  const key = workloadKey(workload);
  const before = book.get({ kind, namespace, name });
  const asking = `${policy.metadata.uid} ${policy.metadata.generation}`;
  const last = denials.get(key);
  const denial = last?.policy === asking ? last : undefined;
  const subject = { policy, before, denial };
  let outcome: PassOutcome | undefined;
  try {
    outcome = "unreadableTemplate" in workload
      ? unreadablePass({ ...subject, workload })
      : await passWorkload({ ...subject, workload }, parts, { signal });
  } catch (error) {
    outcome = failedPass({ ...subject, workload }, error);
  }
  if (outcome === undefined) return undefined;
  book.set(outcome.record);
  parts.past.set(key, outcome);
  const { failure } = outcome;
  if (failure?.permission !== undefined) parts.lacksPermission?.(workload);
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
