import { InvalidArgumentError } from "commander";
import assert from "node:assert/strict";
import { stripVTControlCharacters } from "node:util";
import type * as z from "zod";
import { ApiError } from "../../shared/api/api_error.ts";
import type { ResizeCondition } from "../../shared/api/pod.ts";
import {
  boundRuleSchema,
  containerBoundsSchema,
  marketSchema,
} from "../../shared/api/pod_allocation.ts";
import type { ScopeSettings } from "../../shared/resize/scope.ts";
import {
  ageText,
  coresText,
  cpuText,
  memoryText,
  priceText,
  throttledText,
  workloadTitle,
} from "../../shared/view/figures.ts";
import { containerViewSchema, nodeViewSchema, podViewSchema } from "../../shared/view/node_view.ts";
import { reportsOf, shopRecords, shopTest } from "../../tests/fixtures/cli/advised_shop.ts";
import {
  addMarketPod,
  type CoallocScene,
  coallocScene,
  sceneTest,
} from "../../tests/fixtures/cli/coalloc_scene.ts";
import {
  sampleContainerView,
  sampleNodeView,
  samplePodView,
} from "../../tests/fixtures/cli/node_views.ts";
import { placedTest } from "../../tests/fixtures/placement/placed_shop.ts";
import { pure, pureYAML } from "../../tests/fixtures/pure.ts";
import { durationParser, workloadArgument } from "./formats.ts";
import { SYSTEM_NAMESPACE } from "./kube/system_namespace.ts";
import { marketSettings } from "./market_settings.ts";
import {
  dataOutput,
  fittedTable,
  type OutputFormat,
  structuredOutput,
  textTable,
} from "./output.ts";

pure("structuredOutput() writes JSON and YAML without absent members, and no table", () => {
  const value = { pod: "web", limit: undefined, price: null, containers: [{ name: "app" }] };
  assert.equal(
    structuredOutput(value, "yaml"),
    "pod: web\nprice: null\ncontainers:\n  - name: app\n",
  );
  assert.deepEqual(JSON.parse(structuredOutput(value, "json") ?? ""), {
    pod: "web",
    price: null,
    containers: [{ name: "app" }],
  });
  assert.equal(structuredOutput(value, "table"), undefined);
  assert.equal(structuredOutput(value, "wide"), undefined);
});

pure("dataOutput() quotes commas, quotes and markup as each form asks", () => {
  const table = {
    columns: [{ head: "A", cell: (row: string) => row }],
    rows: ['say "a, b"', "a|b", "[a](b) *c* _d_ `e` ~f~ <g> &lt; \\|"],
  };
  const world = { err: () => {} };
  const said = (output: OutputFormat) => dataOutput({ notes: [] }, table, { output, world });
  assert.equal(said("csv"), 'A\n"say ""a, b"""\na|b\n[a](b) *c* _d_ `e` ~f~ <g> &lt; \\|\n');
  assert.deepEqual(said("markdown")?.split("\n").slice(2), [
    ...['| say "a, b" |', "| a\\|b |"],
    "| \\[a\\](b) \\*c\\* \\_d\\_ \\`e\\` \\~f\\~ &lt;g> \\&lt; \\\\\\| |",
    "",
  ]);
  assert.equal(said("wide"), undefined);
});

const COLUMNS = [{ head: "POD" }, { head: "CPU", align: "right" }, { head: "REASON" }] as const;

pure("textTable() aligns columns by their widest cell and ends no line with blanks", () => {
  const rows = [
    [{ text: "web" }, { text: "1200m" }, { text: "Throttled" }],
    [{ text: "batch-7" }, { text: "50m" }, { text: "" }],
  ];
  assert.equal(
    textTable({ columns: COLUMNS, rows }),
    `\
POD         CPU   REASON
web       1200m   Throttled
batch-7     50m
`,
  );
});

pure("textTable() aligns wide, combining and joined characters by their columns", () => {
  const rows = ["日本", "cafe\u0301", "🚀", "web\u202e"].map((text) => [{ text }, "5m", "x"]);
  const [, ...lines] = textTable({ columns: COLUMNS, rows }).trimEnd().split("\n");
  const gaps = ["日本    ", "cafe\u0301    ", "🚀      ", "web\u202e    "];
  assert.deepEqual(lines, gaps.map((text) => `${text}5m   x`));
});

pure("fittedTable() cuts the last column between characters, at the width of the screen", () => {
  const columns = [
    { head: "POD", cell: (text: string) => text },
    { head: "WHY", cell: () => "日本日本日本", dropPriority: 1, minWidth: 5 },
  ];
  const widest = (width: number): string =>
    fittedTable({ rows: ["web"], columns }, { columns: width }).trimEnd().split("\n")[1] ?? "";
  assert.equal(widest(18), "web   日本日本日本");
  assert.equal(widest(17), "web   日本日本日…");
  assert.equal(widest(16), "web   日本日本…");
  assert.equal(widest(11), "web   日本…");
  assert.equal(widest(10), "web");
});

pure("textTable() paints the characters of a cell, not the space around them", () => {
  const rows = [[{ text: "a" }, { text: "5m", tone: "red" }, { text: "x" }]] as const;
  const [, line] = textTable({ columns: COLUMNS, rows }, { color: true }).split("\n");
  assert.equal(line, "a      \x1b[31m5m\x1b[39m   x");
});

pure("texts of figures round, and show what is not known", () => {
  assert.deepEqual([449.6, 0, undefined].map(cpuText), ["450m", "0m", "-"]);
  assert.deepEqual([411.5, undefined].map(throttledText), ["412", "-"]);
  assert.equal(coresText(3421), "3.42");
  const prices = [0.266_666, 1234.56789, 0.000_012_345, 0, null, undefined];
  assert.deepEqual(prices.map(priceText), ["0.267", "1235", "0.0000123", "0", "∞", "-"]);
});

pure("ageText() writes spans in one unit", () => {
  assert.deepEqual(
    [0, 250, 1000, 119_000, 120_000, 7_199_000, 7_200_000, 172_800_000, -5].map(ageText),
    ["0ms", "250ms", "1s", "119s", "2m", "119m", "2h", "2d", "0ms"],
  );
  assert.equal(ageText(undefined), "-");
  assert.equal(ageText(NaN), "-");
});

pure("memoryText() has three digits in the largest unit", () => {
  const expected: readonly (readonly [number | undefined, string])[] = [
    [undefined, "-"],
    [0, "0"],
    [512, "512"],
    [1023.7 * 1024, "1Mi"],
    [88_617_123, "84.5Mi"],
    [128 * 2 ** 20, "128Mi"],
    [1000 * 2 ** 20, "1000Mi"],
    [2 ** 30, "1Gi"],
    [1.5 * 2 ** 30, "1.5Gi"],
    [2 ** 53, "8Pi"],
  ];
  for (const [bytes, text] of expected) assert.equal(memoryText(bytes), text, `${bytes}`);
});

pure("durationParser() reads units, takes a bare number for seconds and names the bounds", () => {
  const parse = durationParser({ minMs: 500, maxMs: 60_000 });
  assert.equal(parse("2"), 2000);
  assert.equal(parse("1.5s"), 1500);
  assert.equal(parse("500ms"), 500);
  assert.equal(parse("1m"), 60_000);
  for (const text of ["web-1", "0", "61s", "", "-1s", "2 s"]) {
    assert.throws(() => parse(text), InvalidArgumentError, text);
  }
  assert.throws(() => parse("web-1"), /from 500ms to 1m/);
  const advised = durationParser({ minMs: 500, maxMs: 60_000, remedy: "write --watch=2s" });
  assert.throws(() => advised("web-1"), /^InvalidArgumentError: Give .*; write --watch=2s$/);
});

pure("workloadArgument() reads a name, with a kind as kubectl takes it, and nothing else", () => {
  assert.deepEqual(workloadArgument("web"), { name: "web" });
  for (const kind of ["deployment", "deployments", "deploy", "Deployment", "deployment.apps"]) {
    assert.deepEqual(workloadArgument(`${kind}/web`), { kind: "Deployment", name: "web" }, kind);
  }
  assert.deepEqual(workloadArgument("sts/db"), { kind: "StatefulSet", name: "db" });
  assert.deepEqual(workloadArgument("ds/log"), { kind: "DaemonSet", name: "log" });
  assert.equal(workloadTitle({ kind: "StatefulSet", name: "db" }), "statefulset/db");
  for (const argument of ["", "/", "pod/web", "shop/web", "deploy/", "/web", "a/deploy/web"]) {
    assert.equal(workloadArgument(argument), undefined, argument);
  }
});

/** Clears the screen, sets the title, hides and turns text around, and begins a line. */
const EVIL = "\x1b[2J\x1b[H\x1b]0;t\x07\x9b8m\u202e\u2028\r\nFORGED";
/** Characters that a terminal obeys, but for ends of lines. */
const OBEYED = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
/** A pod of which everybody says something evil. */
function evilScene({ isTerminal }: { readonly isTerminal: boolean }): CoallocScene {
  const scene = coallocScene();
  if (isTerminal) scene.terminal = { columns: 100, rows: 20, color: true };
  const { metadata: { uid } } = addMarketPod(scene, "web", {
    limit: 450,
    own: 200,
    status: { phase: "Failed", reason: "Refused", message: EVIL },
  });
  scene.api.store.tables.Pod.modify("shop/web", (pod) => ({
    ...pod,
    resizeConditions: [
      { type: "PodResizePending", reason: "Deferred", message: EVIL } as ResizeCondition,
    ],
  }));
  const [record] = shopRecords();
  assert.ok(record !== undefined);
  scene.rightsizing.reports = reportsOf([{
    ...record,
    message: EVIL,
    recommendations: [{ container: "app", cpu: 1, memory: 1, explanation: EVIL }],
  }]);
  const status = { phase: "NotWhole", message: EVIL, revisions: [], pods: [] };
  scene.placement.published.set("Deployment.web", JSON.stringify(status));
  scene.agents.push("node-1", `node${EVIL}`);
  const container = sampleContainerView({ waiting: EVIL, id: "web" });
  const pod = samplePodView(`web${EVIL}`, { uid, container });
  scene.views.set("node-1", sampleNodeView([{ ...pod, bounds: { revision: 7, reason: EVIL } }]));
  return scene;
}

const LINES = [
  ...["top", "top -o wide", "explain web", "explain web -o yaml", "explain web -o json"],
  `explain ${EVIL}`,
  "resize web --cpu-limit 300m --timeout 1s",
  "restore web --timeout 1s",
  "restore --all --yes --timeout 1s",
  ...["placement", "recommend", "recommend web", "recommend -o patch"],
];

for (const isTerminal of [false, true]) {
  pureYAML(`runCoalloc() prints nothing that a terminal obeys: ${isTerminal}`, async () => {
    let seen = 0;
    for (const line of LINES) {
      const scene = evilScene({ isTerminal });
      const [name = "", ...rest] = line.split(" ");
      scene.api.failNext({ verb: "resize", kind: "Pod", status: 422, message: EVIL });
      await scene.run(name, ...rest);
      for (const printed of [scene.out, scene.err]) {
        if (/FORGED/.test(printed)) seen++;
        const text = isTerminal ? stripVTControlCharacters(printed) : printed;
        assert.doesNotMatch(text, OBEYED, `${line}: ${JSON.stringify(printed)}`);
        assert.doesNotMatch(text, /^FORGED/m, `${line}: ${JSON.stringify(printed)}`);
      }
      await scene.close();
    }
    assert.ok(seen >= 5, `${seen} had the text`);
  });
}

pureYAML("runCoalloc() prints an error of the server on one line", async () => {
  const scene = coallocScene();
  const world = { ...scene.world, connect: () => Promise.reject(new ApiError(500, "Evil", EVIL)) };
  Object.assign(scene, { world });
  assert.equal(await scene.run("top"), 1);
  assert.doesNotMatch(scene.err, OBEYED);
  assert.deepEqual(scene.err.match(/\n/g)?.length, 1);
  await scene.close();
});

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
  const ofPods = podViewSchema.omit({ uid: true, containers: true, bounds: true });
  const ofTop = [nodeViewSchema.omit({ at: true }), ofPods];
  await assertDocumented(scene, { line: "top", schemas: ofTop });
  const schemas = [marketSchema, boundRuleSchema, containerBoundsSchema, containerViewSchema];
  await assertDocumented(scene, { line: "explain web", schemas, sections: ["explain", "top"] });
  await assertDocumented(scene, { line: "restore web --dry-run" });
  await assertDocumented(scene, { line: "resize web --cpu-limit 300m --dry-run" });
  await assertDocumented(scene, { line: "restore web" });
});

shopTest("docs/reference.md has the fields of recommend and report", async (scene) => {
  await assertDocumented(scene, { line: "recommend" });
  await assertDocumented(scene, { line: "report --core-hour 1 --gib-hour 1" });
});

const PLACED = [{ nodes: ["spot-1", "od-1"] }];

placedTest("docs/reference.md has the fields of placement", PLACED, async (scene) => {
  await assertDocumented(scene, { line: "placement" });
});

pureYAML("marketSettings() reads which pods take part, with the programs' defaults", () => {
  const defaults: ScopeSettings = {
    market: true,
    managementPolicy: "OptOut",
    excludedNamespaces: ["kube-system", "kube-public", "kube-node-lease", SYSTEM_NAMESPACE],
  };
  const rows: readonly (readonly [text: string, change?: Partial<ScopeSettings>])[] = [
    ...["", "log:\n  level: debug\n", "market: [", "- market\n", "market:\n"].map((text) =>
      [text] as const
    ),
    [
      "market:\n  managementPolicy: OptIn\n  excludedNamespaces: [a, b]\n",
      { managementPolicy: "OptIn", excludedNamespaces: ["a", "b", SYSTEM_NAMESPACE] },
    ],
    ["market: {excludedNamespaces: 'a, b'}", { excludedNamespaces: ["a", "b", SYSTEM_NAMESPACE] }],
    ["market: off", { market: false }],
    ["market: false", { market: false }],
    ["market:\n  enabled: false\n", { market: false }],
    ["market: off\nlog: [", { market: false }],
    ["market: on", { market: true }],
    ["market: {}", { market: true }],
    ["market:\n  enabled: on\n", { market: true }],
  ];
  for (const [text, change] of rows) {
    assert.deepEqual(marketSettings(text), { ...defaults, ...change }, text);
  }
});
