/**
 * One cycle of one policy: finds its workloads, reconciles those that it wins.
 *
 * @module
 */
import type { Workload } from "../../../shared/api/workload.ts";
import type { Permits } from "../../../shared/control/permits.ts";
import {
  type PolicyProblem,
  validationProblem,
} from "../../../shared/rightsizing/build_policy_status.ts";
import {
  type LastDenial,
  type RightsizedWorkload,
  rightsizedWorkload,
} from "../../../shared/rightsizing/guards/rightsizing_snapshot.ts";
import {
  matchesWorkload,
  outweighedRecord,
  policyFor,
  type PolicyInput,
  type ReadablePolicy,
  workloadKey,
} from "../../../shared/rightsizing/policy_match.ts";
import type { StoredPolicy } from "../../../shared/rightsizing/policy_spec.ts";
import type { WorkloadRecord } from "../../../shared/rightsizing/workload_record.ts";
import { failedOutcome, type ReconcileOutcome, unreadableOutcome } from "../outcome.ts";
import type { UsageSources } from "../sources/usage_sources.ts";
import type { RecordStore } from "../store.ts";
import { type ReconcileParts, reconcileWorkload } from "../reconcile_workload.ts";

/** The state at the beginning of a cycle. */
export interface CycleState extends PolicyInput {
  /** All policies, also disabled and unreadable ones. */
  readonly policies: readonly StoredPolicy[];
  readonly workloads: Iterable<Workload>;
  /**
   * Keys of the workloads to reconcile, beside workloads without a record under this policy.
   * @default all
   */
  readonly only?: ReadonlySet<string> | undefined;
  readonly signal: AbortSignal;
}

/** Dependencies of cycles. */
export interface CycleParts extends Omit<ReconcileParts, "source"> {
  readonly sources: UsageSources;
  readonly records: RecordStore;
  /** Limits how many workloads are reconciled at the same time. */
  readonly permits: Permits;
  /** Called with each workload that could not be written, and the missing permission. */
  readonly lacksPermission?: (workload: Workload, permission: string) => void;
}

/** A workload that the cycle has reconciled. */
export interface ReconciledWorkload {
  readonly workload: Pick<RightsizedWorkload, "kind" | "metadata">;
  readonly outcome: ReconcileOutcome;
}

/** The outcome of a cycle. */
export interface CycleOutcome {
  readonly problem?: PolicyProblem | undefined;
  /** Its records could not be written, for a minute or longer. */
  readonly unwritten?: PolicyProblem | undefined;
  /** All workloads that the policy matches. */
  readonly matched: readonly WorkloadRecord[];
  readonly reconciled: readonly ReconciledWorkload[];
  /** True where the signal was aborted before all were reconciled: nothing is reported. */
  readonly aborted: boolean;
}

type ActivePolicy = StoredPolicy & ReadablePolicy;

/** A denied change is retried after this, ms. */
const DENIED_MS = 3_600_000;

/** Runs cycles, and remembers denials between them. */
export class PolicyCycles {
  readonly #parts: CycleParts;
  /** Denials by admission, by workload; `policy`: UID and generation of the policy that was applied. */
  readonly #denials = new Map<string, LastDenial & { readonly policy: string }>();
  /**
   * Reconciles in progress, by workload: when another policy wins the workload meanwhile, its reconcile must
   * begin with the record of the first.
   */
  readonly #underWay = new Map<string, Promise<unknown>>();

  constructor(parts: CycleParts) {
    this.#parts = parts;
  }

  /**
   * Runs a cycle. A workload that fails does not stop the others. A cycle of a policy that is disabled or can't be
   * read sends no requests.
   */
  async run(policy: StoredPolicy, state: CycleState): Promise<CycleOutcome> {
    const { spec, faults } = policy;
    const nothing = { matched: [], reconciled: [], aborted: false };
    if (spec === undefined) return { problem: validationProblem(faults), ...nothing };
    if (spec.mode === "Disabled") return nothing;
    return await this.#reconcileAll({ ...policy, spec }, state);
  }

  /** Deletes the denials of all workloads but these, by key. */
  keepOnly(keep: (workload: string) => boolean): void {
    for (const key of this.#denials.keys()) if (!keep(key)) this.#denials.delete(key);
  }

  async #reconcileAll(policy: ActivePolicy, state: CycleState): Promise<CycleOutcome> {
    const { sources, permits, records } = this.#parts;
    const { won, lost } = discover(policy, state);
    const lastRecord = ({ kind, metadata: { namespace, name } }: Workload) => {
      const last = records.get({ kind, namespace, name });
      return last !== undefined && isNamed(policy, last.policy) ? last : undefined;
    };
    const { selected = [], others = [] } = Object.groupBy(won, (workload) => {
      const isSelected = state.only === undefined || state.only.has(workloadKey(workload)) ||
        lastRecord(workload) === undefined;
      return isSelected ? "selected" : "others";
    });
    const source = sources.sourceFor(policy.spec);
    const reconciled = (await Promise.all(
      selected.map((workload) =>
        permits.run(async (): Promise<readonly ReconciledWorkload[]> => {
          const outcome = await this.#reconcileNext({ workload, policy, source }, state.signal);
          return outcome === undefined ? [] : [{ workload, outcome }];
        })
      ),
    )).flat();
    const wonRecords = [
      ...reconciled.map(({ outcome }) => outcome.record),
      ...others.flatMap((workload) => lastRecord(workload) ?? []),
    ];
    return {
      problem: providerProblem(wonRecords),
      matched: [...wonRecords, ...lost],
      reconciled,
      aborted: reconciled.length < selected.length,
    };
  }

  /** Reconciles once another reconcile of the workload has ended; undefined where `signal` is aborted. */
  async #reconcileNext(
    one: PolicyWorkload,
    signal: AbortSignal,
  ): Promise<ReconcileOutcome | undefined> {
    const key = workloadKey(one.workload);
    while (this.#underWay.has(key) && !signal.aborted) await this.#underWay.get(key);
    if (signal.aborted) return undefined;
    const outcome = this.#reconcile(one, signal).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, outcome);
    return await outcome;
  }

  /** Never rejects: a workload that fails must not stop the others. */
  async #reconcile(
    { workload, policy, source }: PolicyWorkload,
    signal: AbortSignal,
  ): Promise<ReconcileOutcome | undefined> {
    const { records, clock, lacksPermission } = this.#parts;
    const { kind, metadata: { namespace, name } } = workload;
    const key = workloadKey(workload);
    const version = `${policy.metadata.uid} ${policy.metadata.generation}`;
    const last = this.#denials.get(key);
    const subject = {
      policy,
      before: records.get({ kind, namespace, name }),
      denial: last?.policy === version ? last : undefined,
    };
    let outcome: ReconcileOutcome | undefined;
    try {
      const readable = rightsizedWorkload(workload);
      outcome = readable === undefined
        ? unreadableOutcome({ ...subject, workload })
        : await reconcileWorkload({ ...subject, workload: readable }, {
          ...this.#parts,
          source,
        }, { signal });
    } catch (error) {
      outcome = failedOutcome({ ...subject, workload }, error);
    }
    if (outcome === undefined) return undefined;
    const { record, failure } = outcome;
    records.set(record);
    if (failure?.permission !== undefined) lacksPermission?.(workload, failure.permission);
    if (failure?.reason === "AdmissionDenied") {
      this.#denials.set(key, {
        message: failure.message,
        recommendations: record.recommendations,
        retryAtMs: clock.wall() + DENIED_MS,
        policy: version,
      });
    } else if (outcome.applied !== undefined) this.#denials.delete(key);
    return outcome;
  }
}

/** A workload, the policy that has won it, and its source of usage. */
interface PolicyWorkload extends Pick<ReconcileParts, "source"> {
  readonly workload: Workload;
  readonly policy: ActivePolicy;
}

/** The workloads that the policy matches: those that it wins, and records of those that another policy wins. */
function discover(
  policy: ActivePolicy,
  state: CycleState,
): { readonly won: readonly Workload[]; readonly lost: readonly WorkloadRecord[] } {
  const present = state.policies.find(({ metadata }) => isNamed(policy, metadata));
  // The policy is deleted.
  if (present === undefined) return { won: [], lost: [] };
  const won: Workload[] = [];
  const lost: WorkloadRecord[] = [];
  for (const workload of state.workloads) {
    if (!matchesWorkload(present, workload, state)) continue;
    const winner = policyFor(workload, state);
    if (winner === undefined || winner === present) won.push(workload);
    else lost.push(outweighedRecord(workload, winner));
  }
  return { won, lost };
}

function isNamed(
  { metadata }: StoredPolicy,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): boolean {
  return metadata.namespace === namespace && metadata.name === name;
}

/** A problem of the whole policy where its source has no usage of any workload. */
function providerProblem(records: readonly WorkloadRecord[]): PolicyProblem | undefined {
  // The source is not queried for a workload with an unreadable template.
  const queried = records.filter(({ reason }) => reason !== "UnreadableTemplate");
  const [first] = queried;
  const isDown = queried.every(({ reason }) => reason === "ProviderUnavailable");
  return first !== undefined && isDown
    ? { reason: "ProviderUnavailable", message: first.message ?? "" }
    : undefined;
}
