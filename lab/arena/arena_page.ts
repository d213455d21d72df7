/**
 * The arena's findings as a page: goals first, then stage by stage, then the method.
 *
 * @module
 */
import { type Html, html } from "../simulation/report/html.ts";
import { page } from "../simulation/report/page.ts";
import type { Goal } from "./goals.ts";
import type { StageResult } from "./stages.ts";
import { formatFigure, NO_FIGURE } from "../simulation/report/figure.ts";
import { arenaMethod, entryName, stageSection, stageTitle } from "./stage_section.ts";

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

/** The finding in a sentence. */
function goalSentence(goals: readonly Goal[]): string {
  if (goals.length === 0) return "Control algorithms compared";
  const met = goals.filter((goal) => goal.met).length;
  return met === goals.length
    ? `CoAllocator meets all ${goals.length} goals`
    : `CoAllocator meets ${met} of ${goals.length} goals`;
}

/** A row per goal, in the order of the goals; nothing without any. */
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
