import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import type { PodContainer } from "../../../shared/api/pod.ts";
import { parseContainers, type RawContainers } from "./containers.ts";

function containerOf(spec: object, status?: object): PodContainer {
  const raw = {
    spec: { containers: [{ name: "app", ...spec }] },
    ...(status === undefined
      ? {}
      : { status: { containerStatuses: [{ name: "app", ...status }] } }),
  };
  const [container] = parseContainers(raw as unknown as RawContainers).containers;
  return container ?? assert.fail("there is a container");
}

function withStatus(status?: object): PodContainer {
  return containerOf({}, status);
}

const STARTED = "2026-01-01T00:00:10Z";
const ENDED = "2026-01-01T00:00:05Z";
const running = { running: { startedAt: STARTED } };
const ended = { terminated: { finishedAt: ENDED } };

const [EARLY, LATE] = [Date.UTC(2026, 0, 1, 0, 0, 5), Date.UTC(2026, 0, 1, 0, 0, 10)];
const waiting = (reason?: string) => ({ waiting: { reason } });
const failed = (exitCode: number, restartCount: number) => ({
  restartCount,
  state: { terminated: { exitCode, finishedAt: STARTED } },
  lastState: { terminated: { exitCode, finishedAt: ENDED } },
});
const end = (reason: string, finishedAt: unknown) => ({
  terminated: { reason, exitCode: 137, finishedAt },
});
const killed = end("OOMKilled", ENDED);

pure("parseContainers() reads starts, restarts and ends of a container", () => {
  type Name = "startedAtMs" | "restartedAtMs" | "oomKilledAtMs" | "crashLooping";
  const rows: readonly (readonly [name: Name, value: unknown, status: object | undefined])[] = [
    ["startedAtMs", LATE, { state: running }],
    ...[undefined, ended, waiting(), { running: {} }].map((state) =>
      ["startedAtMs", undefined, { state }] as const
    ),
    ["restartedAtMs", LATE, { restartCount: 1, state: running, lastState: ended }],
    // The end of the last run while it waits to be started again.
    ["restartedAtMs", EARLY, {
      restartCount: 3,
      state: waiting("CrashLoopBackOff"),
      lastState: ended,
    }],
    ["restartedAtMs", LATE, failed(1, 2)],
    // A first start, and times that the kubelet does not give.
    ...[{ restartCount: 0, state: running }, { state: running }, undefined, {}].map((status) =>
      ["restartedAtMs", undefined, status] as const
    ),
    ...[{}, { running: {} }, { running: { startedAt: null } }, { terminated: {} }].map((state) =>
      ["restartedAtMs", undefined, { restartCount: 2, state }] as const
    ),
    ["crashLooping", true, {
      restartCount: 3,
      state: waiting("CrashLoopBackOff"),
      lastState: ended,
    }],
    ["crashLooping", true, failed(1, 2)],
    ...[failed(1, 1), failed(1, 0), failed(0, 5)].map((status) =>
      ["crashLooping", undefined, status] as const
    ),
    ...["ContainerCreating", "ImagePullBackOff", undefined].map((reason) =>
      ["crashLooping", undefined, { state: waiting(reason) }] as const
    ),
    // Of the present state and of the one before.
    ["oomKilledAtMs", EARLY, { state: running, lastState: killed }],
    ["oomKilledAtMs", LATE, { state: end("OOMKilled", STARTED), lastState: killed }],
    ["oomKilledAtMs", EARLY, { state: end("Error", STARTED), lastState: killed }],
    ["oomKilledAtMs", undefined, { state: running }],
    ["oomKilledAtMs", undefined, {
      state: end("Error", STARTED),
      lastState: end("Completed", ENDED),
    }],
  ];
  for (const [name, value, status] of rows) {
    const container = withStatus(status);
    const what = `${name} of ${JSON.stringify(status)}`;
    assert.equal(container[name], value, what);
    assert.equal(name in container, value !== undefined, what);
  }
});

pure("parseContainers() reads the memory limit that is enforced", () => {
  const resources = { limits: { cpu: "1", memory: "64Mi" } };
  assert.deepEqual(withStatus({ resources }).applied.limits, { cpu: 1000, memory: 64 * 2 ** 20 });
  const { applied } = withStatus({ resources: { limits: { cpu: "1" } } });
  assert.deepEqual(applied.limits, { cpu: 1000 });
});

pure("parseContainers() names what is wanted beside CPU and memory, where there is any", () => {
  const of = (resources: object): PodContainer => containerOf({ resources });
  const requests = { cpu: "1", "ephemeral-storage": "1Gi" };
  const limits = { memory: "1Gi", "example.com/gpu": "1" };
  assert.deepEqual(of({ requests, limits }).otherResources, [
    "requests.ephemeral-storage",
    "limits.example.com/gpu",
  ]);
  assert.ok(!("otherResources" in of({ requests: { cpu: "1" }, limits: { memory: "1Gi" } })));
});

pure("parseContainers() reads of each resource whether its change restarts the container", () => {
  const restarting = (...resources: string[]): PodContainer =>
    containerOf({
      resizePolicy: ["cpu", "memory"].map((resourceName) => ({
        resourceName,
        restartPolicy: resources.includes(resourceName) ? "RestartContainer" : "NotRequired",
      })),
    });
  const { restartsOnCPU, restartsOnMemory } = restarting("memory");
  assert.deepEqual([restartsOnCPU, restartsOnMemory], [false, true]);
  assert.equal(restarting("cpu").restartsOnCPU, true);
  assert.ok(!("restartsOnMemory" in restarting("cpu")));
});
