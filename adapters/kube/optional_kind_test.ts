import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import { createInformer } from "../../shared/control/informer.ts";
import type { ApiObject, ListWatch } from "../../shared/control/list_watch.ts";
import { silentLog } from "../../shared/log.ts";
import { seededRandom } from "../../shared/random.ts";
import { createVirtualClock, type VirtualClock } from "../../simulation/virtual_clock.ts";
import { optionalKind } from "./optional_kind.ts";

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, permissions: "none", fn });
}

const OBJECT: ApiObject = {
  metadata: { name: "a", namespace: "shop", uid: "u", resourceVersion: "5" },
};

/** A server that serves the kind or not. */
interface Server {
  serves: boolean;
  lists: number;
  /** What lists answer instead. */
  refusal: ApiError | undefined;
  readonly source: ListWatch<ApiObject>;
}

function openServer(clock: VirtualClock): Server {
  const server: Server = {
    serves: false,
    lists: 0,
    refusal: undefined,
    source: {
      async list() {
        server.lists++;
        await Promise.resolve();
        if (server.refusal !== undefined) throw server.refusal;
        if (!server.serves) throw new ApiError(404, "NotFound", "404 page not found");
        return { items: [OBJECT], resourceVersion: "5" };
      },
      async *watch(_version, signal) {
        // A server ends the watches of a definition that is taken away.
        while (server.serves && !signal.aborted) {
          await clock.sleep(1000, signal);
          yield { type: "BOOKMARK", resourceVersion: "5" };
        }
      },
    },
  };
  return server;
}

interface Stage {
  readonly server: Server;
  readonly warnings: unknown[];
  readonly names: () => readonly string[];
  readonly synced: () => boolean;
  pass(ms: number): Promise<void>;
}

/** An informer of the kind that runs while `check` does. */
async function following(check: (stage: Stage) => Promise<void>): Promise<void> {
  const clock = createVirtualClock({ wallStart: 0 });
  const server = openServer(clock);
  const warnings: unknown[] = [];
  const informer = createInformer({
    source: optionalKind(server.source, clock),
    clock,
    random: seededRandom(1),
    log: { ...silentLog, warn: (_message, fields) => void warnings.push(fields) },
    name: "Optional",
  });
  const stop = new AbortController();
  const pass = (ms: number): Promise<void> => clock.runUntil(clock.monotonic() + ms);
  const run = informer.run(stop.signal);
  try {
    await check({
      server,
      warnings,
      pass,
      names: () => [...informer.all()].map(({ metadata }) => metadata.name),
      synced: () => informer.synced,
    });
  } finally {
    stop.abort();
    await pass(1000);
    await run;
  }
}

test("optionalKind() is in sync and empty while the kind is not served, and asks once a minute", () =>
  following(async ({ server, warnings, names, synced, pass }) => {
    await pass(1000);
    assert.deepEqual([names(), synced()], [[], true]);
    await pass(600_000);
    assert.deepEqual([names(), synced()], [[], true]);
    assert.ok(server.lists >= 9 && server.lists <= 12, `${server.lists} lists`);
    assert.deepEqual(warnings, []);
  }));

test("optionalKind() finds a kind within a minute, and loses it with its definition", () =>
  following(async ({ server, names, synced, pass }) => {
    await pass(10_000);
    server.serves = true;
    await pass(61_000);
    assert.deepEqual(names(), ["a"]);
    server.serves = false;
    await pass(61_000);
    assert.deepEqual([names(), synced()], [[], true]);
    server.serves = true;
    await pass(61_000);
    assert.deepEqual(names(), ["a"]);
  }));

test("optionalKind() takes no other answer for a kind that is not there", () =>
  following(async ({ server, warnings, synced, pass }) => {
    server.refusal = new ApiError(403, "Forbidden", "no right to list");
    await pass(5000);
    assert.equal(synced(), false);
    assert.ok(warnings.length > 0);
    server.refusal = undefined;
    await pass(60_000);
    assert.equal(synced(), true);
  }));

test("optionalKind() ends at once when nobody follows any more", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const { source } = openServer(clock);
  const stop = new AbortController();
  const kind = optionalKind(source, clock);
  const { resourceVersion } = await kind.list(stop.signal);
  const first = kind.watch(resourceVersion, stop.signal)[Symbol.asyncIterator]().next();
  stop.abort();
  assert.deepEqual(await first, { done: true, value: undefined });
});
