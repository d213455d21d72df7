import assert from "node:assert/strict";
import type * as z from "zod";
import {
  boundRuleSchema,
  containerBoundsSchema,
  marketSchema,
} from "../../shared/api/pod_allocation.ts";
import { containerViewSchema, nodeViewSchema, podViewSchema } from "../../shared/view/node_view.ts";
import {
  addMarketPod,
  type CoallocScene,
  sceneTest,
} from "../../tests/fixtures/cli/coalloc_scene.ts";
import { sampleNodeView, samplePodView } from "../../tests/fixtures/cli/node_views.ts";
import { shopTest } from "../../tests/fixtures/cli/shop_scene.ts";
import { placedTest } from "../../tests/fixtures/placement/placed_shop.ts";

const REFERENCE = await Deno.readTextFile("docs/reference.md");

/** Names of members that are no fields: classes of nodes. */
const VALUES: ReadonlySet<string> = new Set(["spot", "on-demand"]);

function fieldsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(fieldsOf);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [name, ...fieldsOf(member)]);
}

/** Each field of what this command line prints, and of the schemas, stands in the sections. */
async function assertDocumented(
  scene: CoallocScene,
  { line, schemas = [], sections = [line.split(" ", 1)[0] ?? ""] }: {
    readonly line: string;
    readonly schemas?: readonly z.ZodObject[];
    /** @default {of the command} */
    readonly sections?: readonly string[];
  },
): Promise<void> {
  const [, out] = await scene.ran(`${line} -o json`);
  const text = REFERENCE.split(/^## /m).filter((section) =>
    sections.some((one) => section.split("\n", 1)[0]?.includes(`\`${one}\``))
  ).join("");
  const fields = [
    ...fieldsOf(JSON.parse(out)),
    ...schemas.flatMap(({ shape }) => Object.keys(shape)),
  ];
  const missing = fields.filter((one) => !VALUES.has(one) && !text.includes(`\`${one}\``));
  assert.deepEqual([...new Set(missing)], [], line);
}

sceneTest("docs/reference.md has the fields of top, explain, restore and resize", async (scene) => {
  const pod = addMarketPod(scene, "web", { limit: 450, own: 200 });
  scene.agents.push("node-1");
  const { metadata: { uid } } = pod;
  scene.views.set("node-1", sampleNodeView([samplePodView("web", { uid })]));
  await assertDocumented(scene, { line: "top", schemas: [nodeViewSchema.omit({ at: true })] });
  await assertDocumented(scene, {
    line: "top",
    schemas: [podViewSchema.omit({ uid: true, containers: true, bounds: true })],
  });
  const schemas = [marketSchema, boundRuleSchema, containerBoundsSchema, containerViewSchema];
  await assertDocumented(scene, { line: "explain web", schemas, sections: ["explain", "top"] });
  await assertDocumented(scene, { line: "restore web --dry-run" });
  await assertDocumented(scene, { line: "resize web --cpu-limit 300m --dry-run" });
  await assertDocumented(scene, { line: "restore web" });
});

shopTest(
  "docs/reference.md has the fields of recommend",
  (scene) => assertDocumented(scene, { line: "recommend" }),
);

shopTest(
  "docs/reference.md has the fields of report",
  (scene) => assertDocumented(scene, { line: "report --core-hour 1 --gib-hour 1" }),
);

placedTest(
  "docs/reference.md has the fields of placement",
  [{ nodes: ["spot-1", "od-1"] }],
  (scene) => assertDocumented(scene, { line: "placement" }),
);
