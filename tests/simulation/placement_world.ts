/**
 * A small cluster in virtual time for placement: nodes, a scheduler, the controllers of workloads, and
 * an API that keeps a budget. Readers see it as it was a few seconds ago, as through a cache.
 *
 * @module
 */
import type { NodeClass } from "../../shared/placement/node_classes.ts";
import type { ReplicaStatus } from "../../shared/placement/next_move.ts";
import type { PlacedPod } from "../../shared/placement/placed_pod.ts";
import { ordinalOf } from "../../shared/placement/split.ts";

/** A node with room for so many pods. */
export interface WorldNode {
  readonly class: NodeClass;
  readonly room: number;
}

/** A pod as it is. */
export interface WorldPod {
  readonly uid: string;
  readonly name: string;
  /** Of another workload with pods of the same labels; absent: of ours. */
  readonly foreign?: true;
  readonly revision: string;
  /** What the webhook made it for; undefined where it had no say. */
  readonly madeFor: NodeClass | undefined;
  readonly createdAtMs: number;
  node?: WorldNode;
  unschedulableSinceMs?: number;
  readyAtMs?: number;
  /** When it has ended; while it has not, it is being deleted. */
  endsAtMs?: number;
  deletionCost?: number;
}

/** What a look at the world shows. */
export interface WorldView {
  readonly workload: ReplicaStatus;
  /** Ours alone, by owner. */
  readonly pods: readonly PlacedPod[];
}

/** The workload as its user wants it. */
export interface WorldWorkload {
  readonly kind: ReplicaStatus["kind"];
  replicas: number;
  revision: number;
  /** Ready pods that the budget keeps, of so many replicas; absent: no budget. */
  readonly minAvailable?: (replicas: number) => number;
}

/**
 * Answers for a pod that is being made: what it is made with, or undefined where no webhook answers.
 */
export type Webhook = (
  pod: Pick<WorldPod, "uid" | "name" | "revision">,
) => { readonly class: NodeClass; readonly deletionCost?: number } | undefined;

const STARTS_MS = 2000;
const ENDS_MS = 3000;
const SURGE = 1;

/** The world. Each tick is a second. */
export class PlacementWorld {
  readonly workload: WorldWorkload;
  nodes: WorldNode[];
  /** Nodes that are about to go: they take no more pods. */
  readonly departing = new Set<WorldNode>();
  /** Nodes that are being drained, though the drain may end early: they take no more pods either. */
  readonly draining = new Set<WorldNode>();
  pods: WorldPod[] = [];
  nowMs = 1_000_000_000_000;
  webhook: Webhook = () => undefined;
  readonly #views: WorldView[] = [];
  readonly #lag: number;
  #made = 0;

  constructor(
    workload: WorldWorkload,
    options: { readonly nodes: readonly WorldNode[]; readonly lag: number },
  ) {
    this.workload = workload;
    this.nodes = [...options.nodes];
    this.#lag = options.lag;
  }

  /** Those of ours that are not being deleted. */
  get live(): readonly WorldPod[] {
    return this.pods.filter((pod) => pod.foreign === undefined && pod.endsAtMs === undefined);
  }

  /** True when each replica is there, of the newest template, and Ready. */
  get whole(): boolean {
    const { live, workload: { replicas, revision } } = this;
    return live.length === replicas &&
      live.every((pod) => this.isReady(pod) && pod.revision === `r${revision}`);
  }

  /** The workload's status as it is. */
  get status(): ReplicaStatus {
    return this.#look().workload;
  }

  /** The world as caches show it. */
  get view(): WorldView {
    return this.#views.at(-1 - this.#lag) ?? this.#views[0] ?? this.#look();
  }

  /** A second goes by; `between` acts when workloads and scheduler have. */
  tick(between: () => void): void {
    this.nowMs += 1000;
    this.pods = this.pods.filter(({ endsAtMs = Infinity }) => this.nowMs < endsAtMs);
    if (this.workload.kind === "Deployment") this.#deploy();
    else this.#order();
    for (const pod of this.pods) if (pod.node === undefined) this.#schedule(pod);
    this.#views.push(this.#look());
    between();
  }

  /** The API has taken the pod away. */
  remove(uid: string): void {
    const pod = this.pods.find((one) => one.uid === uid && one.endsAtMs === undefined);
    if (pod !== undefined) this.#delete(pod);
  }

  /** A node goes, and its pods with it. */
  loseNode(node: WorldNode): void {
    this.nodes = this.nodes.filter((one) => one !== node);
    this.pods = this.pods.filter((pod) => pod.node !== node);
  }

  /** A pod of another owner, which looks like ours. */
  addForeign(): void {
    const number = ++this.#made;
    this.pods.push({
      uid: `foreign-${number}`,
      name: `web-${number}`,
      foreign: true,
      revision: `r${this.workload.revision}`,
      madeFor: undefined,
      createdAtMs: this.nowMs,
    });
  }

  /** True while it runs and is not being deleted. */
  isReady({ readyAtMs = Infinity, endsAtMs }: WorldPod): boolean {
    return endsAtMs === undefined && readyAtMs <= this.nowMs;
  }

  /** What the budget allows now; undefined where there is none. */
  disruptionsAllowed(): number | undefined {
    const { minAvailable, replicas } = this.workload;
    if (minAvailable === undefined) return undefined;
    const ready = this.live.filter((pod) => this.isReady(pod)).length;
    return Math.max(0, ready - minAvailable(replicas));
  }

  #leaves(node: WorldNode): boolean {
    return this.departing.has(node) || this.draining.has(node);
  }

  #create(name: string): void {
    const pod = {
      uid: `uid-${++this.#made}`,
      name,
      revision: `r${this.workload.revision}`,
    };
    const { class: madeFor, ...rest } = this.webhook(pod) ?? { class: undefined };
    this.pods.push({ ...pod, ...rest, madeFor, createdAtMs: this.nowMs });
  }

  #delete(pod: WorldPod): void {
    if (pod.node === undefined) this.pods = this.pods.filter((one) => one !== pod);
    else pod.endsAtMs ??= this.nowMs + ENDS_MS;
  }

  #schedule(pod: WorldPod): void {
    const free = (node: WorldNode): number =>
      node.room - this.pods.filter((one) => one.node === node).length;
    const [node] = this.nodes
      .filter((one) => !this.#leaves(one))
      .filter((one) => (pod.madeFor === undefined || one.class === pod.madeFor) && free(one) > 0)
      .toSorted((a, b) => free(b) - free(a));
    if (node === undefined) {
      pod.unschedulableSinceMs ??= this.nowMs;
      return;
    }
    pod.node = node;
    delete pod.unschedulableSinceMs;
    pod.readyAtMs = this.nowMs + STARTS_MS;
  }

  /** A Deployment with one pod more than wanted while it rolls out, and none less. */
  #deploy(): void {
    const { replicas, revision } = this.workload;
    const of = (newest: boolean): readonly WorldPod[] =>
      this.live.filter((pod) => (pod.revision === `r${revision}`) === newest);
    const most = replicas + (of(false).length > 0 ? SURGE : 0);
    const missing = Math.min(replicas - of(true).length, most - this.live.length);
    for (let made = 0; made < missing; made++) this.#create(`web-${this.#made + 1}`);
    const excess = Math.max(0, of(true).length - replicas);
    for (const pod of this.#firstToGo(of(true)).slice(0, excess)) this.#delete(pod);
    for (const pod of this.#firstToGo(of(false))) {
      const ready = this.live.filter((one) => this.isReady(one)).length;
      if (!this.isReady(pod) || ready > replicas) this.#delete(pod);
    }
  }

  /**
   * A ReplicaSet's order: without a node, not Ready, cheap, young (kubernetes, ActivePodsWithRanks).
   */
  #firstToGo(pods: readonly WorldPod[]): readonly WorldPod[] {
    return pods.toSorted((a, b) =>
      Number(b.node === undefined) - Number(a.node === undefined) ||
      Number(this.isReady(a)) - Number(this.isReady(b)) ||
      (a.deletionCost ?? 0) - (b.deletionCost ?? 0) ||
      b.createdAtMs - a.createdAtMs
    );
  }

  /** A StatefulSet, one pod after the other. */
  #order(): void {
    const { replicas, revision } = this.workload;
    const own = this.pods.filter(({ foreign }) => foreign === undefined);
    for (let ordinal = 0; ordinal < replicas; ordinal++) {
      const pod = own.find(({ name }) => name === `db-${ordinal}`);
      if (pod === undefined) this.#create(`db-${ordinal}`);
      if (pod === undefined || !this.isReady(pod)) return;
    }
    const highest = own.toSorted((a, b) => (ordinalOf(b.name) ?? 0) - (ordinalOf(a.name) ?? 0));
    if (own.some(({ endsAtMs }) => endsAtMs !== undefined)) return;
    const next = highest.length > replicas
      ? highest[0]
      : highest.find((pod) => pod.revision !== `r${revision}`);
    if (next !== undefined) this.#delete(next);
  }

  #look(): WorldView {
    const { kind, replicas, revision } = this.workload;
    const { live } = this;
    return {
      workload: {
        kind,
        replicas,
        observed: true,
        present: live.length,
        ready: live.filter((pod) => this.isReady(pod)).length,
        updated: live.filter((pod) => pod.revision === `r${revision}`).length,
      },
      pods: this.pods.filter(({ foreign }) => foreign === undefined).map((pod) => this.#seen(pod)),
    };
  }

  #seen(pod: WorldPod): PlacedPod {
    const { uid, name, revision, createdAtMs, node, unschedulableSinceMs, deletionCost } = pod;
    return {
      uid,
      name,
      revision,
      createdAtMs,
      class: node?.class ?? pod.madeFor ?? "on-demand",
      gone: pod.endsAtMs !== undefined || (node !== undefined && this.#leaves(node)),
      scheduled: node !== undefined,
      ready: this.isReady(pod),
      cordoned: false,
      ...(unschedulableSinceMs === undefined ? {} : { unschedulableSinceMs }),
      ...(deletionCost === undefined ? {} : { deletionCost }),
    };
  }
}
