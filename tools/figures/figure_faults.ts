/**
 * Where docs/figures.json and the pages disagree.
 *
 * @module
 */
import type { Figures } from "./figures.ts";

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

/** What stands below a heading, up to the next of its level or a higher one, without fenced code. */
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
