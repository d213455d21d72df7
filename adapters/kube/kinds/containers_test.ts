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

pure("parseContainers() reads when a container was started, while it runs", () => {
  assert.equal(withStatus({ state: running }).startedAtMs, Date.UTC(2026, 0, 1, 0, 0, 10));
  for (const state of [undefined, ended, { waiting: {} }, { running: {} }]) {
    assert.ok(!("startedAtMs" in withStatus({ state })));
  }
});

pure("parseContainers() reads when a container was started again", () => {
  const { restartedAtMs } = withStatus({ restartCount: 1, state: running, lastState: ended });
  assert.equal(restartedAtMs, Date.UTC(2026, 0, 1, 0, 0, 10));
});

pure("parseContainers() takes a first start for no restart", () => {
  for (const status of [{ restartCount: 0, state: running }, { state: running }, undefined, {}]) {
    assert.ok(!("restartedAtMs" in withStatus(status)));
  }
});

pure("parseContainers() reckons from the end of a container that waits to be started again", () => {
  const waiting = { waiting: { reason: "CrashLoopBackOff" } };
  const container = withStatus({ restartCount: 3, state: waiting, lastState: ended });
  assert.equal(container.restartedAtMs, Date.UTC(2026, 0, 1, 0, 0, 5));
  assert.equal(container.crashLooping, true);
});

pure(
  "parseContainers() takes a container that failed a third time for one that crashes again and again",
  () => {
    const status = (exitCode: number, restartCount: number) =>
      withStatus({
        restartCount,
        state: { terminated: { exitCode, finishedAt: STARTED } },
        lastState: { terminated: { exitCode, finishedAt: ENDED } },
      });
    const failed = status(1, 2);
    assert.equal(failed.crashLooping, true);
    assert.equal(failed.restartedAtMs, Date.UTC(2026, 0, 1, 0, 0, 10));
    for (const other of [status(1, 1), status(1, 0), status(0, 5)]) {
      assert.ok(!("crashLooping" in other));
    }
  },
);

pure(
  "parseContainers() reads when memory last ran out, of the present state and of the one before",
  () => {
    const end = (reason: string, finishedAt: unknown) => ({
      terminated: { reason, exitCode: 137, finishedAt },
    });
    const [early, late] = [Date.UTC(2026, 0, 1, 0, 0, 5), Date.UTC(2026, 0, 1, 0, 0, 10)];
    const at = (status: object): number | undefined => withStatus(status).oomKilledAtMs;
    assert.equal(at({ state: running, lastState: end("OOMKilled", ENDED) }), early);
    const both = { state: end("OOMKilled", STARTED), lastState: end("OOMKilled", ENDED) };
    assert.equal(at(both), late);
    assert.equal(at({ ...both, state: end("Error", STARTED) }), early);
    for (
      const status of [
        { state: running },
        { state: end("Error", STARTED), lastState: end("Completed", ENDED) },
      ]
    ) {
      assert.ok(!("oomKilledAtMs" in withStatus(status)));
    }
  },
);

pure("parseContainers() reads the memory limit that is enforced", () => {
  const resources = { limits: { cpu: "1", memory: "64Mi" } };
  assert.deepEqual(withStatus({ resources }).applied.limits, { cpu: 1000, memory: 64 * 2 ** 20 });
  const { applied } = withStatus({ resources: { limits: { cpu: "1" } } });
  assert.deepEqual(applied.limits, { cpu: 1000 });
});

pure("parseContainers() takes no other wait for a crash loop", () => {
  for (const reason of ["ContainerCreating", "ImagePullBackOff", undefined]) {
    assert.ok(!("crashLooping" in withStatus({ state: { waiting: { reason } } })));
  }
});

pure("parseContainers() knows no time of a restart that the kubelet gives none of", () => {
  for (const state of [{}, { running: {} }, { running: { startedAt: null } }, { terminated: {} }]) {
    assert.ok(!("restartedAtMs" in withStatus({ restartCount: 2, state })));
  }
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
