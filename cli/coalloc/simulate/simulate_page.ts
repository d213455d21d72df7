/**
 * A replay as a page: the finding, the table, plots of the first seed, and the method, by parts of the demo's
 * report.
 *
 * @module
 */
import { changeList } from "../../../lab/simulation/report/render_report.ts";
import { type Html, html } from "../../../lab/simulation/report/html.ts";
import { methodNote, ownSource } from "../../../lab/simulation/report/method_note.ts";
import { algorithmNotes, page } from "../../../lab/simulation/report/page.ts";
import { algorithmLabel } from "./replay.ts";
import { notes, REPLAY_MEASURES, type Story, storySentences, verdict } from "./simulate_text.ts";
import { limitsPlot, throttlingPlot } from "../../../lab/simulation/report/plots/time_plots.ts";

/** One self-contained page. Throws a RangeError without any run. */
export function simulatePage(story: Story): string {
  const { history, replay } = story;
  const { outcomes, runs, scene } = replay;
  const [ours] = runs;
  if (ours === undefined) throw new RangeError("Cannot make a page: there are no runs");
  const [finding = "", ...others] = verdict(outcomes, replay);
  const name = history.path === "-" ? "standard input" : history.path;
  return page(
    `What would have happened: ${name}`,
    html`
      <header>
        <p class="scale">CoAllocator · what would have happened · ${name}</p>
        <h1>${finding}</h1>
        ${others.map((one) => html`<p class="tally">${one}</p>`)}
        ${storySentences(story).map((one) => html`<p class="scale">${one}</p>`)}
      </header>
      <main>
      ${algorithmTable(story)}
      ${limitsPlot(runs, "Limit against demand")}
      ${throttlingPlot(runs)}
      ${changeList(ours)}
      ${methodNote(ours, {
        description: `${notes(story).join(" ")} One container alone on a node of ` +
          `${scene.cores} cores, which is never short; limits stay between the product's floor and ` +
          "ceiling for it under every algorithm. The table has medians over the seeds, the plots show " +
          "the first.",
        traces: [ownSource(name)],
      })}
      </main>
    `,
  );
}

function algorithmTable({ replay: { outcomes, runs } }: Story): Html {
  const heads = REPLAY_MEASURES.map(({ head }) => html`<th scope="col">${head}</th>`);
  const rows = outcomes.map((outcome) =>
    html`
      <tr><th scope="row">${algorithmLabel(outcome)}</th>${REPLAY_MEASURES.map(({ text }) =>
        html`<td>${text(outcome)}</td>`
      )}</tr>
    `
  );
  const notes = runs.map(({ algorithm, description }) => [algorithm, description] as const);
  return html`
    <section>
      <h2>By algorithm</h2>
      <div class="scroll">
        <table class="scores">
          <thead>
            <tr><th scope="col">algorithm</th>${heads}</tr>
          </thead>
          <tbody>${rows}</tbody>
        </table>
      </div>
      <p class="caption">
        SLO: whether the median P99 was within it. Cores: the limit, mean over time. Throttled:
        throttled thread time. Reaction: from the start of a burst until the limit is
        at least the demand, median / P95; it counts for an algorithm only where the demand exceeds its
        limit. Slack: 1 − usage / limit.
      </p>
      ${algorithmNotes(notes)}
    </section>
  `;
}
