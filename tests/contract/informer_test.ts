import fc from "fast-check";
import assert from "node:assert/strict";
import { createSimulatedAPI, type SimulatedAPI } from "../../lab/simulation/api/simulated_api.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import type { Pod } from "../../shared/api/pod.ts";
import { createInformer } from "../../shared/control/informer.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import { silentLog } from "../../shared/log.ts";
import { seededRandom } from "../../shared/random.ts";
import { pure } from "../fixtures/pure.ts";
import { samplePod } from "./support/sample_objects.ts";

interface Write {
  readonly act: "create" | "change" | "move" | "remove";
  readonly name: string;
}

type Act =
  | Write
  | { readonly act: "stop" | "start" | "close" | "compact" }
  | { readonly act: "fail"; readonly verb: "list" | "watch"; readonly status: number };

const name = fc.constantFrom("a", "b", "c", "d");
const step: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      act: fc.constantFrom(
        "create" as const,
        "change" as const,
        "move" as const,
        "remove" as const,
      ),
      name,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      act: fc.constantFrom("stop" as const, "start" as const, "close" as const, "compact" as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant("fail" as const),
      verb: fc.constantFrom("list" as const, "watch" as const),
      status: fc.constantFrom(0, 403, 410, 429, 500),
    }),
  },
);
const timed = fc.record({ step, afterMs: fc.integer({ min: 0, max: 4000 }) });

function write(pods: SimulatedAPI["store"]["tables"]["Pod"], { act, name }: Write): void {
  const key = `shop/${name}`;
  const known = pods.get(key) !== undefined;
  if (act === "create" && !known) pods.create(samplePod(name));
  if (act === "remove" && known) pods.remove(key);
  if (act === "change" && known) {
    pods.modify(key, (pod) => ({ ...pod, priority: pod.priority + 1 }));
  }
  if (act === "move" && known) {
    pods.modify(key, (pod) => ({
      ...pod,
      nodeName: pod.nodeName === "node-1" ? "node-2" : "node-1",
    }));
  }
}

function perform(api: SimulatedAPI, step: Act): void {
  switch (step.act) {
    case "stop":
      return api.stop();
    case "start":
      return api.start();
    case "close":
      return api.closeWatches();
    case "compact":
      return api.compact();
    case "fail":
      return api.failNext({ ...step, kind: "Pod" });
    default:
      return write(api.store.tables.Pod, step);
  }
}

pure("createInformer() equals the store once things are quiet, whatever was before", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(timed, { maxLength: 40 }), fc.integer(), async (steps, seed) => {
      const clock = createVirtualClock({ wallStart: 0 });
      const random = seededRandom(seed);
      const api = createSimulatedAPI({ clock, random, latencyMs: 40 });
      const informer = createInformer({
        source: api.listWatch("Pod", { nodeName: "node-1" }),
        clock,
        random,
        log: silentLog,
        name: "pods",
      });
      // The state of a level-based subscriber: it reads each key when it receives it.
      const known = new Map<string, Pod | undefined>();
      informer.subscribe((key) => known.set(key, informer.get(key)));
      const stop = new AbortController();
      const run = informer.run(stop.signal);
      for (const { step, afterMs } of steps) {
        await clock.runUntil(clock.monotonic() + afterMs);
        perform(api, step);
      }
      api.start();
      await clock.runUntil(clock.monotonic() + 300_000);

      const wanted = new Map(
        api.store.tables.Pod.all()
          .filter(({ nodeName }) => nodeName === "node-1")
          .map((pod) => [objectKey(pod.metadata), pod]),
      );
      assert.equal(informer.synced, true);
      assert.deepEqual(
        new Map([...informer.all()].map((pod) => [objectKey(pod.metadata), pod])),
        wanted,
      );
      for (const [key, pod] of known) assert.deepEqual(pod, wanted.get(key));
      for (const key of wanted.keys()) assert.ok(known.has(key));
      stop.abort();
      await clock.runUntil(clock.monotonic() + 1);
      await run;
    }),
  );
});
