import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import type { Pod } from "../../shared/api/pod.ts";
import { silentLog } from "../../shared/log.ts";
import { seededRandom } from "../../shared/random.ts";
import { resizePatch } from "../../shared/resize/patch.ts";
import {
  sampleContainer,
  sampleGuaranteed,
  samplePod,
} from "../../tests/contract/support/sample_objects.ts";
import { createSimulatedAPI } from "./api/simulated_api.ts";
import { createKubelet } from "./kubelet.ts";
import { createVirtualClock } from "./virtual_clock.ts";

/** One node's kubelet on a server without latency, with a runtime that writes down its calls. */
function node({ allocatableCPU = Infinity }: { readonly allocatableCPU?: number } = {}) {
  const clock = createVirtualClock({ wallStart: 0 });
  const random = seededRandom(11);
  const api = createSimulatedAPI({ clock, random, latencyMs: 0 });
  const calls: string[] = [];
  const short = (id: string): string => id.slice(0, 4);
  const kubelet = createKubelet({
    link: api.kubeletLink("node-1"),
    clock,
    random,
    log: silentLog,
    allocatableCPU,
    runtime: {
      setContainerRequest: (id, millicores) => void calls.push(`${short(id)} asks ${millicores}`),
      setContainerQuota: (id, millicores) => void calls.push(`${short(id)} ${millicores}`),
      setPodQuota: (_uid, millicores) => void calls.push(`pod ${millicores}`),
      startPod: ({ metadata }) => void calls.push(`start ${metadata.name}`),
      stopPod: () => void calls.push("stop"),
      replaceContainer: (from, to) => void calls.push(`${short(from)} -> ${short(to)}`),
    },
  });
  let abort = new AbortController();
  let run = Promise.resolve();
  return {
    api,
    clock,
    kubelet,
    calls,
    pods: api.store.tables.Pod,
    start: () => void (run = kubelet.run((abort = new AbortController()).signal)),
    async stop() {
      abort.abort();
      await clock.runUntil(clock.monotonic() + 1);
      await run;
    },
    resize: (pod: Pod, limitCPU: number) =>
      api.podResizer().resize(
        "shop",
        pod.metadata.name,
        resizePatch(pod.metadata.uid, [{
          name: "app",
          sidecar: false,
          requests: { ...(pod.qosClass === "Guaranteed" ? { cpu: limitCPU } : {}) },
          limits: { cpu: limitCPU },
        }]),
      ),
  };
}

function idOf(pod: Pod | undefined): string {
  const id = pod?.containers[0]?.containerID ?? assert.fail("no container");
  assert.match(id, /^containerd:\/\/[\da-f]{64}$/);
  return id.slice("containerd://".length, "containerd://".length + 4);
}

pure("createKubelet() starts a pod and reports its containers and limits", async () => {
  const { clock, pods, calls, ...scene } = node();
  scene.start();
  pods.create(
    samplePod("web", {
      containers: [sampleContainer({ requests: { cpu: 5 }, limits: { cpu: 5 } })],
    }),
  );
  pods.create(samplePod("elsewhere", { nodeName: "node-2" }));
  await clock.runUntil(799);
  assert.equal(pods.get("shop/web")?.phase, "Pending");
  await clock.runUntil(1201);
  const pod = pods.get("shop/web");
  assert.deepEqual([pod?.phase, pod?.ready, pod?.containers[0]?.applied.limits.cpu], [
    "Running",
    true,
    5,
  ]);
  assert.deepEqual(calls, ["start web", `${idOf(pod)} 10`, "pod 10"]);
  assert.equal(pods.get("shop/elsewhere")?.phase, "Pending");
  await scene.stop();
});

pure("createKubelet() enforces a resize after its delay and reports it as applied", async () => {
  const { clock, pods, calls, ...scene } = node();
  scene.start();
  const created = pods.create(samplePod("web"));
  await clock.runUntil(2000);
  const id = idOf(pods.get("shop/web"));
  calls.length = 0;
  await scene.resize(created, 400);
  await clock.runUntil(2239);
  assert.deepEqual([calls, pods.get("shop/web")?.containers[0]?.applied.limits.cpu], [[], 200]);
  await scene.resize(created, 500);
  await clock.runUntil(2361);
  assert.deepEqual(calls, ["pod 500", `${id} 500`]);
  assert.equal(pods.get("shop/web")?.containers[0]?.applied.limits.cpu, 500);
  await scene.resize(created, 150);
  await clock.runUntil(3000);
  assert.deepEqual(calls.slice(2), [`${id} 150`, "pod 150"]);
  assert.equal(scene.api.requests.get("updateStatus Pod"), 3);
  await scene.stop();
});

pure("restartContainer() gives a new id, with the quota of the old one", async () => {
  const { clock, pods, calls, kubelet, ...scene } = node();
  scene.start();
  pods.create(samplePod("web"));
  await clock.runUntil(2000);
  const before = idOf(pods.get("shop/web"));
  calls.length = 0;
  kubelet.restartContainer("shop/web", "app");
  await clock.runUntil(2001);
  const after = idOf(pods.get("shop/web"));
  assert.notEqual(after, before);
  assert.deepEqual(calls, [`${before} -> ${after}`, `${after} 200`]);
  await scene.stop();
});

pure(
  "createKubelet() ends a terminating pod and removes it, and one that was removed by force",
  async () => {
    const { clock, pods, calls, ...scene } = node();
    scene.start();
    pods.create(samplePod("web"));
    await clock.runUntil(2000);
    pods.modify("shop/web", (pod) => ({
      ...pod,
      metadata: { ...pod.metadata, terminating: true },
    }));
    await clock.runUntil(4000);
    assert.equal(pods.get("shop/web"), undefined);
    pods.create(samplePod("web"));
    await clock.runUntil(6000);
    pods.remove("shop/web");
    await clock.runUntil(6001);
    assert.deepEqual(calls.filter((call) => /^st/.test(call)), [
      "start web",
      "stop",
      "start web",
      "stop",
    ]);
    await scene.stop();
  },
);

pure("refuseResizes() reports its condition and holds until it is taken back", async () => {
  const { clock, pods, calls, kubelet, ...scene } = node();
  scene.start();
  const created = pods.create(samplePod("web"));
  await clock.runUntil(2000);
  calls.length = 0;
  const condition = {
    type: "PodResizePending" as const,
    reason: "Deferred",
    message: "node label changed",
  };
  kubelet.refuseResizes("shop/web", condition);
  await scene.resize(created, 400);
  await clock.runUntil(9000);
  assert.deepEqual([calls, pods.get("shop/web")?.resizeConditions], [[], [condition]]);
  kubelet.refuseResizes("shop/web");
  await clock.runUntil(10_000);
  assert.deepEqual(pods.get("shop/web")?.resizeConditions, []);
  assert.equal(pods.get("shop/web")?.containers[0]?.applied.limits.cpu, 400);
  await scene.stop();
});

pure("createKubelet() catches up after its own stop and after the server's", async () => {
  const { api, clock, pods, calls, ...scene } = node();
  scene.start();
  const web = pods.create(samplePod("web"));
  pods.create(samplePod("db"));
  await clock.runUntil(2000);
  await scene.stop();
  await scene.resize(web, 400);
  pods.remove("shop/db");
  calls.length = 0;
  scene.start();
  await clock.runUntil(3000);
  assert.ok(calls.includes("stop") && !calls.some((call) => call.startsWith("start")));
  assert.equal(pods.get("shop/web")?.containers[0]?.applied.limits.cpu, 400);
  await scene.resize(web, 600);
  await clock.runUntil(3001);
  api.stop();
  await clock.runUntil(10_000);
  assert.ok(calls.includes("pod 600"));
  assert.equal(pods.get("shop/web")?.containers[0]?.applied.limits.cpu, 400);
  api.start();
  await clock.runUntil(60_000);
  assert.equal(pods.get("shop/web")?.containers[0]?.applied.limits.cpu, 600);
  await scene.stop();
});

pure("createKubelet() takes over a pod that another kubelet has started", async () => {
  const { clock, pods, calls, ...scene } = node();
  const id = "ab".repeat(32);
  pods.seed({
    ...samplePod("web", {
      containers: [
        sampleContainer({
          containerID: `containerd://${id}`,
          limits: { cpu: 300 },
          applied: { limits: { cpu: 200 } },
          ready: true,
        }),
      ],
    }),
    phase: "Running",
    ready: true,
  });
  scene.start();
  await clock.runUntil(1000);
  assert.deepEqual(calls, ["pod 300", "abab 300"]);
  assert.equal(pods.get("shop/web")?.containers[0]?.containerID, `containerd://${id}`);
  await scene.stop();
});

pure(
  "createKubelet() weighs a container anew with a request that moves, and reports what it has taken",
  async () => {
    const { clock, pods, calls, ...scene } = node();
    scene.start();
    const created = pods.create(samplePod("web", { containers: [sampleGuaranteed()] }));
    await clock.runUntil(2000);
    const id = idOf(pods.get("shop/web"));
    assert.equal(pods.get("shop/web")?.containers[0]?.applied.requests.cpu, 200);
    calls.length = 0;
    await scene.resize(created, 400);
    await clock.runUntil(2239);
    assert.equal(pods.get("shop/web")?.containers[0]?.applied.requests.cpu, 200);
    await clock.runUntil(3000);
    assert.deepEqual(calls, [`${id} asks 400`, "pod 400", `${id} 400`]);
    const [app] = pods.get("shop/web")?.containers ?? [];
    assert.deepEqual([app?.applied.limits.cpu, app?.applied.requests.cpu], [400, 400]);
    await scene.stop();
  },
);

pure("createKubelet() defers a resize until the requests of all pods fit on the node", async () => {
  const { clock, pods, ...scene } = node({ allocatableCPU: 1000 });
  scene.start();
  const web = pods.create(samplePod("web", { containers: [sampleGuaranteed()] }));
  const db = pods.create(samplePod("db", { containers: [sampleGuaranteed()] }));
  const applied = (name: string) => pods.get(`shop/${name}`)?.containers[0]?.applied.limits.cpu;
  await clock.runUntil(2000);
  await scene.resize(db, 700);
  await clock.runUntil(3000);
  await scene.resize(web, 400);
  await clock.runUntil(20_000);
  assert.deepEqual([applied("db"), applied("web")], [700, 200]);
  const [{ type, reason, message = "" } = {}, ...others] = pods.get("shop/web")?.resizeConditions ??
    [];
  assert.deepEqual([type, reason, others], ["PodResizePending", "Deferred", []]);
  assert.match(message, /cpu,.* 400,.* 700,.* 1000$/);
  await scene.resize(db, 600);
  await clock.runUntil(21_000);
  assert.deepEqual([applied("db"), applied("web")], [600, 400]);
  assert.deepEqual(pods.get("shop/web")?.resizeConditions, []);
  await scene.resize(web, 500);
  await clock.runUntil(22_000);
  assert.equal(applied("web"), 400);
  pods.remove("shop/db");
  await clock.runUntil(23_000);
  assert.equal(applied("web"), 500);
  await scene.stop();
});
