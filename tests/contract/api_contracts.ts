/**
 * The contracts of `ListWatch`, `LeaseStore`, `NodeLink`, `EndpointSliceStore` and `EventSink`.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { ListWatch, WatchEvent } from "../../shared/control/informer.ts";
import type { ApiObject } from "../../shared/api/object.ts";
import { isAtLeast } from "../../shared/control/object_key.ts";
import {
  assertRefused,
  CONFLICT,
  type ContractHarness,
  contractTests,
  EXISTS,
  NOT_FOUND,
  type OpenHarness,
} from "./support/contract_harness.ts";
import type { Lease } from "../../shared/api/lease.ts";
import type { LeaseStore } from "../../shared/control/leader_election.ts";
import type { EventSink, EventSubject, MarketEvent, NodeLink } from "../../shared/api/ports.ts";
import type { EndpointSliceSpec, EndpointSliceStore } from "../../shared/admission/ports.ts";
import type { RightsizingEvent, RightsizingEvents } from "../../controller/rightsizing/ports.ts";
import { OPTIPOD_GROUP_VERSION } from "../../shared/api/optimization_policy.ts";

/** A server with objects of one kind that come and go. */
export interface ListWatchHarness extends ContractHarness {
  readonly subject: ListWatch<ApiObject>;
  create(name: string): Promise<void>;
  change(name: string): Promise<void>;
  remove(name: string): Promise<void>;
  /** A version from before the server's history. */
  expiredVersion(): Promise<string>;
}

/** A server with a list-watch that has a selector. */
export interface SelectiveHarness extends ListWatchHarness {
  /** Creates an object that the selector leaves out. */
  createForeign(name: string): Promise<void>;
}

type ObjectEvent = Exclude<WatchEvent<ApiObject>, { type: "BOOKMARK" }>;

/**
 * True when an object only changed because its end has begun: pods are marked before they go, even
 * when they go at once.
 */
function announcesEnd({ type, object }: ObjectEvent): boolean {
  return type === "MODIFIED" && "terminating" in object.metadata && !!object.metadata.terminating;
}

/**
 * The first `count` events of a watch without its bookmarks and announcements; then the watch is
 * ended.
 */
async function firstEvents(
  subject: ListWatch<ApiObject>,
  version: string,
  count: number,
): Promise<ObjectEvent[]> {
  const stop = new AbortController();
  const events: ObjectEvent[] = [];
  for await (const event of subject.watch(version, stop.signal)) {
    if (event.type === "BOOKMARK" || announcesEnd(event)) continue;
    events.push(event);
    if (events.length === count) break;
  }
  stop.abort();
  return events;
}

const never = new AbortController().signal;

const named = (events: readonly ObjectEvent[]): string[] =>
  events.map(({ type, object }) => `${type} ${object.metadata.name}`);

/** Registers the suite; `name` says what is tested, for instance `listWatch("Pod")`. */
export function listWatchContract(name: string, open: OpenHarness<ListWatchHarness>): void {
  const contract = contractTests(open);
  contract(`${name} lists all objects with identity and version`, async (harness) => {
    await harness.create("a");
    await harness.create("b");
    await harness.remove("b");
    await harness.create("c");
    const { items, resourceVersion } = await harness.subject.list(never);
    assert.deepEqual(items.map(({ metadata }) => metadata.name).sort(), ["a", "c"]);
    assert.ok(resourceVersion !== "");
    for (const { metadata } of items) {
      assert.ok(metadata.uid !== "" && metadata.resourceVersion !== "");
    }
    assert.equal(new Set(items.map(({ metadata }) => metadata.uid)).size, 2);
  });

  contract(`${name} reports what was written after the list, in order`, async (harness) => {
    const { subject } = harness;
    await harness.create("old");
    const { resourceVersion } = await subject.list(never);
    await harness.create("a");
    await harness.change("old");
    const watching = firstEvents(subject, resourceVersion, 4);
    await harness.change("a");
    await harness.remove("old");
    const events = await watching;
    assert.deepEqual(named(events), ["ADDED a", "MODIFIED old", "MODIFIED a", "DELETED old"]);
    const versions = events.map(({ object }) => object.metadata.resourceVersion);
    assert.equal(new Set(versions).size, 4);
  });

  contract(`${name} lists as of the newest event at least`, async (harness) => {
    const { subject } = harness;
    const { resourceVersion } = await subject.list(never);
    await harness.create("a");
    await harness.remove("a");
    const events = await firstEvents(subject, resourceVersion, 2);
    const listed = await subject.list(never);
    for (const { object: { metadata } } of events) {
      assert.equal(isAtLeast(listed.resourceVersion, metadata.resourceVersion), true);
    }
  });

  contract(`${name} resumes after any event, a deletion included`, async (harness) => {
    const { subject } = harness;
    const { resourceVersion } = await subject.list(never);
    await harness.create("a");
    await harness.remove("a");
    await harness.create("b");
    const events = await firstEvents(subject, resourceVersion, 3);
    assert.deepEqual(named(events), ["ADDED a", "DELETED a", "ADDED b"]);
    for (const [index, { object }] of events.slice(0, 2).entries()) {
      const rest = firstEvents(subject, object.metadata.resourceVersion, 2 - index);
      assert.deepEqual(named(await rest), named(events.slice(index + 1)));
    }
  });

  contract(`${name} ends a watch that is aborted without an error`, async ({ subject }) => {
    const { resourceVersion } = await subject.list(never);
    for (const abortFirst of [true, false]) {
      const stop = new AbortController();
      if (abortFirst) stop.abort();
      const next = subject.watch(resourceVersion, stop.signal)[Symbol.asyncIterator]().next();
      stop.abort();
      assert.equal((await next).done, true);
    }
  });

  contract(`${name} answers 410 when the version is too old`, async (harness) => {
    const version = await harness.expiredVersion();
    const watching = () => firstEvents(harness.subject, version, 1);
    await assertRefused(watching(), { status: 410 });
  });
}

/** Registers the suite for a list-watch that has a selector. */
export function selectiveListWatchContract(
  name: string,
  open: OpenHarness<SelectiveHarness>,
): void {
  listWatchContract(name, open);

  contractTests(open)(`${name} leaves out what its selector does not match`, async (harness) => {
    const { subject } = harness;
    const { resourceVersion } = await subject.list(never);
    await harness.createForeign("foreign");
    await harness.create("own");
    const events = await firstEvents(subject, resourceVersion, 1);
    assert.deepEqual(named(events), ["ADDED own"]);
    const { items } = await subject.list(never);
    assert.deepEqual(items.map(({ metadata }) => metadata.name), ["own"]);
  });
}

/** A server without the Lease. */
export interface LeaseStoreHarness extends ContractHarness {
  readonly subject: LeaseStore;
}

const TAKEN: Lease = {
  metadata: { name: "", namespace: "", uid: "", resourceVersion: "" },
  holder: "a",
  durationSeconds: 15,
  acquireTimeMs: 1_767_225_600_000,
  renewTimeMs: 1_767_225_600_250,
  transitions: 2,
};

/** The part of a Lease that candidates write. */
function written({ metadata: _metadata, ...record }: Lease): Omit<Lease, "metadata"> {
  return record;
}

/** Registers the suite. */
export function leaseStoreContract(open: OpenHarness<LeaseStoreHarness>): void {
  const contract = contractTests(open);
  contract("read() gives nothing before create(), and then what it stored", async (h) => {
    assert.equal(await h.subject.read(), undefined);
    const created = await h.subject.create(TAKEN);
    assert.deepEqual(written(created), written(TAKEN));
    assert.ok(created.metadata.uid !== "" && created.metadata.resourceVersion !== "");
    assert.deepEqual(await h.subject.read(), created);
  });

  contract("create() is refused with 409 to the second client", async (h) => {
    const created = await h.subject.create(TAKEN);
    await assertRefused(h.subject.create({ ...TAKEN, holder: "b" }), EXISTS);
    assert.deepEqual(await h.subject.read(), created);
  });

  contract("update() lets one of two win that read the same record", async (h) => {
    const seen = await h.subject.create(TAKEN);
    const won = await h.subject.update({ ...seen, holder: "b", transitions: 3 });
    await assertRefused(h.subject.update({ ...seen, holder: "c" }), CONFLICT);
    assert.deepEqual(await h.subject.read(), won);
    assert.deepEqual(written(won), { ...written(TAKEN), holder: "b", transitions: 3 });
    assert.notEqual(won.metadata.resourceVersion, seen.metadata.resourceVersion);
  });

  contract("update() can release the record, which has no holder then", async (h) => {
    const seen = await h.subject.create(TAKEN);
    const free = await h.subject.update({
      ...seen,
      holder: "",
      renewTimeMs: undefined,
      durationSeconds: 1,
    });
    assert.deepEqual([free.holder, free.renewTimeMs], ["", undefined]);
    const next = await h.subject.update({ ...free, holder: "b", durationSeconds: 15 });
    assert.equal(next.holder, "b");
  });
}

/** A server with one node. */
export interface NodeLinkHarness extends ContractHarness {
  /** The link of the node's agent. */
  readonly subject: NodeLink;
  readonly nodeName: string;
  /** The link of an agent with a node that does not exist. */
  readonly lost: NodeLink;
  /** When the agent's Lease was last renewed, ms since the Unix epoch; undefined without one. */
  renewedAt(): Promise<number | undefined>;
  /** Lets some time pass, at least a millisecond. */
  pass(): Promise<void>;
}

/** Registers the suite. */
export function nodeLinkContract(open: OpenHarness<NodeLinkHarness>): void {
  const contract = contractTests(open);
  contract("node() returns the node as it is now", async (harness) => {
    const node = await harness.subject.node();
    assert.equal(node.metadata.name, harness.nodeName);
    assert.ok(node.allocatableCPU > 0);
  });

  contract("node() is refused with 404 when the node is gone", async (harness) => {
    await assertRefused(harness.lost.node(), NOT_FOUND);
  });

  contract("renewLease() makes the Lease and moves it forward each time", async (harness) => {
    assert.equal(await harness.renewedAt(), undefined);
    await harness.subject.renewLease();
    const first = await harness.renewedAt() ?? assert.fail("no Lease");
    await harness.pass();
    await harness.subject.renewLease();
    const second = await harness.renewedAt() ?? assert.fail("no Lease");
    assert.ok(second > first, `${second} is not after ${first}`);
  });
}

/** A server without the EndpointSlice. */
export interface EndpointSliceHarness extends ContractHarness {
  readonly subject: EndpointSliceStore;
}

const FIRST: EndpointSliceSpec = {
  service: "webhook",
  addressType: "IPv4",
  endpoints: [{ addresses: ["10.0.0.1"], ready: true }],
  ports: [{ name: "https", port: 9443 }],
};
const NEXT: EndpointSliceSpec = {
  ...FIRST,
  endpoints: [{ addresses: ["10.0.0.2"], ready: true }],
  ports: [{ name: "https", port: 10443 }],
};

/** Registers the suite. */
export function endpointSliceContract(open: OpenHarness<EndpointSliceHarness>): void {
  const contract = contractTests(open);
  async function read({ subject }: EndpointSliceHarness) {
    return await subject.read() ?? assert.fail("there is none");
  }

  async function specIn(harness: EndpointSliceHarness): Promise<EndpointSliceSpec> {
    const { metadata: _metadata, ...spec } = await read(harness);
    return spec;
  }

  contract(
    "EndpointSliceStore.read() gives nothing before create(), and then what it stored",
    async (h) => {
      assert.equal(await h.subject.read(), undefined);
      await h.subject.create(FIRST);
      assert.deepEqual(await specIn(h), FIRST);
      await assertRefused(h.subject.create(NEXT), EXISTS);
      assert.deepEqual(await specIn(h), FIRST);
    },
  );

  contract(
    "EndpointSliceStore.replace() writes all of it, and none of an old version",
    async (h) => {
      await h.subject.create(FIRST);
      const seen = await read(h);
      await h.subject.replace(seen, NEXT);
      assert.deepEqual(await specIn(h), NEXT);
      await assertRefused(h.subject.replace(seen, FIRST), CONFLICT);
      await h.subject.replace(await read(h), { ...NEXT, endpoints: [] });
      assert.deepEqual((await read(h)).endpoints, []);
    },
  );
}

/** A server that keeps events. */
export interface EventSinkHarness extends ContractHarness {
  readonly ofPods: EventSink;
  readonly ofWorkloads: RightsizingEvents;
  /** A namespace of the server. */
  readonly namespace: string;
  /** Resolves once `count` events of the object are there, see {@linkcode eventText}, in no particular order. */
  seen(uid: string, count: number): Promise<readonly string[]>;
}

/** An event as text: its object, type, reason and message. */
export function eventText(
  about: Pick<EventSubject, "kind" | "namespace" | "name">,
  { type, reason, message }: Pick<MarketEvent | RightsizingEvent, "type" | "reason" | "message">,
): string {
  return `${about.kind} ${about.namespace}/${about.name}: ${type} ${reason}: ${message}`;
}

const POD = "5f2bd5b1-7a52-4a0a-9f5c-1f1d40c2f0aa";
const WORKLOAD = "0b9a2d6e-52f1-4a5e-8c63-2d9f7b1e4a10";
const POLICY = "7c1f3e58-9d44-4f0b-b0f5-6a2e8c9d1b72";

/** Emits two events of a pod and of a workload each, and one of a policy. */
function emitAll(
  { ofPods, ofWorkloads }: Pick<EventSinkHarness, "ofPods" | "ofWorkloads">,
  namespace: string,
): void {
  const applied: MarketEvent = {
    about: { apiVersion: "v1", kind: "Pod", namespace, name: "web-0", uid: POD },
    type: "Normal",
    ...{ reason: "CPULimitApplied", message: "app: 200m to 400m (Throttled)" },
  };
  ofPods.emit(applied);
  ofPods.emit({ ...applied, type: "Warning", reason: "CPULimitFailed", message: "no room" });
  const about = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    namespace,
    name: "web",
    uid: WORKLOAD,
  };
  const skipped: RightsizingEvent = {
    about,
    ...{ type: "Normal", reason: "WorkloadSkipped", message: "Cooldown: 60 s" },
  };
  ofWorkloads.emit(skipped);
  ofWorkloads.emit({ ...skipped, type: "Warning", reason: "UpdateFailed", message: "no room" });
  const policy = { apiVersion: OPTIPOD_GROUP_VERSION, kind: "OptimizationPolicy", uid: POLICY };
  ofWorkloads.emit({ ...skipped, about: { ...about, ...policy } });
}

/** Registers the suite. */
export function eventSinkContract(open: OpenHarness<EventSinkHarness>): void {
  const contract = contractTests(open);
  contract(
    "emit() reports on each object apart, also after events that the server refused",
    async (harness) => {
      const { namespace, seen } = harness;
      emitAll(harness, "no-such-namespace");
      emitAll(harness, namespace);
      const own = async (uid: string, count: number) =>
        (await seen(uid, count)).filter((text) => !text.includes("no-such-namespace")).toSorted();
      assert.deepEqual(await own(POD, 2), [
        `Pod ${namespace}/web-0: Normal CPULimitApplied: app: 200m to 400m (Throttled)`,
        `Pod ${namespace}/web-0: Warning CPULimitFailed: no room`,
      ]);
      assert.deepEqual(await own(WORKLOAD, 2), [
        `Deployment ${namespace}/web: Normal WorkloadSkipped: Cooldown: 60 s`,
        `Deployment ${namespace}/web: Warning UpdateFailed: no room`,
      ]);
      assert.deepEqual(await own(POLICY, 1), [
        `OptimizationPolicy ${namespace}/web: Normal WorkloadSkipped: Cooldown: 60 s`,
      ]);
    },
  );
}
