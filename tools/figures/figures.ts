/**
 * docs/figures.json: the measured figures of the documents, with their origin.
 *
 * @module
 */
import { z } from "zod";

/** One measurement. Texts are as the pages have them, with one space for each stretch of white space. */
const measurementSchema = z.strictObject({
  /** Gives the figures again. */
  command: z.string().startsWith("deno task "),
  /** The commit that was measured, or else the one that recorded the figures. */
  commit: z.string().regex(/^[0-9a-f]{7,40}$/),
  date: z.iso.date(),
  machine: z.string().min(1),
  /** Texts with quantities that were given and not measured. */
  scene: z.array(z.string().min(1)).default([]),
  /** Files and folders that can move the figures. */
  code: z.array(z.string().min(1)).min(1),
  /**
   * Page, then name, then value. The name of a table's row ends with its first cell; the value is one
   * or more cells, with ` | ` between them.
   */
  figures: z.record(z.string(), z.record(z.string(), z.string().min(1))),
});

/** What docs/figures.json holds. */
export const figuresSchema = z.strictObject({
  /** By page the heading of the section in which each measured figure needs an origin. */
  complete: z.record(z.string(), z.string()),
  measurements: z.array(measurementSchema),
});

/** What docs/figures.json holds. */
export type Figures = z.infer<typeof figuresSchema>;

/** One measurement. */
export type Measurement = Figures["measurements"][number];

const HEAD = `# Figures

<!-- Made from docs/figures.json by \`deno task figures\`; changes here are lost. -->

Each measured figure of the documents with its origin. Decision records are dated history and name
their own. \`deno task figures --old\` lists those that are older than the code they measure.
`;

/** docs/figures.md. */
export function figuresPage({ measurements }: Figures): string {
  return [HEAD, ...measurements.map(section)].join("\n");
}

function section(measurement: Measurement): string {
  const { command, commit, date, machine, scene, code, figures } = measurement;
  const rows = Object.entries(figures).flatMap(([page, values]) =>
    Object.entries(values).map(([name, value]) => row([name, value, page]))
  );
  return [
    `## \`${command}\`\n`,
    `Commit ${commit}, ${date}; ${machine}.`,
    ...scene.map((text) => `Given: ${text}.`),
    `Depends on ${code.map((path) => `\`${path}\``).join(", ")}.\n`,
    row(["figure", "value", "shown in"]),
    row(["---", "---", "---"]),
    ...rows,
    "",
  ].join("\n");
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}
