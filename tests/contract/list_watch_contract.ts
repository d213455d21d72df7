/**
 * The contract of `ListWatch`.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { ListWatch, WatchEvent } from "../../shared/control/informer.ts";
import type { ApiObject } from "../../shared/api/object.ts";
import { isAtLeast } from "../../shared/control/object_key.ts";
import {
  assertRefused,
  type ContractHarness,
  contractTests,
  type OpenHarness,
} from "./support/contract_harness.ts";

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
