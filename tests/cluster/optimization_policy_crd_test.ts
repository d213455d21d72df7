/**
 * The definition of OptimizationPolicy on a real API server: what it takes, refuses, fills in, shows.
 */
import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import { connectKubeconfig } from "../../adapters/kube/client/connect.ts";
import { POLICIES } from "../../adapters/kube/kinds/optimization_policies.ts";
import { createKubectl } from "./kubectl.ts";
import { applyRights, parseObjects } from "./rendered_manifests.ts";
import { tryCreate } from "./scene/contract_world.ts";
import { resourcePath } from "../../adapters/kube/client/connection.ts";

const kubectl = createKubectl();
const namespace = `optipod-crd-${crypto.randomUUID().slice(0, 8)}`;
const EXAMPLES = new URL("../../manifests/examples/optipod/", import.meta.url);
const INVALID = new URL("../fixtures/optipod/invalid/", import.meta.url);

interface Policy {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

/** Policies of a folder, each with its file's text, put into the namespace of this test. */
function policiesIn(folder: URL): readonly { file: string; text: string; object: Policy }[] {
  return [...Deno.readDirSync(folder)].filter(({ name }) => name.endsWith(".yaml"))
    .flatMap(({ name: file }) => {
      const text = Deno.readTextFileSync(new URL(file, folder));
      return parseAllDocuments(text).map((document) => document.toJS() as Policy)
        .filter(({ kind }) => kind === "OptimizationPolicy")
        .map((object) => ({
          file,
          text,
          object: { ...object, metadata: { ...object.metadata, namespace } },
        }));
    });
}

Deno.test("OptimizationPolicy on a real API server", async (t) => {
  await applyRights(kubectl);
  await kubectl.must(["wait", "--for=condition=Established", "crd", "--all", "--timeout=20s"]);
  await kubectl.must(["create", "namespace", namespace]);
  const connection = await connectKubeconfig();
  try {
    for (const { file, object } of policiesIn(EXAMPLES)) {
      await t.step(`OptimizationPolicy takes the example ${file}`, async () => {
        await kubectl.must(["create", "-f", "-"], object);
      });
    }

    await t.step(
      "OptimizationPolicy takes the examples as they are, in their namespaces",
      async () => {
        const folder = EXAMPLES.pathname;
        const there = (await kubectl.must(["get", "namespaces", "-o", "name"])).split("\n");
        const missing = parseObjects(await kubectl.must(["kustomize", folder]))
          .filter(({ kind, metadata: { name } }) =>
            kind === "Namespace" && !there.includes(`namespace/${name}`)
          );
        // Where a demo runs in one of them, neither it nor its policies are touched.
        try {
          for (const one of missing) await kubectl.must(["create", "-f", "-"], one);
          const apply = ["apply", "--server-side", "--force-conflicts", "--dry-run=server", "-k"];
          const reported = await kubectl.must([...apply, folder]);
          const taken = reported.split("\n").filter((line) => line.includes("optimizationpolicy"));
          assert.equal(taken.length, policiesIn(EXAMPLES).length, reported);
        } finally {
          for (const { metadata: { name } } of missing) {
            await kubectl.run(["delete", "namespace", name, "--wait=false"]);
          }
        }
      },
    );

    for (const { file, text, object } of policiesIn(INVALID)) {
      const [, field = ""] = /^# names: (\S+)\n/.exec(text) ?? [];
      await t.step(`property 15: OptimizationPolicy names ${field}, refusing ${file}`, async () => {
        const path = resourcePath({ ...POLICIES, namespace });
        const refused = await tryCreate(connection, { path, body: object });
        assert.equal(refused?.status, 422, refused?.message ?? "it was taken");
        const isNamed = field !== "" && refused.message.includes(field);
        assert.ok(isNamed, `${refused.message} does not name ${field}`);
      });
    }

    await t.step("OptimizationPolicy is stored with its defaults", async () => {
      const get = ["get", "optpol", "recommend-first", "-n", namespace, "-o", "json"];
      const { spec } = JSON.parse(await kubectl.must(get));
      assert.partialDeepStrictEqual(spec, {
        weight: 100,
        metricsConfig: {
          rollingWindow: "24h",
          percentile: "P90",
          safetyFactor: 1.2,
          minSamples: 10,
        },
        updateStrategy: {
          allowInPlaceResize: true,
          allowRecreate: false,
          updateRequestsOnly: true,
          limitConfig: { cpuLimitMultiplier: 1, memoryLimitMultiplier: 1.1 },
          changeThresholdPercent: 10,
          cooldown: "30m",
          useServerSideApply: true,
          allowWithHPA: false,
          publishVPA: false,
        },
        reconciliationInterval: "5m",
      });
    });

    await t.step("OptimizationPolicy shows its columns", async () => {
      const [header = ""] = (await kubectl.must(["get", "optpol", "-n", namespace])).split("\n");
      assert.deepEqual(header.trim().split(/ {2,}/), [
        "NAME",
        "MODE",
        "PROVIDER",
        "DISCOVERED",
        "READY",
        "AGE",
      ]);
    });

    await t.step("OptimizationPolicy explains its fields", async () => {
      const text = await kubectl.must(["explain", "optimizationpolicy.spec.metricsConfig"]);
      assert.match(text, /^ {2}rollingWindow\s+<string>\n {4}\w/m);
    });
  } finally {
    connection.close();
    await kubectl.must(["delete", "namespace", namespace, "--wait=false"]);
  }
});
