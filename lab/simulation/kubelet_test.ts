import fc from "fast-check";
import assert from "node:assert/strict";
import type { Pod, PodContainer } from "../../shared/api/pod.ts";
import { silentLog } from "../../shared/log.ts";
import { seededRandom } from "../../shared/random.ts";
import { resizePatch } from "../../shared/resize/patch.ts";
import {
  sampleContainer,
  sampleGuaranteed,
  samplePod,
} from "../../tests/contract/support/sample_objects.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { createSimulatedAPI, type SimulatedAPI } from "./api/simulated_api.ts";
import { Kubelet, podQuota, quotaSteps } from "./kubelet.ts";
import { createVirtualClock, type VirtualClock } from "./virtual_clock.ts";

interface KubeletScene {
  readonly api: SimulatedAPI;
  readonly clock: VirtualClock;
  readonly kubelet: Kubelet;
  /** Calls of the runtime. */
  readonly calls: string[];
  readonly pods: SimulatedAPI["store"]["tables"]["Pod"];
  /** The only container of a pod of namespace `shop`. */
  app(name?: string): PodContainer | undefined;
  /** The first characters of that container's id. */
  id(name?: string): string;
  start(): void;
  stop(): Promise<void>;
  resize(pod: Pod, limitCPU: number): Promise<unknown>;
}

/** One node's kubelet, started, on a server without latency, with a runtime that notes its calls. */
function kubeletTest(
  name: string,
  check: (scene: KubeletScene) => Promise<void>,
  { allocatableCPU = Infinity }: { readonly allocatableCPU?: number } = {},
): void {
  pure(name, async () => {
    const clock = createVirtualClock({ wallStart: 0 });
    const random = seededRandom(11);
    const api = createSimulatedAPI({ clock, random, latencyMs: 0 });
    const calls: string[] = [];
    const short = (id: string): string => id.slice(0, 4);
    const kubelet = new Kubelet({
      ...{ link: api.kubeletLink("node-1"), clock, random, log: silentLog, allocatableCPU },
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
    const pods = api.store.tables.Pod;
    const app = (pod = "web") => pods.get(`shop/${pod}`)?.containers[0];
    const scene: KubeletScene = {
      ...{ api, clock, kubelet, calls, pods, app },
      id(pod) {
        const id = app(pod)?.containerID ?? assert.fail("no container");
        assert.match(id, /^containerd:\/\/[\da-f]{64}$/);
        return short(id.slice("containerd://".length));
      },
      start: () => void (run = kubelet.run((abort = new AbortController()).signal)),
      async stop() {
        abort.abort();
        await clock.runUntil(clock.monotonic() + 1);
        await run;
      },
      resize({ metadata, qosClass }, limitCPU) {
        const limits = { cpu: limitCPU };
        const change = { requests: qosClass === "Guaranteed" ? limits : {}, limits };
        const patch = resizePatch(metadata.uid, [{ name: "app", sidecar: false, ...change }]);
        return api.podResizer().resize("shop", metadata.name, patch);
      },
    };
    scene.start();
    await check(scene);
    await scene.stop();
  });
}

kubeletTest("Kubelet starts a pod and reports its containers and limits", async (scene) => {
  const { clock, pods, calls, app, id } = scene;
  const containers = [sampleContainer({ requests: { cpu: 5 }, limits: { cpu: 5 } })];
  pods.create(samplePod("web", { containers }));
  pods.create(samplePod("elsewhere", { nodeName: "node-2" }));
  await clock.runUntil(799);
  assert.equal(pods.get("shop/web")?.phase, "Pending");
  await clock.runUntil(1201);
  const { phase, ready } = pods.get("shop/web") ?? {};
  assert.deepEqual([phase, ready, app()?.applied.limits.cpu], ["Running", true, 5]);
  assert.deepEqual(calls, ["start web", `${id()} 10`, "pod 10"]);
  assert.equal(pods.get("shop/elsewhere")?.phase, "Pending");
});

kubeletTest("Kubelet enforces a resize after its delay, and reports it", async (scene) => {
  const { clock, pods, calls, app, id, resize } = scene;
  const created = pods.create(samplePod("web"));
  await clock.runUntil(2000);
  calls.length = 0;
  await resize(created, 400);
  await clock.runUntil(2239);
  assert.deepEqual([calls, app()?.applied.limits.cpu], [[], 200]);
  await resize(created, 500);
  await clock.runUntil(2361);
  assert.deepEqual([calls, app()?.applied.limits.cpu], [["pod 500", `${id()} 500`], 500]);
  await resize(created, 150);
  await clock.runUntil(3000);
  assert.deepEqual(calls.slice(2), [`${id()} 150`, "pod 150"]);
  assert.equal(scene.api.requests.get("updateStatus Pod"), 3);
});

kubeletTest("restartContainer() gives a new id, with the quota of the old one", async (scene) => {
  const { clock, pods, calls, id } = scene;
  pods.create(samplePod("web"));
  await clock.runUntil(2000);
  const before = id();
  calls.length = 0;
  scene.kubelet.restartContainer("shop/web", "app");
  await clock.runUntil(2001);
  assert.notEqual(id(), before);
  assert.deepEqual(calls, [`${before} -> ${id()}`, `${id()} 200`]);
});

kubeletTest("Kubelet ends terminating pods, and removed ones", async (scene) => {
  const { clock, pods, calls } = scene;
  pods.create(samplePod("web"));
  await clock.runUntil(2000);
  pods.modify("shop/web", (pod) => ({ ...pod, metadata: { ...pod.metadata, terminating: true } }));
  await clock.runUntil(4000);
  assert.equal(pods.get("shop/web"), undefined);
  pods.create(samplePod("web"));
  await clock.runUntil(6000);
  pods.remove("shop/web");
  await clock.runUntil(6001);
  const ends = calls.filter((call) => /^st/.test(call));
  assert.deepEqual(ends, ["start web", "stop", "start web", "stop"]);
});

kubeletTest("Kubelet catches up after its own stop and after the server's", async (scene) => {
  const { api, clock, pods, calls, app, resize } = scene;
  const web = pods.create(samplePod("web"));
  pods.create(samplePod("db"));
  await clock.runUntil(2000);
  await scene.stop();
  await resize(web, 400);
  pods.remove("shop/db");
  calls.length = 0;
  scene.start();
  await clock.runUntil(3000);
  assert.ok(calls.includes("stop") && !calls.some((call) => call.startsWith("start")));
  assert.equal(app()?.applied.limits.cpu, 400);
  await resize(web, 600);
  await clock.runUntil(3001);
  api.stop();
  await clock.runUntil(10_000);
  assert.ok(calls.includes("pod 600"));
  assert.equal(app()?.applied.limits.cpu, 400);
  api.start();
  await clock.runUntil(60_000);
  assert.equal(app()?.applied.limits.cpu, 600);
});

kubeletTest("Kubelet takes over a pod that another kubelet has started", async (scene) => {
  const { clock, pods, calls, app } = scene;
  const containerID = `containerd://${"ab".repeat(32)}`;
  const limits = { limits: { cpu: 300 }, applied: { limits: { cpu: 200 } } };
  const containers = [sampleContainer({ containerID, ...limits, ready: true })];
  pods.seed({ ...samplePod("web", { containers }), phase: "Running", ready: true });
  await clock.runUntil(1000);
  assert.deepEqual(calls, ["pod 300", "abab 300"]);
  assert.equal(app()?.containerID, containerID);
});

kubeletTest("Kubelet weighs a container anew with its request, and reports it", async (scene) => {
  const { clock, pods, calls, app, id, resize } = scene;
  const created = pods.create(samplePod("web", { containers: [sampleGuaranteed()] }));
  await clock.runUntil(2000);
  assert.equal(app()?.applied.requests.cpu, 200);
  calls.length = 0;
  await resize(created, 400);
  await clock.runUntil(2239);
  assert.equal(app()?.applied.requests.cpu, 200);
  await clock.runUntil(3000);
  assert.deepEqual(calls, [`${id()} asks 400`, "pod 400", `${id()} 400`]);
  const { limits, requests } = app()?.applied ?? {};
  assert.deepEqual([limits?.cpu, requests?.cpu], [400, 400]);
});

kubeletTest("Kubelet defers a resize until the requests of all pods fit", async (scene) => {
  const { clock, pods, resize } = scene;
  const [web, db] = ["web", "db"].map((name) =>
    pods.create(samplePod(name, { containers: [sampleGuaranteed()] }))
  ) as [Pod, Pod];
  const applied = () => ["db", "web"].map((name) => scene.app(name)?.applied.limits.cpu);
  const rows = [
    [db, 700, 3000, [700, 200]],
    [web, 400, 20_000, [700, 200]],
    [db, 600, 21_000, [600, 400]],
    [web, 500, 22_000, [600, 400]],
  ] as const;
  await clock.runUntil(2000);
  for (const [pod, limit, untilMs, expected] of rows) {
    await resize(pod, limit);
    await clock.runUntil(untilMs);
    assert.deepEqual(applied(), expected, `${untilMs}`);
    const [condition, ...others] = pods.get("shop/web")?.resizeConditions ?? [];
    if (untilMs === 21_000) assert.equal(condition, undefined);
    if (untilMs !== 20_000) continue;
    assert.deepEqual([condition?.type, condition?.reason], ["PodResizePending", "Deferred"]);
    assert.deepEqual(others, []);
    assert.match(condition?.message ?? "", /cpu,.* 400,.* 700,.* 1000$/);
  }
  pods.remove("shop/db");
  await clock.runUntil(23_000);
  assert.equal(scene.app()?.applied.limits.cpu, 500);
}, { allocatableCPU: 1000 });

pure("quotaSteps() raises the pod first and lowers it last", () => {
  assert.deepEqual(quotaSteps([{ containerID: "a", from: 100, to: 300 }]), [
    { pod: true, millicores: 300 },
    { containerID: "a", millicores: 300 },
  ]);
  assert.deepEqual(quotaSteps([{ containerID: "a", from: 300, to: 100 }]), [
    { containerID: "a", millicores: 100 },
    { pod: true, millicores: 100 },
  ]);
});

pure("quotaSteps() leaves the pod alone while a container has no limit, and keeps 10 m", () => {
  assert.deepEqual(
    quotaSteps([
      { containerID: "a", from: 100, to: 1 },
      { containerID: "b", from: undefined, to: undefined },
    ]),
    [{ containerID: "a", millicores: 10 }],
  );
  assert.deepEqual(
    quotaSteps([
      { containerID: "a", from: 100, to: 100 },
      { containerID: "b", from: undefined, to: 50 },
    ]),
    [{ containerID: "b", millicores: 50 }, { pod: true, millicores: 150 }],
  );
});

pure("quotaSteps() never lets the containers add up to more than the pod", () => {
  const limit = fc.integer({ min: 1, max: 4000 });
  fc.assert(fc.property(
    fc.array(fc.record({ from: limit, to: limit }), { minLength: 1, maxLength: 5 }),
    (limits) => {
      const containers = limits.map((one, index) => ({ containerID: `c${index}`, ...one }));
      const quotas = new Map(containers.map((one) => [one.containerID, Math.max(10, one.from)]));
      let pod = podQuota(limits.map(({ from }) => from));
      for (const step of quotaSteps(containers)) {
        if ("pod" in step) pod = step.millicores;
        else quotas.set(step.containerID, step.millicores);
        const sum = [...quotas.values()].reduce((total, quota) => total + quota, 0);
        assert.ok(pod !== undefined && sum <= pod);
      }
      assert.deepEqual([...quotas.values()], limits.map(({ to }) => Math.max(10, to)));
      assert.equal(pod, podQuota(limits.map(({ to }) => to)));
    },
  ));
});
