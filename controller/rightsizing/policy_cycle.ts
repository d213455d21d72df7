/**
 * One cycle of one policy: find its workloads, look at those that it has won, tell what became of them.
 *
 * @module
 */
import type { Clock } from "../../shared/clock.ts";
import type { Permits } from "../../shared/control/permits.ts";
import {
  buildPolicyStatus,
  type PolicyProblem,
  type PolicyWorkload,
  validationProblem,
} from "../../shared/rightsizing/build_policy_status.ts";
import type {
  LastDenial,
  RightsizedWorkload,
} from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import { eventMessage } from "../../shared/rightsizing/guards/workload_events.ts";
import {
  discoverWorkloads,
  outweighedRecord,
  type PolicySurroundings,
  type ReadablePolicy,
  workloadKey,
} from "../../shared/rightsizing/policy_choice.ts";
import type { PolicySpec } from "../../shared/rightsizing/policy_spec.ts";
import type { StoredPolicy } from "../../shared/rightsizing/stored_policy.ts";
import type { PolicyStatusWriter } from "./policy_ports.ts";
import type { RecordBook } from "./record_book.ts";
import { type PassOutcome, type PassParts, passWorkload } from "./workload_pass.ts";
import type { UsageSources } from "./sources/usage_sources.ts";

/** What there is when a cycle begins. */
export interface CycleState extends PolicySurroundings {
  /** All of them, those that can't be read and the disabled ones too. */
  readonly policies: readonly StoredPolicy[];
  readonly workloads: Iterable<RightsizedWorkload>;
  readonly dryRun: boolean;
  /** Only these are looked at, by key, and nothing new is learnt of the others. @default all */
  readonly only?: ReadonlySet<string>;
}

/** What a cycle works with. */
export interface CycleParts extends Omit<PassParts, "source"> {
  readonly sources: UsageSources;
  readonly book: RecordBook;
  readonly statuses: PolicyStatusWriter;
  /** What policy engines have said no to, by workload. */
  readonly denials: Map<string, LastDenial>;
  /** Bounds how many workloads are looked at at the same time. */
  readonly permits: Permits;
  /** What became of workloads when they were last looked at, by key, whichever policy had won them. */
  readonly past: Map<string, PolicyWorkload>;
  readonly clock: Pick<Clock, "wall">;
}

/** A workload that the cycle has looked at. */
export interface LookedAt {
  readonly workload: RightsizedWorkload;
  readonly outcome: PassOutcome;
}

/** What a cycle came to. */
export interface CycleOutcome {
  readonly problem?: PolicyProblem;
  /** All workloads that the policy matches. */
  readonly matched: readonly PolicyWorkload[];
  readonly looked: readonly LookedAt[];
}

/** After a denial the policy engine is asked again after this, ms: it is an hour's clock. */
const DENIED_MS = 3_600_000;

/**
 * Runs the cycle. One workload that fails never stops the others. Nothing is asked for a policy that is
 * disabled or can't be read. The status is written at the end; what that throws comes through.
 */
export async function runPolicyCycle(
  policy: StoredPolicy,
  state: CycleState,
  { parts, signal }: { readonly parts: CycleParts; readonly signal: AbortSignal },
): Promise<CycleOutcome> {
  const { metadata, spec } = policy;
  const outcome = spec === undefined
    ? { problem: validationProblem(policy.faults), matched: [], looked: [] }
    : await lookAtAll({ metadata, spec }, state, { parts, signal });
  const isIdle = spec === undefined || spec.mode === "Disabled";
  await parts.statuses.writeStatus(
    policy,
    buildPolicyStatus({
      nowMs: parts.clock.wall(),
      generation: metadata.generation,
      before: policy.status,
      dryRun: state.dryRun,
      ...(outcome.problem === undefined ? {} : { problem: outcome.problem }),
      ...(isIdle ? {} : { workloads: outcome.matched }),
    }),
  );
  return outcome;
}

type Readable = StoredPolicy & { readonly spec: PolicySpec };

async function lookAtAll(
  policy: ReadablePolicy,
  state: CycleState,
  { parts, signal }: { readonly parts: CycleParts; readonly signal: AbortSignal },
): Promise<CycleOutcome> {
  if (policy.spec.mode === "Disabled") return { matched: [], looked: [] };
  const readable = state.policies.filter((one): one is Readable => one.spec !== undefined);
  const { namespace, name } = policy.metadata;
  const own = readable.find(({ metadata }) =>
    metadata.namespace === namespace && metadata.name === name
  );
  const found = own === undefined
    ? []
    : discoverWorkloads(state.workloads, { ...state, policies: readable }).get(own) ?? [];
  const won = found.filter(({ winner }) => winner === own).map(({ workload }) => workload);
  const isDue = (workload: RightsizedWorkload): boolean =>
    state.only?.has(workloadKey(workload)) ?? true;
  const source = parts.sources.of(policy.spec);
  const looked = await Promise.all(
    won.filter(isDue).map((workload) =>
      parts.permits.run(async (): Promise<LookedAt> => {
        const one = { workload, policy };
        try {
          return { workload, outcome: await passOne(one, { ...parts, source }, signal) };
        } catch (error) {
          return { workload, outcome: failedPass(one, error) };
        }
      })
    ),
  );
  const others = won.filter((workload) => !isDue(workload)).flatMap((workload) =>
    parts.past.get(workloadKey(workload)) ?? []
  );
  const lost = found.filter(({ winner }) => winner !== own).map((one): PolicyWorkload => ({
    record: outweighedRecord(one),
    metricsMissing: false,
    difference: 0,
  }));
  const matched = [...looked.map(({ outcome }) => outcome), ...others, ...lost];
  const down = looked.find(({ outcome }) => outcome.missing?.reason === "ProviderUnavailable");
  const all = looked.every(({ outcome }) => outcome.missing?.reason === "ProviderUnavailable");
  if (down === undefined || !all || others.length > 0) return { matched, looked };
  const message = down.outcome.missing?.message ?? "";
  return { problem: { reason: "ProviderUnavailable", message }, matched, looked };
}

async function passOne(
  { workload, policy }: { readonly workload: RightsizedWorkload; readonly policy: ReadablePolicy },
  parts: CycleParts & Pick<PassParts, "source">,
  signal: AbortSignal,
): Promise<PassOutcome> {
  const { book, denials, clock } = parts;
  const { kind, metadata: { namespace, name } } = workload;
  const key = workloadKey(workload);
  const before = book.get({ kind, namespace, name });
  const denial = denials.get(key);
  const outcome = await passWorkload({ workload, policy, before, denial }, parts, { signal });
  book.set(outcome.record);
  parts.past.set(key, outcome);
  const { failure } = outcome;
  if (failure?.reason === "AdmissionDenied") {
    denials.set(key, { message: failure.message, retryAtMs: clock.wall() + DENIED_MS });
  } else if (outcome.applied !== undefined) denials.delete(key);
  return outcome;
}

/** One workload that can't be looked at must not keep the others from it. */
function failedPass(
  { workload: { kind, metadata }, policy }: {
    readonly workload: RightsizedWorkload;
    readonly policy: ReadablePolicy;
  },
  error: unknown,
): PassOutcome {
  const record = {
    workload: { kind, namespace: metadata.namespace, name: metadata.name },
    policy: { namespace: policy.metadata.namespace, name: policy.metadata.name },
    status: "Error",
    reason: "EvaluationFailed",
    message: String(error),
    recommendations: [],
    inForce: [],
  } as const;
  const message = eventMessage("EvaluationFailed", String(error));
  return {
    record,
    metricsMissing: false,
    difference: 0,
    events: [{ type: "Warning", reason: "UpdateFailed", message }],
  };
}
