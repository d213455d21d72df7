/**
 * Writes docs/figures.md from docs/figures.json: `deno task figures`. With `--check` it writes nothing
 * and fails when that page differs, or a page disagrees with the source. With `--old` it lists the
 * measurements that are older than their code, most changes first.
 *
 * @module
 */
import { keepFiles, projectFiles } from "../project_files.ts";
import { figureFaults, figuresPage, figuresSchema, type Measurement } from "./figures.ts";

const root = new URL("../../", import.meta.url);
const source = figuresSchema.parse(JSON.parse(await readText("docs/figures.json")));

if (Deno.args.includes("--old")) {
  const old = await Promise.all(source.measurements.map(async (one) => ({
    ...one,
    commits: await commitsSince(one),
  })));
  for (
    const one of old.filter(({ commits }) => commits > 0).sort((a, b) => b.commits - a.commits)
  ) {
    const pages = Object.keys(one.figures).join(", ");
    console.log(
      `${one.commits} commits since ${one.commit} (${one.date})  ${one.command}  ${pages}`,
    );
  }
} else {
  if (Deno.args.includes("--check")) await check();
  await keepFiles({ "docs/figures.md": figuresPage(source) }, "generate:docs");
}

async function check(): Promise<void> {
  const paths = await projectFiles(root, ".md");
  const pages = new Map(
    await Promise.all(paths.map(async (path) => [path, await readText(path)] as const)),
  );
  const faults = figureFaults(source, { pages, files: await projectFiles(root, ".ts") });
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) Deno.exit(1);
}

/** How many commits have changed the measurement's code, tests left out. */
async function commitsSince({ commit, code }: Measurement): Promise<number> {
  const { success, stdout, stderr } = await new Deno.Command("git", {
    args: ["rev-list", "--count", "--no-merges", `${commit}..HEAD`, "--", ...code, ":!*_test.ts"],
    cwd: root,
  }).output();
  const decoder = new TextDecoder();
  if (!success) {
    throw new Error(`Cannot count commits since ${commit}: ${decoder.decode(stderr).trim()}`);
  }
  return Number(decoder.decode(stdout));
}

function readText(path: string): Promise<string> {
  return Deno.readTextFile(new URL(path, root));
}
