import assert from "node:assert/strict";
import { pure } from "../../../tests/fixtures/pure.ts";
import type { ListWatch, WatchEvent } from "../../../shared/control/informer.ts";
import type { ApiObject } from "../../../shared/api/object.ts";
import { type Log, silentLog } from "../../../shared/log.ts";
import { seededRandom } from "../../../shared/random.ts";
import { serveCanned, statusAnswer, streamAnswer } from "../../../tests/fixtures/canned_server.ts";
import type { KubeConnection } from "./connection.ts";
import { type Kind, listWatchOf, optionalKind } from "./list_watch.ts";
import { objectOf } from "./json_fields.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import { createVirtualClock, type VirtualClock } from "../../../lab/simulation/virtual_clock.ts";

const never = new AbortController().signal;

const THINGS: Kind<ApiObject> = {
  groupVersion: "v1",
  resource: "things",
  parse(raw) {
    const { name, uid, resourceVersion } = objectOf(objectOf(raw).metadata);
    if (typeof uid !== "string") {
      throw new TypeError("Cannot read the thing: metadata.uid is missing");
    }
    return { metadata: { name: String(name), uid, resourceVersion: String(resourceVersion) } };
  },
};

const SELECTORS = { labelSelector: "app=web", fieldSelector: "spec.nodeName=node-1" };

function subject(connection: KubeConnection, log: Log = silentLog): ListWatch<ApiObject> {
  return listWatchOf(THINGS)(connection, { ...SELECTORS, random: seededRandom(1), log });
}

/** A log that keeps the fields of its warnings. */
function warnings(): Log & { readonly seen: unknown[] } {
  const seen: unknown[] = [];
  return { ...silentLog, warn: (_message, fields) => void seen.push(fields), seen };
}

function thing(name: string, version = "5"): unknown {
  return { metadata: { name, uid: `uid-${name}`, resourceVersion: version } };
}

function page(names: readonly string[], metadata: Record<string, string>): unknown {
  return { metadata, items: names.map((name) => thing(name)) };
}

function lines(...events: readonly (readonly [string, unknown])[]): Response {
  return streamAnswer(events.map(([type, object]) => `${JSON.stringify({ type, object })}\n`));
}

const events = (connection: KubeConnection, log?: Log): Promise<WatchEvent<ApiObject>[]> =>
  Array.fromAsync(subject(connection, log).watch("7", never));

const names = (items: readonly ApiObject[]): string[] => items.map(({ metadata }) => metadata.name);

Deno.test("list() reads page after page, as of the first one's version", async () => {
  await using server = serveCanned(({ query }) =>
    query.continue === undefined
      ? page(["a", "b"], { resourceVersion: "9", continue: "next" })
      : page(["c"], { resourceVersion: "9" })
  );
  const { items, resourceVersion } = await subject(server.connection).list(never);
  assert.deepEqual([names(items), resourceVersion], [["a", "b", "c"], "9"]);
  assert.deepEqual(server.requests.map(({ query }) => query), [
    { ...SELECTORS, limit: "500" },
    { ...SELECTORS, limit: "500", continue: "next" },
  ]);
});

Deno.test("list() asks once without pages when their snapshot has expired", async () => {
  await using server = serveCanned(({ query }) => {
    if (query.limit === undefined) return page(["a", "c"], { resourceVersion: "12" });
    if (query.continue !== undefined) return statusAnswer(410, { reason: "Expired" });
    return page(["a", "b"], { resourceVersion: "9", continue: "next" });
  });
  const { items, resourceVersion } = await subject(server.connection).list(never);
  assert.deepEqual([names(items), resourceVersion], [["a", "c"], "12"]);
});

Deno.test("list() passes refusals on, and refuses a list without a version", async () => {
  await using server = serveCanned(({ query }) =>
    query.limit === undefined ? {} : statusAnswer(410)
  );
  await assert.rejects(subject(server.connection).list(never), { status: 0, reason: "BadAnswer" });
  await using denying = serveCanned(() => statusAnswer(403, { reason: "Forbidden" }));
  await assert.rejects(subject(denying.connection).list(never), { status: 403 });
});

Deno.test("list() leaves out what it can't read, with a warning that names it", async () => {
  await using server = serveCanned(() => ({
    metadata: { resourceVersion: "9" },
    items: [thing("a"), { metadata: { name: "odd", namespace: "shop" } }, 5],
  }));
  const log = warnings();
  const { items } = await subject(server.connection, log).list(never);
  assert.deepEqual(names(items), ["a"]);
  assert.deepEqual(log.seen.length, 2);
  const odd = { path: "/api/v1/things", namespace: "shop", name: "odd" };
  assert.partialDeepStrictEqual(log.seen[0], odd);
});

Deno.test("list() keeps what can't be read in full, with a warning", async () => {
  await using server = serveCanned(() => page(["a", "b"], { resourceVersion: "9" }));
  const log = warnings();
  const open = listWatchOf({
    ...THINGS,
    parse(raw): ApiObject & { readonly unreadable?: string } {
      const thing = THINGS.parse(raw);
      return thing.metadata.name === "b" ? { ...thing, unreadable: "Cannot read it" } : thing;
    },
  });
  const { items } = await open(server.connection, { log }).list(never);
  assert.deepEqual(names(items), ["a", "b"]);
  assert.partialDeepStrictEqual(log.seen, [{ name: "b", error: "Cannot read it" }]);
});

Deno.test("watch() asks for bookmarks after a version, for 5 to 10 minutes", async () => {
  await using server = serveCanned(() => lines());
  assert.deepEqual(await events(server.connection), []);
  const { timeoutSeconds, ...query } = server.requests[0]?.query ?? {};
  const watch = { watch: "true", allowWatchBookmarks: "true", resourceVersion: "7" };
  assert.deepEqual(query, { ...SELECTORS, ...watch });
  assert.ok(Number(timeoutSeconds) >= 300 && Number(timeoutSeconds) < 600, `${timeoutSeconds}`);
});

Deno.test("watch() yields events and bookmarks in order, and ignores unknown types", async () => {
  await using server = serveCanned(() =>
    lines(
      ["ADDED", thing("a", "8")],
      ["SOMETHING", thing("b", "8")],
      ["BOOKMARK", { metadata: { resourceVersion: "11" } }],
      ["MODIFIED", thing("a", "12")],
      ["ADDED", {}],
      ["DELETED", thing("a", "13")],
    )
  );
  const seen = (await events(server.connection)).map((event) =>
    event.type === "BOOKMARK"
      ? [event.type, event.resourceVersion]
      : [event.type, event.object.metadata.resourceVersion]
  );
  assert.deepEqual(
    seen,
    [["ADDED", "8"], ["BOOKMARK", "11"], ["MODIFIED", "12"], ["DELETED", "13"]],
  );
});

Deno.test("watch() throws the status of an ERROR event", async () => {
  const expired = { reason: "Expired", message: "too old" };
  await using server = serveCanned(() =>
    lines(["ADDED", thing("a", "8")], ["ERROR", { kind: "Status", code: 410, ...expired }])
  );
  await assert.rejects(events(server.connection), { name: "ApiError", status: 410, ...expired });
});

Deno.test("watch() goes on past an object it can't read, and asks for a list when that one goes", async () => {
  const odd = { metadata: { name: "odd", resourceVersion: "9" } };
  await using server = serveCanned(() => lines(["ADDED", odd], ["ADDED", thing("a", "10")]));
  const log = warnings();
  const seen = await events(server.connection, log);
  assert.deepEqual(seen[0], { type: "BOOKMARK", resourceVersion: "9" });
  assert.deepEqual([seen.length, log.seen.length], [2, 1]);
  await using deleting = serveCanned(() => lines(["DELETED", odd]));
  await assert.rejects(events(deleting.connection), { status: 410 });
});

const OBJECT: ApiObject = {
  metadata: { name: "a", namespace: "shop", uid: "u", resourceVersion: "5" },
};
const BOOKMARK = { type: "BOOKMARK", resourceVersion: "6" } as const;

const UNKNOWN = new ApiError(404, "NotFound", "404 page not found");
const AWAY = new ApiError(0, "Unreachable", "no route");

/** The kind at a server that answers each list with the error, if there is one. */
function optional(
  clock: VirtualClock,
  refusal: () => ApiError | undefined = () => undefined,
): ListWatch<ApiObject> {
  return optionalKind({
    list() {
      const error = refusal();
      return error === undefined
        ? Promise.resolve({ items: [OBJECT], resourceVersion: "5" })
        : Promise.reject(error);
    },
    async *watch(version) {
      await Promise.resolve();
      if (version === "5") yield BOOKMARK;
    },
  }, clock);
}

pure("optionalKind() follows a kind that is served, and passes other refusals on", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const served = optional(clock);
  assert.deepEqual(names((await served.list(never)).items), ["a"]);
  assert.deepEqual(await Array.fromAsync(served.watch("5", never)), [BOOKMARK]);
  const forbidden = optional(clock, () => new ApiError(403, "Forbidden", "no right to list"));
  await assert.rejects(forbidden.list(never), { status: 403 });
});

/** Answers of the server from a time on, ms, and what a list gives then: names, or the status that it throws. */
const DENIALS: readonly (readonly [atMs: number, ApiError | undefined, string[] | number])[] = [
  [0, undefined, ["a"]],
  [0, UNKNOWN, 404],
  [4999, UNKNOWN, 404],
  [5000, UNKNOWN, []],
  [5000, undefined, ["a"]],
  [5000, UNKNOWN, 404],
  // It did not answer in between: the next 404 may come from another server that has just started.
  [12_000, AWAY, 0],
  [12_000, UNKNOWN, 404],
  [17_000, UNKNOWN, []],
  [17_000, AWAY, 0],
  [17_000, UNKNOWN, []],
];

pure("optionalKind() takes a kind for gone once it was denied for five seconds", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  let refusal: ApiError | undefined;
  const kind = optional(clock, () => refusal);
  for (const [atMs, answer, expected] of DENIALS) {
    await clock.runUntil(atMs);
    refusal = answer;
    const listed = kind.list(never);
    if (typeof expected === "number") await assert.rejects(listed, { status: expected });
    else assert.deepEqual(names((await listed).items), expected, `${atMs} ms`);
  }
});

pure("optionalKind() is empty while the kind is unserved, and asks again each minute", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const kind = optional(clock, () => UNKNOWN);
  const { items, resourceVersion } = await kind.list(never);
  assert.deepEqual(items, []);
  const next = (signal: AbortSignal) =>
    kind.watch(resourceVersion, signal)[Symbol.asyncIterator]().next();
  const ended = next(never).then(() => undefined, ({ status }: ApiError) => status);
  await clock.runUntil(59_999);
  assert.equal(await Promise.race([ended, "waiting"]), "waiting");
  await clock.runUntil(60_000);
  assert.equal(await ended, 410);
  const stop = new AbortController();
  const first = next(stop.signal);
  stop.abort();
  assert.deepEqual(await first, { done: true, value: undefined });
});
