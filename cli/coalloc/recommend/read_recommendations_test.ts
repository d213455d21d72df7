import assert from "node:assert/strict";
import { reportsOf, shopRecords, template } from "../../../tests/fixtures/cli/advised_shop.ts";
import { coallocScene } from "../../../tests/fixtures/cli/coalloc_scene.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { Cluster } from "../ports.ts";
import { readRecommendations } from "./read_recommendations.ts";

const SHOP = { all: false, name: "shop" } as const;
const UNREADABLE = "Cannot parse CPU quantity";
const FORBIDDEN = new ApiError(403, "Forbidden", 'User "u" cannot list resource "pods"');

/** The cluster of a scene with a server that answers so when pods are asked for. */
async function withPods<T>(
  answer: Error,
  use: (cluster: Pick<Cluster, "reader" | "recommendations">) => Promise<T>,
): Promise<T> {
  const scene = coallocScene();
  scene.rightsizing.reports = reportsOf(shopRecords());
  const spoiled = { ...template("Deployment/web", 0, []), unreadable: UNREADABLE };
  scene.rightsizing.templates = [spoiled];
  const { reader, recommendations } = scene.cluster;
  const used = await use({
    recommendations,
    reader: { ...reader, pods: () => Promise.reject(answer) },
  });
  await scene.close();
  return used;
}

Deno.test({
  name: "readRecommendations() goes without pods, and names what it can't read",
  permissions: "none",
  async fn() {
    const readings = await withPods(FORBIDDEN, (cluster) => readRecommendations(cluster, SHOP));
    assert.equal(readings.pods, undefined);
    assert.equal(readings.reports.length, 1);
    assert.equal(readings.problems.length, 2);
    assert.match(readings.problems[0] ?? "", / pods: User "u" .*administrator/);
    assert.equal(readings.problems[1], `Deployment shop/web: ${UNREADABLE}`);
  },
});

Deno.test({
  name: "readRecommendations() does not take a server that is away for a missing right",
  permissions: "none",
  async fn() {
    const away = new ApiError(0, "Unreachable", "connection refused");
    await assert.rejects(withPods(away, (cluster) => readRecommendations(cluster, SHOP)), away);
  },
});
