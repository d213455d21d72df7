import fc from "fast-check";
import assert from "node:assert/strict";
import { forAll } from "../../tests/fixtures/for_all.ts";
import { createVirtualClock, type VirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { ApiError } from "../api/api_error.ts";
import type { ApiObject } from "../api/object.ts";
import { silentLog } from "../log.ts";
import { type Random, seededRandom } from "../random.ts";
import {
  createInformer,
  type Informer,
  type ListWatch,
  type ObjectList,
  type WatchEvent,
} from "./informer.ts";
import { createObjectCache } from "./object_cache.ts";
import { isAtLeast } from "./object_key.ts";

function thing(name: string, resourceVersion: string, uid = `uid-${name}`): ApiObject {
  return { metadata: { name, namespace: "ns", uid, resourceVersion } };
}

type Step = WatchEvent<ApiObject> | { readonly waitMs: number } | Error;

type Items = readonly ApiObject[];

interface Script {
  /** Objects, the same as of a version, or a failure. */
  readonly lists: (Items | ObjectList<ApiObject> | Error)[];
  readonly watches: Step[][];
}

/** A server that answers by the script, and afterwards hangs until it is aborted. */
function scripted(clock: VirtualClock, script: Script) {
  const calls: string[] = [];
  const source: ListWatch<ApiObject> = {
    list() {
      calls.push(`list@${clock.monotonic()}`);
      const items = script.lists.shift();
      if (items === undefined) return Promise.reject(new ApiError(500, "", "nothing left"));
      if (items instanceof Error) return Promise.reject(items);
      if ("resourceVersion" in items) return Promise.resolve(items);
      return Promise.resolve({ items, resourceVersion: `list${calls.length}` });
    },
    async *watch(version, signal) {
      calls.push(`watch ${version}@${clock.monotonic()}`);
      for (const step of script.watches.shift() ?? [{ waitMs: Infinity }]) {
        if (step instanceof Error) throw step;
        if ("waitMs" in step) await clock.sleep(step.waitMs, signal);
        else yield step;
      }
    },
  };
  return { source, calls };
}

function listTimes(calls: readonly string[]): number[] {
  return calls.filter((call) => call.startsWith("list")).map((call) => Number(call.split("@")[1]));
}

interface Running {
  readonly clock: VirtualClock;
  readonly calls: readonly string[];
  readonly informer: Informer<ApiObject>;
  readonly changes: readonly string[];
  readonly before: readonly (string | undefined)[];
}

const parts = () => ({ random: seededRandom(1), log: silentLog, name: "things" });

async function following(
  script: Script,
  check: (running: Running) => Promise<void>,
  options: { relistEveryMs?: number; random?: Random } = {},
): Promise<void> {
  const clock = createVirtualClock({ wallStart: 0 });
  const { source, calls } = scripted(clock, script);
  const informer = createInformer({
    ...{ source, clock, ...parts() },
    indexBy: (object) => object.metadata.uid,
    ...options,
  });
  const changes: string[] = [];
  const before: (string | undefined)[] = [];
  informer.subscribe((key) => changes.push(key));
  informer.subscribe((_key, old) => before.push(old?.metadata.resourceVersion));
  const stop = new AbortController();
  const run = informer.run(stop.signal);
  await check({ clock, calls, informer, changes, before });
  stop.abort();
  await clock.runUntil(clock.monotonic() + 1);
  await run;
  assert.equal(informer.synced, false);
}

pure("createInformer() follows list and watch and finds objects by key and by index", async () => {
  await following({
    lists: [[thing("a", "1"), thing("b", "2")]],
    watches: [[
      { waitMs: 10 },
      { type: "MODIFIED", object: thing("a", "3", "reborn") },
      { type: "DELETED", object: thing("b", "4") },
      { type: "ADDED", object: thing("c", "5") },
      { waitMs: Infinity },
    ]],
  }, async ({ clock, informer, changes, before }) => {
    assert.equal(informer.synced, false);
    const synced = informer.whenSynced(new AbortController().signal);
    await clock.runUntil(5);
    assert.equal(await synced, true);
    assert.deepEqual(changes, ["ns/a", "ns/b"]);
    assert.equal(informer.byIndex("uid-a").length, 1);
    await clock.runUntil(20);
    assert.deepEqual(changes.slice(2), ["ns/a", "ns/b", "ns/c"]);
    assert.deepEqual(before, [undefined, undefined, "1", "2", undefined]);
    assert.equal(informer.get("ns/a")?.metadata.uid, "reborn");
    assert.equal(informer.get("ns/b"), undefined);
    assert.deepEqual([...informer.all()].map((object) => object.metadata.name), ["a", "c"]);
    assert.deepEqual([informer.byIndex("uid-a"), informer.byIndex("reborn").length], [[], 1]);
    assert.equal(informer.synced, true);
  });
});

pure("createInformer() resumes a watch from the last version or bookmark", async () => {
  await following({
    lists: [[]],
    watches: [
      [{ type: "ADDED", object: thing("a", "7") }],
      [{ type: "BOOKMARK", resourceVersion: "9" }],
      [{ waitMs: 5000 }],
    ],
  }, async ({ clock, calls, informer }) => {
    await clock.runUntil(6000);
    assert.deepEqual(calls, ["list@0", "watch list1@0", "watch 7@0", "watch 9@0", "watch 9@5000"]);
    assert.equal(informer.synced, true);
  });
});

pure("createInformer() lists at once when the version is too old", async () => {
  await following({
    lists: [
      [thing("a", "1"), thing("b", "2"), thing("c", "3")],
      [thing("a", "1"), thing("c", "9")],
    ],
    watches: [[{ waitMs: 100 }, new ApiError(410, "Expired", "too old")]],
  }, async ({ clock, calls, informer, changes, before }) => {
    await clock.runUntil(101);
    assert.deepEqual(calls, ["list@0", "watch list1@0", "list@100", "watch list3@100"]);
    assert.deepEqual(changes.slice(3), ["ns/b", "ns/c"]);
    assert.deepEqual(before.slice(3), ["2", "3"]);
    assert.equal(informer.get("ns/b"), undefined);
    assert.equal(informer.synced, true);
  });
});

pure("createInformer() is out of sync from the break to the next list", async () => {
  const down = new ApiError(0, "", "connection refused");
  await following({
    lists: [[thing("a", "1")], down, down, down, []],
    watches: [[{ waitMs: 100 }, down]],
  }, async ({ clock, calls, informer }) => {
    await clock.runUntil(99);
    assert.equal(informer.synced, true);
    await clock.runUntil(100);
    assert.equal(informer.synced, false);
    assert.notEqual(informer.get("ns/a"), undefined);
    const waiting = informer.whenSynced(new AbortController().signal);
    await clock.runUntil(60_000);
    assert.equal(await waiting, true);
    assert.equal(informer.get("ns/a"), undefined);
    const lists = listTimes(calls);
    assert.equal(lists.length, 5);
    lists.slice(2).forEach((at, index) => {
      const waited = at - Number(lists[index + 1]);
      assert.ok(waited >= 1000 && waited <= 2000 * 2 ** (index + 1));
    });
  });
});

pure("createInformer() treats watches that end at once as failures and does not spin", async () => {
  const nothing = () => Array.from({ length: 100 }, () => []);
  await following({ lists: nothing(), watches: nothing() }, async ({ clock, calls }) => {
    await clock.runUntil(60_000);
    assert.ok(calls.length < 40 && calls.length > 4, `${calls.length} calls`);
  });
});

pure("createInformer() waits ever longer where each watch breaks soon after an event", async () => {
  const tooOld = new ApiError(410, "Expired", "too old");
  await following(
    {
      lists: Array.from({ length: 100 }, () => []),
      watches: Array.from({ length: 100 }, () => [
        { type: "ADDED", object: thing("a", "7") },
        { waitMs: 10 },
        tooOld,
      ]),
    },
    async ({ clock, calls }) => {
      await clock.runUntil(60_000);
      const lists = listTimes(calls);
      assert.deepEqual(lists.slice(0, 2), [0, 10]);
      assert.ok(lists.length < 20 && lists.length > 4, `${lists.length} lists`);
    },
  );
});

pure("createInformer() forgets failures once a watch has held", async () => {
  const down = new ApiError(503, "", "down");
  await following(
    { lists: [down, down, [], []], watches: [[{ waitMs: 10_000 }, down]] },
    async ({ clock, calls }) => {
      await clock.runUntil(60_000);
      // The longest waits: 2 s and 4 s, and after the watch 2 s again instead of 8 s.
      assert.deepEqual(listTimes(calls), [0, 2000, 6000, 18_000]);
    },
    { random: { next: () => 1 } },
  );
});

pure("createInformer() waits at least as long as the server asks", async () => {
  await following({
    lists: [new ApiError(429, "TooManyRequests", "", { retryAfterMs: 45_000 }), []],
    watches: [],
  }, async ({ clock, calls }) => {
    await clock.runUntil(50_000);
    assert.deepEqual(calls.slice(0, 2), ["list@0", "list@45000"]);
  });
});

/** A watch that reaches version 9, where `a` is changed and `b` gone, and breaks after 100 ms. */
const NINE: Step[] = [
  { type: "MODIFIED", object: thing("a", "8") },
  { type: "DELETED", object: thing("b", "9") },
  { waitMs: 100 },
  new ApiError(410, "Expired", "too old"),
];

pure("createInformer() takes no list that is older than what it has followed", async () => {
  const seven = { items: [thing("a", "1"), thing("b", "2")], resourceVersion: "7" };
  const ten = { items: [thing("a", "8")], resourceVersion: "10" };
  await following(
    { lists: [seven, seven, seven, ten], watches: [NINE] },
    async ({ clock, calls, informer, changes }) => {
      await clock.runUntil(99);
      const followed = changes.length;
      await clock.runUntil(101);
      assert.equal(informer.synced, false);
      assert.equal(informer.get("ns/a")?.metadata.resourceVersion, "8");
      assert.equal(informer.get("ns/b"), undefined);
      await clock.runUntil(10_000);
      assert.equal(informer.synced, true);
      assert.equal(changes.length, followed);
      assert.deepEqual(calls.slice(2).map((call) => call.split("@")[0]), [
        ...["list", "list", "list", "watch 10"],
      ]);
    },
  );
});

pure("createInformer() follows a server that stays behind, as a restored backup", async () => {
  const seven = { items: [thing("a", "1"), thing("b", "2")], resourceVersion: "7" };
  await following(
    { lists: Array.from({ length: 60 }, () => seven), watches: [NINE] },
    async ({ clock, calls, informer }) => {
      await clock.runUntil(60_000);
      assert.equal(informer.synced, false);
      await clock.runUntil(66_000);
      assert.equal(informer.synced, true);
      assert.equal(informer.get("ns/a")?.metadata.resourceVersion, "1");
      assert.equal(calls.at(-1)?.split("@")[0], "watch 7");
    },
  );
});

pure("createInformer() forgets failures where each watch ends with a periodic list", async () => {
  const busy = new ApiError(500, "InternalError", "etcd leader changed");
  const lists = Array.from({ length: 9 }, () => [[], busy]).flat();
  await following({ lists, watches: [] }, async ({ clock, calls }) => {
    await clock.runUntil(9 * 62_000);
    const times = listTimes(calls);
    const waits = times.flatMap((at, i) => i % 2 === 1 ? [(times[i + 1] ?? Infinity) - at] : []);
    assert.ok(waits.length > 5);
    for (const waitMs of waits.slice(0, 8)) assert.ok(waitMs <= 2000, `${waits}`);
  }, { relistEveryMs: 60_000 });
});

pure("createInformer() lists again at the configured interval, without losing sync", async () => {
  await following(
    { lists: [[], [], [thing("missed", "5")]], watches: [] },
    async ({ clock, calls, informer, changes }) => {
      await clock.runUntil(2500);
      assert.deepEqual(listTimes(calls), [0, 1000, 2000]);
      assert.deepEqual(changes, ["ns/missed"]);
      assert.equal(informer.synced, true);
    },
    { relistEveryMs: 1000 },
  );
});

pure("createInformer() lets a subscriber's own error surface from run", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const { source } = scripted(clock, { lists: [[thing("a", "1")]], watches: [] });
  const informer = createInformer({ source, clock, ...parts() });
  const dismiss = informer.subscribe(() => assert.fail("was dismissed"));
  dismiss();
  informer.subscribe(() => {
    throw new TypeError("bug");
  });
  await assert.rejects(informer.run(new AbortController().signal), /bug/);
});

pure("whenSynced() gives up with false when its signal is aborted", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const { source } = scripted(clock, { lists: [], watches: [] });
  const informer = createInformer({ source, clock, ...parts() });
  const stop = new AbortController();
  const waiting = informer.whenSynced(stop.signal);
  stop.abort();
  assert.equal(await waiting, false);
});

interface Thing extends ApiObject {
  readonly tags: readonly string[];
}

function taggedThing(name: string, tags: readonly string[], resourceVersion = "1"): Thing {
  return { metadata: { name, namespace: "ns", uid: name, resourceVersion }, tags };
}

pure("createObjectCache() finds an object under each present value", () => {
  const cache = createObjectCache<Thing>(({ tags }) => tags);
  const found = (value: string) => cache.byIndex(value).map(({ metadata }) => metadata.name);
  [taggedThing("a", ["red", "big"]), taggedThing("b", ["red"])].forEach(cache.put);
  assert.deepEqual([found("red"), found("big"), found("ns")], [["a", "b"], ["a"], []]);
  cache.put(taggedThing("a", ["big", "blue"], "2"));
  assert.deepEqual([found("red"), found("big"), found("blue")], [["b"], ["a"], ["a"]]);
  const changes = cache.replaceAll([taggedThing("b", ["blue"], "3")]);
  const before = changes.map(([key, before]) => [key, before?.tags]);
  assert.deepEqual(before, [["ns/a", ["big", "blue"]], ["ns/b", ["red"]]]);
  assert.deepEqual([found("red"), found("big"), found("blue")], [[], [], ["b"]]);
  cache.remove(taggedThing("b", []));
  assert.deepEqual(found("blue"), []);
});

const version = fc.bigInt({ min: 1n, max: 10n ** 40n });

forAll("isAtLeast() compares decimal versions of any length", [version, version], (a, b) => {
  assert.equal(isAtLeast(`${a}`, `${b}`), a >= b);
  assert.deepEqual([isAtLeast("100", "99"), isAtLeast("99", "100")], [true, false]);
}, 1);

pure("isAtLeast() knows of other versions only whether they are the same", () => {
  assert.equal(isAtLeast("v2", "v2"), true);
  for (const [one = "", other = ""] of [["v2", "v1"], ["07", "6"], ["7", ""]]) {
    assert.equal(isAtLeast(one, other), undefined);
  }
});
