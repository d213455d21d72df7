/**
 * The arena's findings as a page: goals first, then stage by stage, then the method.
 *
 * @module
 */
import { type Html, html, trusted } from "../simulation/report/html.ts";
import { page } from "../simulation/report/page.ts";
import type { Goal } from "./goals.ts";
import { arenaMethod } from "./page/arena_method.ts";
import { goalSection, goalSentence } from "./page/goal_section.ts";
import { algorithmLooks, MORE_COLORS } from "./page/algorithm_look.ts";
import { stageSection, stageTitle } from "./page/stage_section.ts";
import type { StageResult } from "./stages.ts";

/** One self-contained page. */
export function arenaPage(results: readonly StageResult[], goals: readonly Goal[]): string {
  const lookOf = algorithmLooks(results);
  return page(
    "Control algorithms compared",
    html`
      <header>
        <p class="scale">CoAllocator · control algorithms compared in the arena</p>
        <h1>${goalSentence(goals)}</h1>
        ${links(results)}
      </header>
      <main style="${trusted(MORE_COLORS)}">
      ${goalSection(goals)}
      ${results.map((result, index) => stageSection(result, { id: idOf(index), lookOf, goals }))}
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
