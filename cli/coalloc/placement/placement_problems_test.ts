/** What `placement` says where it can't show what is asked for, or can't read what would tell. */
import assert from "node:assert/strict";
import { ApiError } from "../../../shared/api/api_error.ts";
import {
  addShopWorkload,
  NOW,
  placedTest,
  placementOf,
  remember,
  shopNode,
} from "../../../tests/fixtures/placement/placed_shop.ts";
import { runCoalloc } from "../run_coalloc.ts";

const HALF = { "spot-percentage": "50" };
const WEB = { nodes: ["spot-1", "spot-1"], words: HALF };

placedTest("placementCommand() says that it can't see nodes, and does not guess", {
  workloads: [WEB, { name: "short", nodes: ["od-1"] }, { name: "part", nodes: ["od-1", ""] }],
  async fn(scene) {
    scene.placement.hidden.add("nodes");
    remember(scene, "short", { shortage: { untilMs: NOW + 60_000, rounds: 1 } });
    const [code, out] = await placementOf(scene);
    assert.equal(code, 0);
    assert.match(out, /^deployment\/web +-\/1 +-\/1 +0 +not known +none: nodes /m);
    // These hang on no node.
    assert.match(out, /^deployment\/short .* fallback until 00:01:00Z /m);
    assert.match(out, /^deployment\/part .* 1 +not whole /m);
    assert.match(out, /^Cannot .*: nodes is forbidden/m);
    const [, told] = await placementOf(scene, "web");
    assert.match(told, /^ {2}spot {7}- of 1$/m);
    assert.match(told, /^web-0 +- +spot-1 /m);
  },
});

placedTest("placementCommand() says which other lists it can't read, and what that hides", {
  workloads: [WEB, { kind: "StatefulSet", name: "db", nodes: ["od-1"] }],
  async fn(scene) {
    scene.placement.hidden.add("replicaSets").add("budgets").add("memory");
    const [code, out] = await placementOf(scene);
    assert.equal(code, 0);
    assert.match(
      out,
      /^deployment\/web +-\/1 +-\/1 +- +not known +none: ReplicaSets /m,
    );
    assert.match(out, /^statefulset\/db .* as wished/m);
    for (const list of ["ReplicaSets", "PodDisruptionBudgets", ".* controller remembers"]) {
      assert.match(out, new RegExp(`^Cannot read ${list}: .* is forbidden`, "m"));
    }
    assert.match(out, / namespace shop .* known$/m);
    scene.placement.hidden.delete("replicaSets");
    assert.match(
      (await placementOf(scene))[1],
      /converging +evict pod web-1 .* to on-demand, unless /,
    );
  },
});

placedTest(
  "placementCommand() does not take a namespace that it can't read for one without words",
  {
    workloads: [WEB, { name: "mute", nodes: ["od-1"], words: {} }, {
      name: "off",
      nodes: ["od-1"],
      words: { enabled: "false" },
    }],
    async fn(scene) {
      scene.api.store.tables.Deployment.modify(
        "shop/mute",
        ({ metadata, ...one }) => ({ ...one, metadata: { ...metadata, annotations: {} } }),
      );
      scene.placement.hidden.add("namespaces");
      const [, out] = await placementOf(scene, "-o", "wide");
      assert.match(
        out,
        /^deployment\/mute .* not known +none: namespace shop /m,
      );
      assert.match(out, /^deployment\/off .* takes no part /m);
      assert.match(out, /^deployment\/web .* converging /m);
      assert.match(out, /^Cannot read namespaces: /m);
    },
  },
);

placedTest("placementCommand() minds volumes only where there are some", {
  workloads: [WEB],
  async fn(scene) {
    scene.placement.hidden.add("volumes");
    assert.doesNotMatch((await placementOf(scene))[1], /PersistentVolumes/);
    addShopWorkload(scene, { name: "db", nodes: ["od-1"], changes: { 0: { claims: ["data"] } } });
    assert.match((await placementOf(scene))[1], /^Cannot read PersistentVolumes: /m);
  },
});

placedTest("placementCommand() says when nobody moves anything", {
  workloads: [WEB],
  async fn(scene) {
    scene.controllerAlive = false;
    assert.match((await placementOf(scene))[1], /^No controller /m);
    scene.controllerAlive = new ApiError(403, "Forbidden", "leases is forbidden");
    assert.doesNotMatch((await placementOf(scene))[1], /No controller/);
  },
});

placedTest("placementCommand() names the nearest workload, or says which right is missing", {
  workloads: [WEB],
  async fn(scene) {
    const problem = async (...args: string[]): Promise<string> => {
      const [code, out, err] = await placementOf(scene, ...args);
      assert.deepEqual([code, out], [1, ""]);
      return err;
    };
    assert.match(await problem("webb"), / webb: .* shop .* deployment\/web\?\n$/);
    assert.match(await problem("sts/web"), / StatefulSet; .* deployment\/web\?/);
    assert.match(await problem("cart", "-A"), / cart: the cluster .* -n /);
    scene.placement.hidden.add("workloads");
    assert.match(await problem(), /^Cannot read Deployments .*administrator/);
  },
});

placedTest("placementCommand() refuses words that name no workload", {
  workloads: [WEB],
  async fn(scene) {
    for (const word of ["pod/web", "a/b/c", "ds/log", ""]) {
      const [code, , err] = await placementOf(scene, word);
      assert.equal(code, 2, word);
      assert.match(
        err,
        /^Cannot (find workload|show placement): ".*placement --help\n$/,
      );
    }
    assert.equal((await placementOf(scene, "-o", "patch"))[0], 2);
    const [code, , err] = await placementOf(scene, "-w", "web");
    assert.equal(code, 2);
    assert.match(err, /workload before -w/);
  },
});

placedTest("placementCommand() says so where nothing is placed", {
  workloads: [],
  async fn(scene) {
    const [code, out, err] = await placementOf(scene);
    assert.deepEqual([code, err], [0, ""]);
    assert.match(out, /^No workloads .*\n$/);
    const { cluster } = scene;
    const pods = () => Promise.reject(new ApiError(403, "Forbidden", "pods is forbidden"));
    const world = {
      ...scene.world,
      connect: () => Promise.resolve({ ...cluster, reader: { ...cluster.reader, pods } }),
    };
    addShopWorkload(scene, { ...WEB, replicas: { wanted: 2 } });
    scene.out = "";
    assert.equal(await runCoalloc(["placement"], world), 0);
    assert.match(
      scene.out,
      /^deployment\/web +-\/1 +-\/1 +- +not known +none: pods /m,
    );
  },
});

placedTest("placementCommand() goes by the installation's settings, and says where it can't", {
  workloads: [{ nodes: ["odd-1", "od-1"], words: HALF }],
  async fn(scene) {
    const odd = { ...shopNode("odd-1", "spot"), labels: { market: "cheap" } };
    scene.api.store.tables.Node.seed(odd);
    scene.settings = `
placement:
  nodeClassifier:
    spotLabels: [{ matchLabels: { market: cheap } }]
    onDemandLabels: [{ matchLabels: { market: dear } }]
`;
    assert.match((await placementOf(scene))[1], /^deployment\/web +1\/1 +1\/1 +0 +as wished/m);
    scene.settings = undefined;
    assert.match((await placementOf(scene))[1], /^deployment\/web +0\/1 +2\/1 /m);
    scene.placement.variables = {};
    assert.match((await placementOf(scene))[1], /^Placement is off \(placement.enabled\)/m);
    scene.placement.hidden.add("controllerCommand");
    const [, out] = await placementOf(scene);
    assert.match(out, /^Cannot .* controller's variables: /m);
    assert.doesNotMatch(out, /Placement is off/);
  },
});
