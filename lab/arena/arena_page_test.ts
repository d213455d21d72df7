import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { DOMParser } from "linkedom";
import { outcome, stageResult } from "../../tests/fixtures/lab/arena_outcomes.ts";
import { syntheticRuns } from "../../tests/fixtures/lab/run_records.ts";
import { allRivals } from "../simulation/rivals/all_rivals.ts";
import { arenaPage } from "./arena_page.ts";
import {
  algorithmNames,
  EQUAL_CORES,
  isRival,
  ORACLE,
  OURS,
  OURS_TIGHT,
  UNLIMITED,
} from "./outcome.ts";
import { algorithmLooks, algorithmNote, entryName } from "./page/algorithm_look.ts";
import { stageRecords } from "./page/stage_section.ts";
import { checkGoals } from "./goals.ts";
import type { StageResult } from "./stages.ts";

/** What the tests ask of a parsed page. */
interface Node {
  readonly textContent: string;
  readonly outerHTML: string;
  getAttribute(name: string): string | null;
  querySelectorAll(selector: string): Iterable<Node>;
}

function parsed(markup: string): Node {
  return new DOMParser().parseFromString(markup, "text/html") as unknown as Node;
}

/** Every rival with every setting, ours, the oracle and yardsticks; figures are made up. */
function fullStage(some: Partial<StageResult> = {}): StageResult {
  const rivals = allRivals().map(({ algorithm, setting }, index) =>
    outcome({
      algorithm,
      setting,
      cores: 1 + index / 5,
      p99Ms: 4000 / (1 + index),
      sloHeld: index > 20,
    })
  );
  const [base] = syntheticRuns({ pods: 1, minutes: some.minutes ?? 10 });
  assert(base !== undefined);
  const best = rivals[21];
  assert(best !== undefined);
  return stageResult([
    ...rivals,
    outcome({ ...OURS, cores: 1.5 }),
    outcome({ ...EQUAL_CORES, cores: 1.5 }),
    outcome({ ...ORACLE, cores: 1.4 }),
    outcome({ ...UNLIMITED, cores: 64 }),
  ], {
    minutes: 10,
    records: [OURS, best, ORACLE].map(({ algorithm, setting }) => ({
      ...base,
      algorithm,
      description: setting,
    })),
    ...some,
  });
}

function made(results: readonly StageResult[]): string {
  return arenaPage(results, checkGoals(results));
}

pure("arenaPage() says which goals are met and which are missed, and by how much", () => {
  const results = [fullStage()];
  const goals = checkGoals(results);
  const page = parsed(arenaPage(results, goals));
  const rows = [...page.querySelectorAll(".goals tbody tr")].map((row) => row.textContent);
  assert.equal(rows.length, goals.length);
  goals.forEach(({ met }, index) => assert.match(rows[index] ?? "", met ? /✓ met/ : /✗ missed/));
  const [title] = page.querySelectorAll("h1");
  const met = goals.filter((goal) => goal.met).length;
  assert.match(title?.textContent ?? "", new RegExp(`${met} (?:of \\d+ )?goals|all ${met}`));
});

pure("arenaPage() draws every setting of every rival, and has it in a table", () => {
  const stage = fullStage();
  const page = parsed(made([stage]));
  const scatter = [...page.querySelectorAll("svg.plot")].find((plot) =>
    /cores allocated and p99/i.test(plot.getAttribute("aria-label") ?? "")
  );
  assert(scatter !== undefined);
  const titles = [...scatter.querySelectorAll("title")].map((one) => one.textContent);
  for (const { algorithm, setting } of stage.outcomes) {
    if (algorithm === UNLIMITED.algorithm) continue;
    assert(
      titles.some((title) => title.startsWith(algorithm) && title.includes("cores")),
      algorithm,
    );
    if (isRival({ algorithm, setting })) {
      assert(titles.some((title) => title.includes(setting)), setting);
    }
  }
  assert.equal(titles.length, stage.outcomes.length - 1);
  assert.equal([...page.querySelectorAll("details tbody tr")].length, stage.outcomes.length);
});

pure("arenaPage() has plots without a coordinate that is not a number, each with a label", () => {
  const kinds: Partial<StageResult>[] = [
    {},
    { kind: "bursts", name: "bursts-1" },
    { kind: "steps", name: "steps" },
    { kind: "shared node", name: "eight-equal" },
  ];
  const stages = kinds.map(fullStage);
  const plots = [...parsed(made(stages)).querySelectorAll("svg.plot")];
  // Scatter and series, each in two widths.
  assert.equal(plots.length, 4 * 4);
  for (const plot of plots) {
    assert.ok((plot.getAttribute("aria-label") ?? "").length > 20);
    assert(!/NaN|Infinity|undefined/.test(plot.outerHTML), plot.getAttribute("aria-label") ?? "");
  }
});

pure("arenaPage() draws what there is, and says where figures, series or goals lack", () => {
  const odd = outcome({ ...OURS, p50Ms: 0, p99Ms: Infinity, p999Ms: NaN, cores: 0 });
  const markup = arenaPage([stageResult([odd]), stageResult([], { sloMs: 0 })], []);
  assert.match(markup, />No series /);
  assert.match(markup, />No algorithm .*cores /);
  assert(!/NaN|undefined/.test(markup));
  assert.match(arenaPage([], []), /<h1>Control algorithms compared/);
});

pure("arenaPage() says how traces were scaled", () => {
  const crane = fullStage({ name: "crane0", format: "cores", p95Cores: 2 });
  const text = made([crane]).replaceAll(/<[^>]*>/g, "").replaceAll(/\s+/g, " ");
  assert.match(text, /crane0: only its shape .* 95th percentile is 2\.00 CPUs/);
  assert.match(text, /Licence: Apache-2\.0/);
});

pure("arenaPage() escapes names, loads nothing, and is the same for the same findings", () => {
  const evil = `<img src=x onerror=alert(1)>"'</svg></script>`;
  const stage = fullStage({ name: evil });
  const strange = outcome({ algorithm: evil, setting: evil, p99Ms: 70 });
  const markup = made([{ ...stage, outcomes: [...stage.outcomes, strange] }]);
  assert(!/<img|<script/.test(markup));
  assert.equal([...parsed(markup).querySelectorAll("img, script, [onerror]")].length, 0);
  assert(!markup.includes("@import") && !/(?:src|href)="https?:/.test(markup));
  assert.equal(made([fullStage()]), made([fullStage()]));
});

pure("arenaPage() stays below 3 MB for as many stages as the arena has", () => {
  const traces = Array.from(
    { length: 9 },
    (_, index) => fullStage({ name: `crane${index}`, minutes: 120 }),
  );
  const scenes = (["bursts", "bursts", "bursts", "steps"] as const).map((kind, index) =>
    fullStage({ kind, name: `${kind}-${index}` })
  );
  const shared = Array.from(
    { length: 5 },
    (_, index) => fullStage({ kind: "shared node", name: `shared-${index}` }),
  );
  const { length } = made([...traces, ...scenes, ...shared]);
  assert.ok(length < 3e6, `${length} characters`);
});

pure("algorithmLooks() has a colour and a mark for each algorithm, algorithmNote() a note", () => {
  const algorithms = algorithmNames();
  const lookOf = algorithmLooks([
    stageResult(algorithms.map((algorithm) => outcome({ algorithm }))),
  ]);
  assert.equal(
    new Set(algorithms.map((algorithm) => lookOf(algorithm).color)).size,
    algorithms.length,
  );
  assert.equal(
    new Set(algorithms.map((algorithm) => lookOf(algorithm).mark)).size,
    algorithms.length,
  );
  assert.deepEqual(algorithms.filter((algorithm) => algorithmNote(algorithm) === undefined), []);
});

pure("entryName() leaves out a setting that says nothing", () => {
  assert.equal(entryName(OURS), "ours");
  assert.equal(entryName(ORACLE), "oracle");
  assert.equal(entryName({ algorithm: "captain", setting: "target 0.1" }), "captain, target 0.1");
});

pure("stageRecords() takes ours, the best rival and the oracle, whatever their order", () => {
  const [run] = syntheticRuns({ pods: 1, minutes: 1 });
  assert(run !== undefined);
  const best = outcome({ algorithm: "captain", setting: "target 0.1", cores: 1 });
  const other = outcome({ algorithm: "hpa", setting: "target 0.5", cores: 3 });
  const outcomes = [ORACLE, OURS_TIGHT, OURS].map((entry) => outcome(entry));
  const records = [other, ...outcomes, best].map(({ algorithm, setting }) => ({
    ...run,
    algorithm,
    description: setting,
  }));
  const result = stageResult([other, best, ...outcomes], { records });
  assert.deepEqual(stageRecords(result).map(({ algorithm }) => algorithm), [
    ...["ours", "ours-tight", "captain, target 0.1", "oracle"],
  ]);
  assert.deepEqual(stageRecords({ ...result, records: [] }), []);
});
