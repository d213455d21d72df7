import assert from "node:assert/strict";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { keptCheckpoints } from "../../tests/fixtures/rightsizing/recorded_ports.ts";
import { ApiError } from "../api/api_error.ts";
import { type Log, silentLog } from "../log.ts";
import {
  createPersistedMap,
  decodeEntries,
  encodeEntries,
  type PersistedMap,
} from "./persisted_map.ts";

const NEVER = new AbortController().signal;
const DOWN = new ApiError(500, "InternalError", "later");

/** ConfigMaps, and maps of processes that begin and end there. */
function stage({ maxBytes = 900_000 } = {}) {
  const clock = createVirtualClock({ wallStart: 0 });
  const store = keptCheckpoints();
  const logged: string[] = [];
  const log: Log = {
    ...silentLog,
    warn: (message, fields) => void logged.push(`${message} ${JSON.stringify(fields)}`),
  };
  const create = (): PersistedMap<number> =>
    createPersistedMap<number>({
      ...{ store, clock, log, maxBytes, prefix: "kept-", holds: "numbers" },
      encode: (value) => ({ value }),
      decode(stored) {
        const { value } = stored as { value?: unknown };
        if (typeof value !== "number") throw new SyntaxError("no number");
        return value;
      },
    });
  async function settle<V>(promise: Promise<V>): Promise<V> {
    promise.catch(() => undefined);
    await clock.runUntil(clock.monotonic());
    return await promise;
  }
  return { clock, store, logged, create, settle };
}

/** Entries that do not compress well. */
function manyEntries(count: number): [string, number][] {
  return Array.from({ length: count }, (_, i) => [`key-${i}`, Math.sin(i) * 1e9]);
}

const sorted = (map: PersistedMap<number>) => [...map.entries()].toSorted();

pure("createPersistedMap() keeps entries across processes, writes changes", async () => {
  const { store, create, settle, logged } = stage();
  const first = create();
  first.set("a", 1);
  first.set("b", 2);
  first.set("gone", 3);
  first.delete("gone");
  await settle(first.save(NEVER));
  assert.deepEqual(store.writes, ["apply kept-0"]);
  const second = create();
  assert.equal(await settle(second.load(NEVER)), true);
  assert.deepEqual(sorted(second), [["a", 1], ["b", 2]]);
  await settle(second.save(NEVER));
  second.set("b", 2);
  await settle(second.save(NEVER));
  assert.equal(store.writes.length, 1, "nothing has changed");
  second.delete("a");
  second.delete("b");
  await settle(second.save(NEVER));
  assert.deepEqual([store.writes[1], store.kept.size, logged], ["remove kept-0", 0, []]);
});

pure("createPersistedMap() spreads entries over shards that fit", async () => {
  const { store, create, settle } = stage({ maxBytes: 3000 });
  const entries = manyEntries(1000);
  const first = create();
  for (const [key, value] of entries) first.set(key, value);
  await settle(first.save(NEVER));
  assert.equal(store.kept.size, 16);
  for (const { data } of store.kept.values()) assert.ok((data["entries"] ?? "").length <= 3000);
  const second = create();
  await settle(second.load(NEVER));
  assert.deepEqual(sorted(second), entries.toSorted());
  store.writes.length = 0;
  second.set("key-7", 7);
  await settle(second.save(NEVER));
  assert.equal(store.writes.length, 1);
});

pure("createPersistedMap() loses no entry where the process ends while shards double", async () => {
  const { store, create, settle } = stage({ maxBytes: 3000 });
  const first = create();
  const entries = manyEntries(60);
  for (const [key, value] of entries.slice(0, 50)) first.set(key, value);
  await settle(first.save(NEVER));
  assert.deepEqual([...store.kept.keys()], ["kept-0"]);
  for (const [key, value] of manyEntries(200).slice(60)) first.set(key, value);
  for (let writes = 0;; writes++) {
    const crashed = stage({ maxBytes: 3000 });
    for (const [name, one] of store.kept) crashed.store.kept.set(name, one);
    const dying = crashed.create();
    await crashed.settle(dying.load(NEVER));
    for (const [key, value] of manyEntries(200)) dying.set(key, value);
    crashed.store.failAfter = writes;
    const ended = await crashed.settle(dying.save(NEVER)).then(() => true, () => false);
    crashed.store.failAfter = Infinity;
    const next = crashed.create();
    await crashed.settle(next.load(NEVER));
    const known = new Map(next.entries());
    for (const [key, value] of entries.slice(0, 50)) assert.equal(known.get(key), value, key);
    await crashed.settle(next.save(NEVER));
    const last = crashed.create();
    await crashed.settle(last.load(NEVER));
    assert.deepEqual(sorted(last), sorted(next));
    if (ended) break;
    assert.ok(writes < 20);
  }
});

pure("createPersistedMap() logs what it cannot read, leaves it out and overwrites it", async () => {
  const { store, create, settle, logged } = stage();
  const entries = await encodeEntries([["a", { value: 1 }], ["b", {}]], { encode: (one) => one });
  store.kept.set("kept-0", { name: "kept-0", data: { entries } });
  store.kept.set("kept-1", { name: "kept-1", data: { entries: "?" } });
  store.kept.set("other", { name: "other", data: {} });
  const map = create();
  await settle(map.load(NEVER));
  assert.deepEqual([...map.entries()], [["a", 1]]);
  assert.match(logged[0] ?? "", /shard.*kept-1.*entries/);
  assert.match(logged[1] ?? "", /entry.*kept-0.*"key":"b".*no number/);
  await settle(map.save(NEVER));
  assert.deepEqual([...store.kept.keys()].includes("kept-1"), false);
  await settle(create().load(NEVER));
  assert.equal(logged.length, 2);
});

pure("createPersistedMap() tries again what fails, and logs it once", async () => {
  const { clock, store, create, settle, logged } = stage();
  const map = create();
  store.refusal = DOWN;
  const failures: string[] = [];
  const loading = map.load(NEVER, { failed: (why) => void failures.push(why) });
  await clock.runUntil(30_000);
  store.refusal = undefined;
  await clock.runUntil(120_000);
  assert.equal(await loading, true);
  assert.ok(failures.length > 1 && failures.every((why) => why === "later"));
  logged.length = 0;
  map.set("a", 1);
  store.refusal = DOWN;
  await settle(map.saveOrLog(NEVER));
  await settle(map.saveOrLog(NEVER));
  await assert.rejects(settle(map.save(NEVER)), DOWN);
  assert.equal(logged.length, 1);
  assert.match(logged[0] ?? "", /numbers.*later/);
  store.refusal = undefined;
  await settle(map.saveAtEnd());
  assert.deepEqual([...store.kept.keys()], ["kept-0"]);
});

pure("createPersistedMap() saves every three minutes, if it is to", async () => {
  const { clock, store, create } = stage();
  const map = create();
  const over = new AbortController();
  const saving = map.saveRegularly(over.signal);
  for (const [value, writes] of [[1, 1], [1, 1], [2, 2]] as const) {
    map.set("a", value);
    await clock.runUntil(clock.monotonic() + 180_000);
    assert.equal(store.writes.length, writes);
  }
  over.abort();
  await saving;
});

pure("createPersistedMap() begins empty where it may not read, if it is to", async () => {
  const { clock, store, create, settle, logged } = stage();
  store.refusal = new ApiError(403, "Forbidden", "configmaps is forbidden");
  assert.equal(await settle(create().load(NEVER, { emptyIfForbidden: true })), true);
  assert.match(logged[0] ?? "", /configmaps is forbidden.*\bempty/);
  const over = new AbortController();
  const waiting = create().load(over.signal);
  await clock.runUntil(clock.monotonic() + 10_000);
  over.abort();
  assert.equal(await settle(waiting), false);
});

pure("createPersistedMap() writes all before a save, one write at a time", async () => {
  const { store, create, settle } = stage();
  const map = create();
  map.set("a", 1);
  const saves = [map.save(NEVER)];
  map.set("a", 2);
  saves.push(map.save(NEVER), map.save(NEVER));
  await settle(Promise.all(saves));
  const next = create();
  await settle(next.load(NEVER));
  assert.deepEqual([next.get("a"), store.writes.length <= 2], [2, true]);
});

pure("createPersistedMap() ends a last save that takes too long", async () => {
  const { clock, store, create, logged } = stage();
  const map = create();
  map.set("a", 1);
  store.apply = (_, signal) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(DOWN)));
  const ending = map.saveAtEnd();
  await clock.runUntil(5000);
  await ending;
  assert.match(logged.join(), /Shutdown timed out/);
});

pure("decodeEntries() reads what encodeEntries() wrote, and names the rest", async () => {
  const entries: [string, unknown][] = [["a", [1, 0.1]], ['"', { b: "ü" }]];
  const text = await encodeEntries(entries, { encode: (one) => one });
  assert.deepEqual(await decodeEntries(text), entries);
  assert.deepEqual(await decodeEntries(await encodeEntries([], { encode: String })), []);
  const middle = text[20] === "A" ? "B" : "A";
  const changed = text.slice(0, 20) + middle + text.slice(21);
  for (const damaged of ["", "?", "AAAA", text.slice(0, -4), changed, `${text}AAAA`]) {
    await assert.rejects(decodeEntries(damaged), SyntaxError, damaged);
  }
});
