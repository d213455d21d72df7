/**
 * The arena's findings as a page: goals first, then stage by stage (its figures, and every algorithm
 * with every setting), then how the figures came about and what they do not say.
 *
 * @module
 */
import { type Html, html, trusted } from "../simulation/report/html.ts";
import { algorithmNotes, page } from "../simulation/report/page.ts";
import type { Goal } from "./goals.ts";
import type { StageResult } from "./stages.ts";
import { formatCount, formatFigure, NO_FIGURE } from "../simulation/report/figure.ts";
import type { RunRecord } from "../simulation/run_record.ts";
import {
  type AlgorithmOutcome,
  bestPerAlgorithm,
  bestSetting,
  ENTRIES,
  type Entry,
  findEntry,
  isCoallocator,
  isRival,
  isSameEntry,
  medianLatency,
  type OutcomeColumn,
  outcomeColumns,
} from "./outcome.ts";
import { traceSources } from "../simulation/report/method_note.ts";
import { coresPlot, limitsPlot } from "../simulation/report/plots/time_plots.ts";

/** One self-contained page. */
export function arenaPage(results: readonly StageResult[], goals: readonly Goal[]): string {
  return page(
    "Control algorithms compared",
    html`
      <header>
        <p class="scale">CoAllocator · control algorithms compared in the arena</p>
        <h1>${goalSentence(goals)}</h1>
        ${links(results)}
      </header>
      <main>
      ${goalSection(goals)}
      ${results.map((result, index) => stageSection(result, idOf(index)))}
      ${arenaMethod(results)}
      </main>
    `,
  );
}

function links(results: readonly StageResult[]): Html {
  const items = results.map((result, index) =>
    html`<li><a href="#${idOf(index)}">${stageTitle(result)}</a></li>`
  );
  return html`
    <nav aria-label="Stages">
      <ul class="legend">${items}<li><a href="#method">How this was measured</a></li></ul>
    </nav>
  `;
}

/** Names of stages may be paths, which no fragment should hold. */
function idOf(index: number): string {
  return `stage-${index + 1}`;
}

function goalSentence(goals: readonly Goal[]): string {
  if (goals.length === 0) return "Control algorithms compared";
  const met = goals.filter((goal) => goal.met).length;
  return met === goals.length
    ? `CoAllocator meets all ${goals.length} goals`
    : `CoAllocator meets ${met} of ${goals.length} goals`;
}

function goalSection(goals: readonly Goal[]): Html {
  if (goals.length === 0) return html``;
  return html`
    <section id="goals">
      <h2>Goals of CoAllocator</h2>
      <div class="scroll" tabindex="0" role="region" aria-label="Goals">
        <table class="goals">
          <thead>
            <tr>
              <th scope="col">Measure</th>
              <th scope="col" style="text-align:left">Where</th>
              <th scope="col">Goal</th>
              <th scope="col">CoAllocator</th>
              <th scope="col">Best rival</th>
              <th scope="col" style="text-align:left">Which</th>
              <th scope="col">Verdict</th>
            </tr>
          </thead>
          <tbody>${goals.map(rowOf)}</tbody>
        </table>
      </div>
      <p class="caption">
        The best rival is the one that comes nearest to the goal or passes it farthest, at its best
        setting on that trace; CoAllocator runs at its one default. A reaction is compared with rivals that
        allocate at most 1.1 times the cores of CoAllocator.
      </p>
    </section>
  `;
}

function rowOf(goal: Goal): Html {
  const { measure, where, bound, bestRival, coallocator } = goal;
  return html`
    <tr>
      <th scope="row">${measure}</th>
      <td class="text">${where}</td>
      <td>${bound === "at most" ? "≤" : "≥"} ${formatFigure(goal.goal)}</td>
      <td>${Number.isFinite(coallocator) ? figureBeside(goal) : NO_FIGURE}</td>
      <td>${formatFigure(bestRival?.value)}</td>
      <td class="text">${bestRival === undefined ? NO_FIGURE : entryName(bestRival)}</td>
      <td style="white-space:nowrap;color:var(--algorithm-${goal.met ? 3 : 1})">${verdict(
        goal,
      )}</td>
    </tr>
  `;
}

/** Four digits where three would hide on which side of the goal it lies. */
function figureBeside({ coallocator, goal, met }: Goal): string {
  const text = formatFigure(coallocator);
  return text === formatFigure(goal) && !met ? coallocator.toPrecision(5) : text;
}

function verdict({ met, missedBy, coallocator }: Goal): string {
  if (met) return "✓ met";
  if (missedBy !== undefined) return `✗ missed by ${formatFigure(missedBy)}`;
  return Number.isNaN(coallocator) ? "✗ missed: no figure" : "✗ missed";
}

const KINDS: Readonly<Record<StageResult["kind"], string>> = {
  trace: "Trace",
  bursts: "Bursts",
  steps: "Steps",
  "shared node": "Shared node",
  services: "Services",
};

/** The title of a stage, as in headings and links. */
export function stageTitle({ kind, name }: StageResult): string {
  return kind === name ? KINDS[kind] : `${KINDS[kind]}: ${name}`;
}

/** The whole stage. `id` is the target of links to it. */
export function stageSection(result: StageResult, id: string): Html {
  const { kind, name, minutes, seeds, sloMs } = result;
  const runs = stageRecords(result);
  const scale = kind === "trace" ? ` Demand: ${scaleSentence(result)}` : "";
  return html`
    <section id="${id}" style="border-top:1px solid var(--axis);padding-top:28px">
      <h2 style="font-size:1.5rem">${stageTitle(result)}</h2>
      <p class="scale">${formatCount(minutes, "minute")}, medians over ${formatCount(
        seeds,
        "seed",
      )}; SLO: P99 within ${formatFigure(sloMs)} ms.${scale}</p>
      <p class="tally">${findings(result)}</p>
      ${outcomeTables(result)}
      ${// Several pods want more than there is: capacity says more there than the sum of requests.
      (kind === "shared node" || kind === "services") && runs.length > 0
        ? coresPlot(runs)
        : limitsPlot(
          runs.filter(({ algorithm }) => algorithm !== ENTRIES.coallocator.algorithm),
          `${name}: limit against demand`,
        )}
    </section>
  `;
}

/**
 * The runs that are drawn over time, as far as there are series: CoAllocator, also where limits follow
 * demand, the best rival and the oracle, named as in the tables.
 */
export function stageRecords({ outcomes, records }: StageResult): RunRecord[] {
  const rival = bestSetting(outcomes.filter(isRival));
  const rivals = rival === undefined ? [] : [rival];
  return [ENTRIES.coallocator, ENTRIES.tight, ...rivals, ENTRIES.oracle].flatMap(
    (entry: Entry) => {
      // A record holds the setting where a report has a description.
      const record = records.find(({ algorithm, description }) =>
        algorithm === entry.algorithm && description === entry.setting
      );
      return record === undefined ? [] : [{ ...record, algorithm: entryName(entry) }];
    },
  );
}

function findings({ outcomes }: StageResult): string {
  const ours = findEntry(outcomes, ENTRIES.coallocator);
  const rival = bestSetting(outcomes.filter(isRival));
  const oracle = findEntry(outcomes, ENTRIES.oracle);
  const named: (readonly [string, AlgorithmOutcome | undefined])[] = [
    ["CoAllocator", ours],
    [rival === undefined ? "" : `The best rival (${entryName(rival)})`, rival],
    ["The oracle", oracle],
  ];
  return named.flatMap(([name, outcome]) => {
    if (outcome === undefined) return [];
    const { median: { coresAllocated, victimsP99Ms }, sloHeld } = outcome;
    const latencyName = victimsP99Ms === undefined ? "P99" : "victims' P99";
    return [
      `${name}: ${formatFigure(coresAllocated)} cores, ${latencyName} ${
        formatFigure(medianLatency(outcome))
      } ms, SLO ${sloHeld ? "held" : "missed"}.`,
    ];
  }).join(" ");
}

const BEST = trusted(' class="best"');
const NOT_BEST = trusted("");

/** The best setting of each algorithm in sight, all settings folded away. */
function outcomeTables(result: StageResult): Html {
  const { name, outcomes } = result;
  const best = bestPerAlgorithm(outcomes);
  return html`
    ${table(best, { result, label: `${name}: the best setting of each algorithm` })}
    <details>
      <summary>All ${formatCount(outcomes.length, "setting")} on ${name} as a table</summary>
      ${table(outcomes, { result, label: `${name}: every setting of every algorithm` })}
    </details>
  `;
}

function table(
  outcomes: readonly AlgorithmOutcome[],
  { result, label }: { readonly result: StageResult; readonly label: string },
): Html {
  const columns = outcomeColumns(outcomes, result);
  const best = new Set(bestPerAlgorithm(result.outcomes));
  const heads = columns.map(({ head }) => html`<th scope="col">${headText(head)}</th>`);
  const rows = outcomes.map((outcome) => {
    // Where all rows are the best of their algorithm, bold says nothing: there it marks CoAllocator.
    const isBold = outcomes.length === best.size
      ? isSameEntry(outcome, ENTRIES.coallocator)
      : best.has(outcome);
    const cells = columns.map((column) =>
      html`<td${isBold ? BEST : NOT_BEST}>${cellText(outcome, column)}</td>`
    );
    return html`<tr><th scope="row">${outcome.algorithm}</th><td class="text">${outcome.setting}</td><td>${
      heldText(outcome)
    }</td>${cells}</tr>`;
  });
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label="${label}">
      <table class="outcomes" style="width:100%;font-size:.82rem">
        <thead>
          <tr>
            <th scope="col">Algorithm</th>
            <th scope="col" style="text-align:left">Setting</th>
            <th scope="col">SLO</th>
            ${heads}
          </tr>
        </thead>
        <tbody style="white-space:nowrap">${rows}</tbody>
      </table>
    </div>
  `;
}

/** In one line: `Reaction, median, ms`. */
function headText(head: OutcomeColumn["head"]): string {
  const line = head.filter((part) => part !== "").join(", ");
  return `${line.charAt(0).toUpperCase()}${line.slice(1)}`;
}

/** The median; of cores the spread over the seeds too. */
function cellText(
  outcome: AlgorithmOutcome,
  { score, text }: OutcomeColumn,
): string {
  if (score !== "coresAllocated") return text(outcome);
  const [low, high] = [outcome.least, outcome.most].map((of) => formatFigure(of.coresAllocated));
  return low === high ? text(outcome) : `${text(outcome)} (${low} – ${high})`;
}

/** Held or missed, and by how many seeds where they disagree. */
function heldText({ sloHeld, sloHeldShare }: AlgorithmOutcome): string {
  const verdict = sloHeld ? "held" : "missed";
  const isSplit = sloHeldShare > 0 && sloHeldShare < 1;
  return isSplit ? `${verdict} (${Math.round(100 * sloHeldShare)} % of seeds held it)` : verdict;
}

/** The note at the end of the page. */
export function arenaMethod(results: readonly StageResult[]): Html {
  const traces = results.filter(({ kind }) => kind === "trace");
  const scales = traces.map((result) =>
    html`<li><b>${result.name}</b>: ${scaleSentence(result)}</li>`
  );
  const sources = traceSources(traces.map(({ name }) => name)).map(({ name, source, licence }) =>
    html`<li><b>${name}</b>: ${source}. Licence: ${licence}.</li>`
  );
  const played = new Set(results.flatMap((one) => one.outcomes.map(({ algorithm }) => algorithm)));
  const notes = [...played].flatMap((algorithm) => {
    const note = ALGORITHM_NOTES.get(algorithm);
    return note === undefined ? [] : [[algorithm, note] as const];
  });
  const lists = traces.length === 0 ? html`` : html`
    <p>How each trace was scaled:</p>
    <ul>${scales}</ul>
    <p>Where they come from:</p>
    <ul>${sources}</ul>
  `;
  return html`
    <section class="method"
      id="method"><h2>How this was measured</h2><p>Every algorithm met the same requests on the same model of a node, in virtual time, under the same floor, ceiling and delay of a resize. The model throttles containers by quota in periods of 100 ms, as the kernel does, and lets requests queue, so latency is an outcome. ${giveUpSentence(
        results,
      )}The same seeds give the same figures; they are medians over the seeds unless a figure says otherwise.</p><p>A trace has one sample per second, per minute or per request, and no open trace of containers is finer than 10 s: <b>inside a sample the demand is modelled</b>, with arrivals and CPU time per request drawn at random around it. Bursts, steps and shared nodes are made up entirely. Latency and throttling come from the model, not from a machine.</p><p>Of rivals every setting is shown, and the best one is chosen per trace after the fact; CoAllocator has one default. Series are of the first seed.</p>${lists}${algorithmNotes(
        notes,
      )}</section>
  `;
}

function giveUpSentence([first]: readonly StageResult[]): string {
  return first === undefined || first.giveUp === 0
    ? ""
    : `Clients give up ${
      formatCount(first.giveUp, "second")
    } after their request; an answer after more than a second is late. `;
}

/** The scaling of a trace before it was played, in a sentence. */
function scaleSentence({ format, p95Cores }: StageResult): string {
  if (p95Cores !== undefined) {
    const size = `scaled so that its 95th percentile is ${formatFigure(p95Cores)} CPUs`;
    return format === "cores" || format === "prometheus"
      ? `only its shape is the recorded one, it was ${size}.`
      : `arrivals as recorded, what a request costs is made up: ${size}.`;
  }
  return format === "cores" || format === "prometheus"
    ? "not scaled, CPUs as recorded."
    : "not scaled, requests as recorded; what a request costs is made up.";
}

/** An algorithm with its setting; CoAllocator and the oracle have a name alone. */
export function entryName({ algorithm, setting }: Entry): string {
  return isCoallocator({ algorithm }) || algorithm === ENTRIES.oracle.algorithm
    ? algorithm
    : `${algorithm}, ${setting}`;
}

/** Algorithms in a sentence for readers that do not know them. */
export const ALGORITHM_NOTES: ReadonlyMap<string, string> = new Map([
  [
    "static",
    "a limit that never changes: a multiple of the request, the ceiling, or from the P90 of the whole trace, which no one knows beforehand",
  ],
  ["hpa", "Kubernetes' HorizontalPodAutoscaler: replicas by CPU utilisation, every 15 s"],
  ["k8s-cpu", "every 15 s, the highest usage of the last 300 s / target"],
  ["k8s-cpu-fast", "every second, the highest usage of the last 20 s / target"],
  ["captain", "Autothrottle's Captain: every second, from the share of throttled periods"],
  [
    "koordinator",
    "Koordinator's CPU burst: raises a throttled quota by a fifth, up to three times the limit",
  ],
  ["vpa", "Kubernetes' VerticalPodAutoscaler: P90 of a decaying histogram, and 15 %"],
  ["mbcas-original", "an earlier market: writes every 15 s, with a cooldown of 30 s"],
  [
    ENTRIES.coallocator.algorithm,
    "the market with the product's defaults: limits are at their ceilings, eight times what users set, until CPU is scarce",
  ],
  [
    ENTRIES.tight.algorithm,
    "the market that allocates what is needed and no more, not tuned per trace",
  ],
  [
    ENTRIES.oracle.algorithm,
    "knows the future: the least limits at which no request waits longer than the SLO, changed no more often than CoAllocator; an algorithm that lets one request in a hundred wait longer may cost less",
  ],
  [
    ENTRIES.equalCores.algorithm,
    "a yardstick: fixed limits that cost the cores of coallocator-tight",
  ],
  [
    ENTRIES.alone.algorithm,
    "a yardstick: the pods beside a noisy neighbour, without it and without limits, which their SLO is made from",
  ],
  [ENTRIES.unlimited.algorithm, "a yardstick: no limit at all, which the SLO is made from"],
]);
