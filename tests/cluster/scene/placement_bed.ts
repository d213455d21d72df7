/**
 * The installed product with placement and its webhook, simulated nodes of both classes, and a
 * namespace: what the tests of one file about placement share.
 *
 * @module
 */
import { createKubectl } from "../kubectl.ts";
import { admissionProbe } from "./webhook/admission_probe.ts";
import { withAllComponents } from "./product/all_components.ts";
import { isHarness } from "./product/harness_access.ts";
import { openRealNode, type RealNode } from "./real_node.ts";
import { scratchNamespace } from "./scratch_namespace.ts";
import { type SeenReplicas, seenReplicas } from "./pods/seen_replicas.ts";
import type { SimulatedNode } from "./nodes/simulated_node.ts";
import { openSimulatedNodes, type SimulatedNodes } from "./nodes/simulated_nodes.ts";
import { testsAtOnce } from "./tests_at_once.ts";
import { until } from "./until.ts";

/** May be used in tests only. */
export interface PlacementBed {
  readonly node: RealNode;
  readonly nodes: SimulatedNodes;
  readonly namespace: string;
  readonly replicas: SeenReplicas;
}

/** Answers in a row that show that the webhook places pods, and every server trusts it. */
const ANSWERS_IN_A_ROW = 30;

const kubectl = createKubectl();

/**
 * Is there from before the first test of the file until after the last; on the harness's cluster alone.
 */
export function placementBed(nodes: readonly SimulatedNode[]): PlacementBed {
  const stage: { bed?: PlacementBed; undo?: AsyncDisposable } = {};
  const bed = (): PlacementBed => {
    if (stage.bed === undefined) throw new Error("Cannot use the bed: it is not made yet");
    return stage.bed;
  };
  Deno.test.beforeAll(async () => {
    if (!isHarness()) return;
    await using undo = new AsyncDisposableStack();
    stage.bed = await makeBed(nodes, undo);
    stage.undo = undo.move();
  });
  Deno.test.afterAll(async () => {
    await stage.undo?.[Symbol.asyncDispose]();
  });
  return {
    get node() {
      return bed().node;
    },
    get nodes() {
      return bed().nodes;
    },
    get namespace() {
      return bed().namespace;
    },
    get replicas() {
      return bed().replicas;
    },
  };
}

/**
 * A test on the bed: what it does to nodes and to the installed product is nothing for other clusters.
 */
export function placementTest(name: string, fn: () => Promise<void>): void {
  // The bed's watches and signs of life go on from before each test until after it.
  Deno.test({ name, ignore: !isHarness(), sanitizeOps: false, sanitizeResources: false, fn });
}

/** Such tests that run at the same time. */
export function placementTestsAtOnce(tests: Readonly<Record<string, () => Promise<void>>>): void {
  const ignore = !isHarness();
  testsAtOnce(
    Object.fromEntries(Object.entries(tests).map(([name, fn]) => [name, { ignore, fn }])),
  );
}

async function makeBed(
  wanted: readonly SimulatedNode[],
  undo: AsyncDisposableStack,
): Promise<PlacementBed> {
  const node = undo.use(await openRealNode());
  const { connection } = node;
  const nodes = undo.use(await openSimulatedNodes(connection));
  await Promise.all(wanted.map((one) => nodes.add(one)));
  const { name: namespace } = undo.use(await scratchNamespace(connection));
  undo.use(await withAllComponents(kubectl));
  const { classOf } = nodes;
  const replicas = undo.use(await seenReplicas(connection, { namespace, classOf }));
  const bed = { node, nodes, namespace, replicas };
  const probe = await admissionProbe(bed, { scene: wanted[0]?.scene ?? "none" });
  let inARow = 0;
  await until(`webhook that places ${ANSWERS_IN_A_ROW} pods in a row`, async () => {
    while (inARow < ANSWERS_IN_A_ROW) {
      if (await probe.ask() === undefined) {
        inARow = 0;
        return undefined;
      }
      inARow++;
    }
    return true;
  }, { timeoutMs: 60_000 });
  return bed;
}
