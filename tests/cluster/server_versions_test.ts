/** Kubernetes 1.33 to 1.36 by what their API servers serve and answer: emulated by the newest one. */
import assert from "node:assert/strict";
import { checkAPI } from "../../adapters/kube/client/api_checks.ts";
import { type KubeConnection, patchRequest } from "../../adapters/kube/client/connection.ts";
import { createPodResizer } from "../../adapters/kube/writers/pod_writers.ts";
import { systemClock } from "../../adapters/system_clock.ts";
import { startCheck, type StartVerdict } from "../../controller/start_check.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import type { EnforcementReason } from "../../shared/api/reasons/enforcement_reasons.ts";
import { silentLog } from "../../shared/log.ts";
import { seededRandom } from "../../shared/random.ts";
import { resizePatch } from "../../shared/resize/patch.ts";
import { refusalKind, refusalReason } from "../../shared/resize/refusal.ts";
import { createKubectl } from "./kubectl.ts";
import { applyRights } from "./rendered_manifests.ts";
import {
  boundNamespace,
  createPuppetNode,
  installPolicies,
  PUPPET_NAMESPACE,
  PUPPET_NODE,
  type PuppetNode,
  type PuppetPod,
  SERVER_VERSIONS,
  type ServerVersion,
  startEmulatedServer,
} from "./scene/emulated_server.ts";
import { until } from "./scene/until.ts";

type Answer = EnforcementReason | "accepted";

/** In what the versions differ. */
interface Differences {
  /** A resize of a pod with pod-level resources; undefined: the server drops those. */
  readonly podLevel?: Answer;
  /** Requests beyond the node. */
  readonly beyondNode: Answer;
  /** A pod without `spec.os` on a Windows node. */
  readonly windowsNode: Answer;
  /** A pod with device claims that hold CPU of the node; undefined: there is no such status. */
  readonly deviceClaims?: Answer;
}

const DIFFERENCES: Readonly<Record<ServerVersion, Differences>> = {
  "1.33": { beyondNode: "accepted", windowsNode: "accepted" },
  "1.34": {
    podLevel: "PodLevelResources",
    beyondNode: "accepted",
    windowsNode: "accepted",
  },
  "1.35": {
    podLevel: "PodLevelResources",
    beyondNode: "accepted",
    windowsNode: "accepted",
  },
  "1.36": {
    podLevel: "accepted",
    beyondNode: "NodeCapacity",
    windowsNode: "WindowsPod",
    deviceClaims: "DeviceClaims",
  },
};

/** Off by default in 1.36: device claims that hold the node's own resources. */
const CLAIMS_GATE = { DRANodeAllocatableResources: true };

const BURSTABLE = { requests: { cpu: "100m", memory: "32Mi" }, limits: { cpu: "200m" } };
const GUARANTEED = { limits: { cpu: "200m", memory: "32Mi" } };
const plain: PuppetPod = { containers: { app: BURSTABLE } };

/** The verdict of the controller's own check on the server. */
async function verdictOf(connection: KubeConnection): Promise<StartVerdict> {
  return await startCheck({
    ask: () => checkAPI(connection),
    clock: systemClock,
    random: seededRandom(1),
    log: silentLog,
    waitsFor: (reason) => assert.equal(reason, undefined),
  }, AbortSignal.timeout(10_000));
}

/** Sends a resize of the market: one container's limit, through our adapter. */
async function sendLimit(connection: KubeConnection, pod: string, cpu: number): Promise<string> {
  const puppet = createPuppetNode(connection);
  const { metadata: { uid } } = await puppet.pod(pod);
  const patch = resizePatch(uid, [{ name: "app", sidecar: false, requests: {}, limits: { cpu } }]);
  return await createPodResizer(connection).resize(PUPPET_NAMESPACE, pod, patch);
}

function raise(connection: KubeConnection, pod: string, limitCPU = 300): Promise<Answer> {
  return answerTo(() => sendLimit(connection, pod, limitCPU));
}

/** Sends a resize of any client. */
function patch(connection: KubeConnection, pod: string, body: unknown): Promise<Answer> {
  return answerTo(() =>
    connection.request(
      patchRequest("strategic", {
        path: `/api/v1/namespaces/${PUPPET_NAMESPACE}/pods/${pod}/resize`,
        body,
      }),
    )
  );
}

function resources(app: unknown, more: readonly unknown[] = []): unknown {
  return { spec: { containers: [{ name: "app", resources: app }, ...more] } };
}

/** The reason of a refusal that concerns this pod alone. */
async function answerTo(action: () => Promise<unknown>): Promise<Answer> {
  try {
    await action();
    return "accepted";
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    assert.equal(refusalKind(error), "refused", error.message);
    return refusalReason(error);
  }
}

async function limitsOf(puppet: PuppetNode, pod: string): Promise<readonly unknown[]> {
  return (await puppet.pod(pod)).containers.map(({ limits: { cpu: limitCPU } }) => limitCPU);
}

for (const version of SERVER_VERSIONS) {
  const expected = DIFFERENCES[version];
  Deno.test(`a server of ${version} takes what the market asks for, and says why it refuses`, async (t) => {
    const featureGates = version === "1.36" ? CLAIMS_GATE : {};
    await using server = await startEmulatedServer({ version, featureGates });
    const { connection } = server;
    const puppet = createPuppetNode(connection);
    await puppet.addNamespace();
    await puppet.addNode(PUPPET_NODE);
    await puppet.addNode("wintel", "windows");

    await t.step("definition and policies are installed, and the check says ready", async () => {
      await installPolicies(server);
      // Memory limits go by the server's version, which here is that of the newest binary.
      const verdict = { servesPodResize: true, lowersMemoryLimits: true };
      assert.deepEqual(await verdictOf(connection), verdict);
    });

    await t.step("limits of containers and sidecars move, one can be added", async () => {
      const { containers } = plain;
      await puppet.run("moving", {
        containers: { ...containers, free: { requests: { cpu: "50m" } } },
        sidecars: { proxy: BURSTABLE },
      });
      assert.equal(await raise(connection, "moving"), "accepted");
      const proxy = resizePatch((await puppet.pod("moving")).metadata.uid, [
        { name: "proxy", sidecar: true, requests: {}, limits: { cpu: 400 } },
        { name: "free", sidecar: false, requests: {}, limits: { cpu: 500 } },
      ]);
      const labels = { metadata: { ...proxy.metadata, labels: { sneaked: "in" } } };
      assert.equal(await patch(connection, "moving", { ...proxy, ...labels }), "accepted");
      assert.deepEqual(await limitsOf(puppet, "moving"), [300, 500, 400]);
      assert.deepEqual((await puppet.pod("moving")).metadata.labels, {});
    });

    await t.step("the QoS class stays", async () => {
      await puppet.run("burstable", { containers: { app: { ...GUARANTEED, ...BURSTABLE } } });
      const memory = { memory: "32Mi" };
      const alike = { requests: { cpu: "100m", ...memory }, limits: { cpu: "100m", ...memory } };
      const same = resources(alike);
      assert.equal(await patch(connection, "burstable", same), "QoSWouldChange");
      await puppet.run("guaranteed", { containers: { app: GUARANTEED } });
      assert.equal(await raise(connection, "guaranteed"), "QoSWouldChange");
      const both = resources({ requests: { cpu: "300m" }, limits: { cpu: "300m" } });
      assert.equal(await patch(connection, "guaranteed", both), "accepted");
      await puppet.run("besteffort", { containers: { app: {} } });
      assert.equal(await raise(connection, "besteffort"), "QoSWouldChange");
    });

    await t.step("what the platform never resizes is refused by name", async () => {
      const mirror = { "kubernetes.io/config.mirror": "c0ffee" };
      await puppet.run("static", { ...plain, annotations: mirror });
      assert.equal(await raise(connection, "static"), "StaticPod");
      await puppet.run("windows", { ...plain, spec: { os: { name: "windows" } } });
      assert.equal(await raise(connection, "windows"), "WindowsPod");
      await puppet.run("unmarked", { ...plain, nodeName: "wintel" });
      assert.equal(await raise(connection, "unmarked"), expected.windowsNode);
      const running = { state: { running: { startedAt: "2026-01-01T00:00:00Z" } } };
      const image = { image: "busybox:stable", imageID: "", ready: true, restartCount: 0 };
      const containerStatuses = [{ name: "app", ...image, ...running }];
      await puppet.run("old-kubelet", { ...plain, status: { containerStatuses } });
      assert.equal(await raise(connection, "old-kubelet"), "KubeletTooOld");
      const claim = { resourceClaimName: "cores", containers: ["app"], resources: { cpu: "1" } };
      const claiming = await puppet.run("claiming", {
        ...plain,
        spec: { resourceClaims: [{ name: "cores", resourceClaimName: "cores" }] },
        status: { nodeAllocatableResourceClaimStatuses: [claim] },
      });
      const { deviceClaims } = expected;
      assert.equal(claiming.claimsNodeResources, deviceClaims === undefined ? undefined : true);
      assert.equal(await raise(connection, "claiming"), deviceClaims ?? "accepted");
    });

    await t.step("pod-level resources", async () => {
      const level = { requests: { cpu: "200m" }, limits: { cpu: "400m" } };
      const pod = await puppet.run("level", { ...plain, spec: { resources: level } });
      const { podLevel } = expected;
      assert.equal(pod.podLevel?.limits.cpu, podLevel === undefined ? undefined : 400);
      assert.equal(await raise(connection, "level"), podLevel ?? "accepted");
      const beyond = podLevel === "accepted" ? "Refused" : podLevel ?? "accepted";
      assert.equal(await raise(connection, "level", 500), beyond);
    });

    await t.step("requests beyond the node", async () => {
      await puppet.run("greedy", plain);
      const huge = resources({ requests: { cpu: "9" }, limits: { cpu: "9" } });
      assert.equal(await patch(connection, "greedy", huge), expected.beyondNode);
    });

    await t.step("LimitRange and ResourceQuota", async () => {
      const { path } = await boundNamespace(connection);
      await puppet.run("bounded", plain);
      assert.equal(await raise(connection, "bounded", 900), "LimitRange");
      await connection.request({ method: "DELETE", path: `${path}/limitranges/cap` });
      // The server's own copy of what was deleted lags a little.
      const answer = await until("other answer", async () => {
        const now = await raise(connection, "bounded", 900);
        return now === "LimitRange" ? undefined : now;
      });
      assert.equal(answer, "QuotaExceeded");
      assert.equal(await raise(connection, "bounded", 210), "accepted");
    });
  });
}

for (const version of ["1.33", "1.34"] as const) {
  Deno.test(`a server of ${version} without the feature gate is found to resize no pods`, async () => {
    const featureGates = { InPlacePodVerticalScaling: false };
    await using server = await startEmulatedServer({ version, featureGates });
    await applyRights(createKubectl(server));
    const { connection } = server;
    assert.deepEqual(await verdictOf(connection), {
      servesPodResize: false,
      lowersMemoryLimits: false,
    });
    const puppet = createPuppetNode(connection);
    await puppet.addNamespace();
    await puppet.run("web", plain);
    await assert.rejects(sendLimit(connection, "web", 300), { status: 404 });
    assert.deepEqual(await limitsOf(puppet, "web"), [200]);
  });
}
