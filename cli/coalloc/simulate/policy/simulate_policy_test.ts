import assert from "node:assert/strict";
import { type CoallocScene, coallocScene } from "../../../../tests/fixtures/cli/coalloc_scene.ts";

const MEBIBYTE = 2 ** 20;
/** The YAML parser looks at two variables for its own debugging. */
const PURE = { env: ["LOG_TOKENS", "LOG_STREAM"] };

/** Four days, a value each five minutes: 0.2 of a unit; 1, 1.5, 2, 2.5 in the hours from noon. */
function days(unit: number): string {
  return Array.from({ length: 4 * 288 }, (_, index) => {
    const [day, hour] = [Math.floor(index / 288), Math.floor(index / 12) % 24];
    return `${1_633_478_400 + 300 * index},${unit * (hour === 12 ? 1 + day / 2 : 0.2)}`;
  }).join("\n");
}

function policy(more = "", mode = "Auto"): string {
  return `kind: OptimizationPolicy
metadata: {name: web}
spec:
  mode: ${mode}
  metricsConfig: {provider: prometheus, percentile: P90}
  selector: {namespaces: {allow: [shop]}}
  resourceBounds: {cpu: {min: 50m, max: 4}, memory: {min: 64Mi, max: 4Gi}}
  updateStrategy: {${more}}
`;
}

function sceneTest(name: string, fn: (scene: CoallocScene) => Promise<void>): void {
  Deno.test({
    name,
    permissions: PURE,
    async fn() {
      const scene = coallocScene();
      scene.files.set("p.yaml", policy());
      scene.files.set("cpu.csv", days(1));
      scene.files.set("memory.csv", days(1000 * MEBIBYTE));
      await fn(scene);
      await scene.close();
    },
  });
}

const CPU = "simulate --policy p.yaml --history cpu.csv --format cores".split(" ");
const MEMORY = "simulate --policy p.yaml --history memory.csv --resource memory --format cores"
  .split(" ");

sceneTest("simulatePolicy() reports requests over time, coverage and waste", async (scene) => {
  assert.equal(await scene.run(...CPU), 0);
  assert.equal(scene.err, "");
  const [head, setting, gap, title] = scene.out.split("\n");
  assert.match(head ?? "", /^cpu\.csv: 4 d of CPU, .* 300 s; .* 24 h\.$/);
  assert.match(
    setting ?? "",
    /^Policy web: P90 × 1\.2 .* 24 h, .* 5 min, from 50m to 4000m; .* 10 % .* 30 min /,
  );
  assert.deepEqual([gap, title], ["", "CPU under the policy"]);
  // An hour of a day is less than a tenth of it: P90 is 0.2 cores, and the noons are short.
  assert.match(scene.out, /^ +1 +240m +95\.83 +60\.0 +[\d.]+ +0$/m);
  assert.match(scene.out, /^The request .* 95\.83 % .* 0 changes\. .* 60 min\.$/m);
  assert.match(scene.out, / throttled in 180 min; .*alone\./);
  assert.doesNotMatch(scene.out, /mode is/);
  assert.doesNotMatch(scene.out, /\bkilled\b/);
});

sceneTest("simulatePolicy() informs kills of memory where limits follow", async (scene) => {
  assert.equal(await scene.run(...MEMORY), 0);
  assert.match(scene.out, /^The policy .*alone, .*killed\.$/m);
  scene.out = "";
  scene.files.set("p.yaml", policy("updateRequestsOnly: false"));
  assert.equal(await scene.run(...MEMORY), 0);
  assert.match(scene.out, /limits are 1\.1 × the request\.$/m);
  assert.match(scene.out, /^The limit .*killed .* \d+ times\.$/m);
  scene.out = "";
  scene.files.set(
    "memory.csv",
    Array.from({ length: 99 }, (_, hour) => `${3600 * hour},9e8`).join("\n"),
  );
  assert.equal(await scene.run(...MEMORY), 0);
  assert.match(scene.out, /^The limit .*never .*killed /m);
  assert.match(scene.out, /^DAY .* KILLS /m);
});

sceneTest(
  "simulatePolicy() says what mode the policy has where nothing would be set",
  async (scene) => {
    scene.files.set("p.yaml", policy("", "Recommend"));
    assert.equal(await scene.run(...CPU), 0);
    assert.match(scene.out, /^The policy's mode .*Recommend: /m);
  },
);

sceneTest("simulatePolicy() prints one object for programs", async (scene) => {
  scene.files.set("p.yaml", policy("updateRequestsOnly: false"));
  assert.equal(await scene.run(...MEMORY, "--json"), 0);
  const { total, days, requests, kills, ...rest } = JSON.parse(scene.out);
  assert.deepEqual(rest, {
    policy: "web",
    history: "memory.csv",
    resource: "memory",
    stepS: 300,
    warmUpS: 86_400,
  });
  assert.equal(days.length, 3);
  assert.ok(total.kills >= 2);
  assert.equal(total.kills, kills.length);
  assert.equal(requests.length, 1 + total.changes);
  assert.ok(requests.every((one: { request: number }) => Number.isInteger(one.request)));
  scene.out = "";
  assert.equal(await scene.run(...MEMORY, "-o", "yaml"), 0);
  assert.match(scene.out, /^policy: web\nhistory: memory\.csv\n/);
});

sceneTest("simulatePolicy() chooses a series of a Prometheus export", async (scene) => {
  const values = days(1).split("\n").map((line) => line.split(","))
    .map(([at, value]) => [Number(at), String(value)]);
  const result = ["a", "b"].map((pod) => ({ metric: { pod }, values }));
  const text = JSON.stringify({ status: "success", data: { resultType: "matrix", result } });
  scene.files.set("cpu.json", text);
  const args = "simulate --policy p.yaml --history cpu.json".split(" ");
  assert.equal(await scene.run(...args), 1);
  assert.match(scene.err, /^Cannot read history "cpu\.json": .*2 series: .*--series pod=a/);
  scene.err = "";
  assert.equal(await scene.run(...args, "--series", "pod=b"), 0);
  assert.match(scene.out, /covered 95\.83 %/);
});

sceneTest("simulatePolicy() says what it took the history for", async (scene) => {
  assert.equal(await scene.run(...CPU.slice(0, -2)), 0);
  assert.match(scene.err, /^Trace "cpu\.csv" .* cores; .*\n$/);
});

sceneTest(
  "simulatePolicy() ends with 1 and one line for files that can't be used",
  async (scene) => {
    scene.files.set("short.csv", "0,1\n60,1\n120,1\n180,1\n");
    scene.files.set("rps.txt", "1\n2\n3\n");
    scene.files.set("wrong.yaml", policy().replace("P90", "P80"));
    const said = async (policy: string, history: string, ...more: string[]): Promise<string> => {
      scene.err = "";
      const args = ["simulate", "--policy", policy, "--history", history, ...more];
      assert.equal(await scene.run(...args), 1, args.join(" "));
      return scene.err;
    };
    assert.match(
      await said("gone", "cpu.csv"),
      /^Cannot read policy "gone": .*path/,
    );
    assert.match(
      await said("p.yaml", "gone"),
      /^Cannot read history "gone": .*path/,
    );
    assert.match(
      await said("wrong.yaml", "cpu.csv"),
      /"wrong\.yaml": spec\.metricsConfig\.percentile is "P80": must be/,
    );
    assert.match(await said("p.yaml", "rps.txt"), / rps, .*usage/);
    assert.match(
      await said("p.yaml", "cpu.csv", "--series", "a=b"),
      / cores, .*--series /,
    );
    assert.match(
      await said("p.yaml", "short.csv", "--format", "cores"),
      /^Cannot replay history "short\.csv": .* 4 samples/,
    );
    assert.equal(scene.out, "");
  },
);

sceneTest("simulatePolicy() refuses flags that don't go together with 2", async (scene) => {
  assert.equal(await scene.run("simulate", "--policy", "p.yaml"), 2);
  assert.match(scene.err, /^Cannot simulate: --policy needs a --history .*; see /);
});
