/** docs/placement.md, held against the code: words, tables and the example. */
import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import { MEMORY_LABEL } from "../../controller/placement/connect_placement.ts";
import * as keys from "../../shared/api/placement_keys.ts";
import { PLACEMENT_EVENT_REASONS } from "../../shared/api/reasons/placement_event_reasons.ts";
import { DELETION_COST } from "../../shared/placement/deletion_cost.ts";
import { NODE_CLASS_PRESETS } from "../../shared/placement/node_class_presets.ts";
import { UNPLACED_REASONS } from "../../shared/placement/placement_question.ts";
import { readPlacement } from "../../shared/placement/read_placement.ts";
import { splitReplicas } from "../../shared/placement/split_replicas.ts";

const root = new URL("../../", import.meta.url);
const guide = await Deno.readTextFile(new URL("docs/placement.md", root));

/** The cells of the table whose header begins with this cell. */
function tableUnder(first: string): readonly (readonly string[])[] {
  const lines = guide.split("\n");
  const begin = lines.findIndex((line) => line.startsWith(`| ${first} `));
  assert.ok(begin >= 0, `there is no table under ${first}`);
  const length = lines.slice(begin).findIndex((line) => !line.startsWith("|"));
  return lines.slice(begin + 2, begin + length)
    .map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()));
}

Deno.test("docs/placement.md names each key, event, result and preset", () => {
  const { PLACEMENT_PREFIX: _prefix, DISRUPTION_DURATION: _second, ...named } = keys;
  for (const key of [...Object.values(named), DELETION_COST, MEMORY_LABEL]) {
    assert.ok(guide.includes(key), key);
  }
  for (const event of Object.keys(PLACEMENT_EVENT_REASONS)) {
    assert.ok(guide.includes(`\`${event}\``), event);
  }
  const results = tableUnder("result").map(([word = ""]) => word.replaceAll("`", ""));
  assert.deepEqual(results.sort(), [...UNPLACED_REASONS].sort());
  const presets = tableUnder("preset").map(([word = ""]) => word.replaceAll("`", ""));
  assert.deepEqual(presets.sort(), Object.keys(NODE_CLASS_PRESETS).sort());
});

Deno.test("docs/placement.md names the labels of each preset's nodes", () => {
  for (const [name = "", spot = "", onDemand = ""] of tableUnder("preset")) {
    const preset = name.replaceAll("`", "") as keyof typeof NODE_CLASS_PRESETS;
    for (const [to, cell] of [["spot", spot], ["on-demand", onDemand]] as const) {
      for (const { matchLabels } of NODE_CLASS_PRESETS[preset][to].selectors) {
        for (const [label, value] of Object.entries(matchLabels)) {
          // The second of GKE's labels stands without the prefix that it shares with the first.
          const [, short = ""] = label.split("/");
          assert.ok(cell.includes(short) && cell.includes(value), `${preset}: ${label} ${value}`);
        }
      }
    }
  }
});

Deno.test("docs/placement.md divides replicas as they are divided", () => {
  const rows = tableUnder("replicas");
  for (const row of rows) {
    const [replicas = 0, spotPercentage = 0, minOnDemand = 0, spot = 0, onDemand = 0] = row
      .map((cell) => Number.parseInt(cell));
    const split = splitReplicas(replicas, { spotPercentage, minOnDemand });
    assert.deepEqual(split, { spot, "on-demand": onDemand }, row.join());
  }
  assert.ok(rows.length >= 5);
});

Deno.test("docs/placement.md shows a workload that can be read, and a refusal in its words", () => {
  const [example = ""] = [...guide.matchAll(/```yaml\n(apiVersion[\s\S]*?)```/g)]
    .map(([, text = ""]) => text);
  const { metadata } = parseAllDocuments(example)[0]?.toJS();
  const { labels, annotations } = metadata;
  const wish = { spotPercentage: 70, minOnDemand: 2, paused: false };
  assert.deepEqual(readPlacement({ workload: { labels, annotations } }), { is: "wished", wish });
  const wrong = { ...annotations, [keys.SPOT_PERCENTAGE]: "most" };
  const reading = readPlacement({ workload: { labels, annotations: wrong } });
  const [fault] = reading.is === "faulty" ? reading.faults : [];
  const shown = guide.replaceAll(/\s+/g, " ");
  assert.ok(shown.includes(`${fault?.key} of the workload is ${fault?.value}: ${fault?.remedy}`));
});

Deno.test("docs/placement.md names each alert of placement and of the webhook, and no other", async () => {
  const path = new URL("manifests/components/alerts/alerts.yaml", root);
  const there = (await Deno.readTextFile(path)).matchAll(/alert: (\w+)/g).map(([, name = ""]) =>
    name
  )
    .filter((name) => /^(Spotalis|MbcasWebhook)/.test(name));
  const named = guide.matchAll(/`((?:Spotalis|MbcasWebhook)[A-Z]\w+)`/g).map(([, name = ""]) =>
    name
  );
  assert.deepEqual([...new Set(named)].sort(), [...there].sort());
});
