import assert from "node:assert/strict";
import { figureFaults } from "./figure_faults.ts";
import { type Figures, figuresPage, figuresSchema } from "./figures.ts";

const PAGE = `# Product

It waits 5 s.

## Figures

Within a run of 30 minutes a burst waits for
2.3 s:

| measure | ours, P99 | theirs |
| ------- | --------: | ------ |
| wait    |      10.5 | never  |

\`\`\`sh
sleep 7 s
\`\`\`

## Limits

At most 9 s.
`;

/** A measurement of `PAGE`, with these figures. */
function source(figures: Record<string, string>): Figures {
  return figuresSchema.parse({
    complete: { "README.md": "Figures" },
    measurements: [{
      command: "deno task bench:wait",
      commit: "0123abc",
      date: "2026-11-22",
      machine: "2 CPUs",
      scene: ["a run of 30 minutes"],
      code: ["shared/market"],
      figures: { "README.md": figures },
    }],
  });
}

function faults(
  figures: Record<string, string>,
  page = PAGE,
  files = ["shared/market/solver.ts"],
): string[] {
  return figureFaults(source(figures), { pages: new Map([["README.md", page]]), files });
}

const COMPLETE = { "mean: wait": "10.5 | never", "wait of a burst": "waits for 2.3 s" };

Deno.test("figureFaults() finds none where each figure of the section has an origin", () => {
  assert.deepEqual(faults(COMPLETE), []);
});

Deno.test("figureFaults() finds figures that have changed on either side, in tables and in text", () => {
  // The value that the page lacks, and the figure that the source lacks.
  assert.equal(faults({ ...COMPLETE, "mean: wait": "10.4 | never" }).length, 2);
  assert.equal(faults({ ...COMPLETE, "wait of a burst": "waits for 2.4 s" }).length, 2);
  assert.equal(faults(COMPLETE, PAGE.replace("10.5", "10.6")).length, 2);
  assert.equal(faults(COMPLETE, PAGE.replace("30", "15")).length, 2);
});

Deno.test("figureFaults() finds what was added to the section, but not outside of it", () => {
  assert.equal(faults(COMPLETE, PAGE.replace("```\n\n## L", "```\n\nOr 3 ms.\n\n## L")).length, 1);
  assert.equal(faults(COMPLETE, `${PAGE}\nOr 3 ms.\n`).length, 0);
  const { "mean: wait": _, ...withoutRow } = COMPLETE;
  assert.equal(faults(withoutRow).length, 1);
  assert.equal(faults({ ...withoutRow, "mean: delay": "10.5 | never" }).length, 1);
});

Deno.test("figureFaults() finds code that was moved", () => {
  assert.equal(faults(COMPLETE, PAGE, ["shared/market_solver.ts"]).length, 1);
});

Deno.test("figuresPage() gives each figure with command, commit, date and page", () => {
  const page = figuresPage(source(COMPLETE));
  assert.match(page, /^## `deno task bench:wait`\n\nCommit 0123abc, 2026-11-22; 2 CPUs\.\n/m);
  assert.match(page, /^\| mean: wait \| 10\.5 \\\| never \| README\.md \|$/m);
});

Deno.test("figuresSchema refuses measurements without a task or an origin", () => {
  const [measurement] = source(COMPLETE).measurements;
  for (const wrong of [{ command: "by hand" }, { commit: "HEAD" }, { date: "yesterday" }]) {
    const measurements = [{ ...measurement, ...wrong }];
    assert.equal(figuresSchema.safeParse({ complete: {}, measurements }).success, false);
  }
});
