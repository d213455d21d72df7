/**
 * Makes all of a release that needs no network, in `build/release/`: `deno task release:dry`, with
 * `--repository OWNER/NAME` for what is published there. Prints the files with their sizes.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { VERSION } from "../../shared/version.ts";
import { buildImages } from "../../tests/cluster/images/build_images.ts";
import { run } from "../../tests/cluster/harness/shell.ts";
import { sizeText } from "../build/compile_program.ts";
import { changelogSection } from "./changelog.ts";
import { krewManifest, writeCommandArchives } from "./command_archives.ts";
import { goProgram } from "./go_program.ts";
import {
  CHART_FILE,
  commandArchive,
  EXAMPLE_REGISTRY,
  imageName,
  RELEASE_FOLDER,
  releaseOptions,
  type ReleasePlace,
  REPOSITORY,
} from "./release_names.ts";
import { billOfMaterials, programPackages } from "./sbom.ts";

const root = new URL("../../", import.meta.url).pathname;
const folder = `${root}${RELEASE_FOLDER}`;

/** A file of the release with its description, for the table. */
type Described = readonly [file: string, about: string];

async function makeRelease(place: ReleasePlace): Promise<readonly Described[]> {
  await run(["rm", "-rf", folder]);
  await Deno.mkdir(folder, { recursive: true });
  const text = (file: string, content: string): Promise<void> =>
    Deno.writeTextFile(`${folder}/${file}`, content);
  await text("CHANGELOG.md", await changelog());
  await text("install.yaml", await installManifest(place));
  await text("sbom.cdx.json", billOfMaterials({ version: VERSION, ...await programPackages() }));
  const chart = await packChart(place);
  const commands = await writeCommandArchives();
  const archives = await Promise.all(commands.map(async ({ platform }) => ({
    platform,
    sha256: await sha256(commandArchive(platform)),
  })));
  await text("coalloc.yaml", krewManifest({ home: place.home, version: VERSION, archives }));
  const images = await buildImages({
    folder: RELEASE_FOLDER,
    imageName: (program) => imageName(place, program),
  });
  const files: Described[] = [
    ...images.map(({ name, path }): Described => [
      path.slice(folder.length + 1),
      `image ${name}, OCI archive`,
    ]),
    ...commands.map(({ platform, kind }): Described => [
      commandArchive(platform),
      kind === "binary"
        ? "kubectl coalloc, a binary"
        : "kubectl coalloc, a script that needs Deno: its runtime could not be downloaded",
    ]),
    [chart, "Helm chart"],
    ["install.yaml", "the manifests without a component"],
    ["coalloc.yaml", "manifest for krew"],
    ["sbom.cdx.json", "software bill of materials, CycloneDX 1.6"],
    ["CHANGELOG.md", "this version's section"],
  ];
  // Published images have digests of their own.
  const summed = files.filter(([file]) => !file.endsWith(".tar"));
  const sums = await Promise.all(
    summed.map(async ([file]) => `${await sha256(file)}  ${file}\n`),
  );
  await text("SHA256SUMS", sums.join(""));
  return [...files, ["SHA256SUMS", "of all but the images"]];
}

async function sha256(file: string): Promise<string> {
  return createHash("sha256").update(await Deno.readFile(`${folder}/${file}`)).digest("hex");
}

async function installManifest(place: ReleasePlace): Promise<string> {
  return placed(await run(["kubectl", "kustomize", `${root}manifests/overlays/release`]), place);
}

/** The text with the release's own addresses. */
function placed(text: string, { registry, home }: ReleasePlace): string {
  return text.replaceAll(EXAMPLE_REGISTRY, registry).replaceAll(REPOSITORY, home);
}

/** The chart as Helm packs it; resolves with the file's name. */
async function packChart(place: ReleasePlace): Promise<string> {
  const chart = `${folder}/coallocator`;
  await run(["cp", "-r", `${root}charts/coallocator`, chart]);
  for (const file of ["Chart.yaml", "values.yaml", "README.md"]) {
    const text = placed(await Deno.readTextFile(`${chart}/${file}`), place)
      .replace(/^## For developers\n[^]*/m, "")
      .replaceAll("../../", `${place.home}/blob/v${VERSION}/`)
      .replaceAll("charts/coallocator ", `${CHART_FILE} `);
    await Deno.writeTextFile(`${chart}/${file}`, text);
  }
  await run([await goProgram("helm"), "package", chart, "--destination", folder]);
  await Deno.remove(chart, { recursive: true });
  return CHART_FILE;
}

async function changelog(): Promise<string> {
  const git = (...args: string[]): Promise<string> => run(["git", "-C", root, ...args]);
  const tags = (await git("tag", "--list", "v*", "--merged", "HEAD", "--sort=-v:refname"))
    .split("\n").filter((tag) => tag !== "" && tag !== `v${VERSION}`);
  const previous = tags[0]?.slice(1);
  const range = previous === undefined ? [] : [`v${previous}..HEAD`];
  const log = await git("log", "--no-merges", "--format=%s%x1f%b%x1e", ...range);
  return changelogSection({
    version: VERSION,
    date: (await git("log", "-1", "--format=%cs")).trim(),
    previous,
    commits: log.split("\x1e\n").filter(Boolean).map((entry) => {
      const [subject = "", body = ""] = entry.split("\x1f");
      return { subject, body };
    }),
  });
}

const place = releaseOptions("release:dry");
const files = await makeRelease(place);
const width = Math.max(...files.map(([file]) => file.length));
for (const [file, about] of files) {
  const { size } = await Deno.stat(`${folder}/${file}`);
  console.log(`${file.padEnd(width)} ${sizeText(size).padStart(9)}  ${about}`);
}
