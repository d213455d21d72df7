/**
 * docs/figures.json: the measured figures of the documents, with their origin, and where the pages disagree
 * with it.
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

/** The contents of docs/figures.json. */
export const figuresSchema = z.strictObject({
  /** By page the heading of the section in which each measured figure needs an origin. */
  complete: z.record(z.string(), z.string()),
  measurements: z.array(measurementSchema),
});

/** The contents of docs/figures.json. */
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

/** Numbers with the unit of a measurement. */
const QUANTITY = /\d[\d.,]* ?(?:%|(?:ms|µs|s|m|MB|CPUs?|cores|seconds|minutes|hours|days)\b)/g;

/** The project's pages by path, and the paths of its source files. */
export interface Project {
  readonly pages: ReadonlyMap<string, string>;
  readonly files: readonly string[];
}

/** Each disagreement as a line; empty when there is none. */
export function figureFaults(source: Figures, { pages, files }: Project): string[] {
  return [
    ...missingTexts(source, pages),
    ...missingCode(source, files),
    ...Object.entries(source.complete).flatMap(([page, heading]) =>
      withoutOrigin({ source, page, section: sectionOf(pages.get(page) ?? "", heading) })
    ),
  ];
}

/** Texts of the source that the pages don't have. */
function missingTexts({ measurements }: Figures, pages: Project["pages"]): string[] {
  return measurements.flatMap(({ command, scene, figures }) => {
    const texts = Object.entries(figures).flatMap(([page, values]) =>
      Object.entries(values)
        .filter(([, value]) => !oneLine(pages.get(page) ?? "").includes(value))
        .map(([name, value]) => `${page} does not have "${value}" (${name})`)
    );
    const own = Object.keys(figures).map((page) => oneLine(pages.get(page) ?? ""));
    const given = scene.filter((text) => !own.some((page) => page.includes(text)));
    return [...texts, ...given.map((text) => `No page of ${command} has "${text}"`)];
  });
}

/** Code of the source that was moved or deleted. */
function missingCode({ measurements }: Figures, files: readonly string[]): string[] {
  return measurements.flatMap(({ command, code }) =>
    code
      .filter((path) => !files.some((file) => file === path || file.startsWith(`${path}/`)))
      .map((path) => `${command} depends on ${path}, which is not there`)
  );
}

/** Rows of tables, and quantities between them, that no measurement of this page explains. */
function withoutOrigin(
  { source, page, section }: { source: Figures; page: string; section: string },
): string[] {
  const figures = source.measurements.flatMap((one) => Object.entries(one.figures[page] ?? {}));
  const lines = section.split("\n");
  const rows = lines
    .filter((line, i) => line.startsWith("|") && !isRule(line) && !isRule(lines[i + 1] ?? ""))
    .map((line) => line.split("|").slice(1, -1).map(oneLine))
    .filter(([name = "", ...cells]) => {
      const known = figures.filter(([key]) => key.endsWith(name)).map(([, value]) => value);
      return cells.some((cell) =>
        /\d/.test(cell) && !known.some((value) => value.split(" | ").includes(cell))
      );
    })
    .map(([name]) => `${page} has figures without origin in the row "${name}"`);
  const scene = source.measurements.flatMap((one) => one.scene);
  let prose = oneLine(lines.filter((line) => !line.startsWith("|")).join(" "));
  for (const text of [...scene, ...figures.map(([, value]) => value)]) {
    if (text.search(QUANTITY) >= 0) prose = prose.replaceAll(text, "…");
  }
  const quantities = [...prose.matchAll(QUANTITY)].map(({ 0: quantity, index }) => {
    const around = prose.slice(Math.max(0, index - 40), index + 40);
    return `${page} has the figure ${quantity} without origin: "${around}"`;
  });
  return [...rows, ...quantities];
}

/** The line between a table's header and its rows. */
function isRule(line: string): boolean {
  return /^\|[\s:|-]+\|$/.test(line);
}

/** The text below a heading, up to the next of its level or a higher one, without fenced code. */
function sectionOf(page: string, heading: string): string {
  const lines = page.replaceAll(/^```[\s\S]*?^```/gm, "").split("\n");
  const start = lines.findIndex((line) => line.replace(/^#+ /, "") === heading);
  const level = lines[start]?.indexOf(" ") ?? 0;
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => /^#+ /.test(line) && line.indexOf(" ") <= level);
  return rest.slice(0, end < 0 ? rest.length : end).join("\n");
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
