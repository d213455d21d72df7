/**
 * Makes the images of agent and controller without Docker, as archives in `build/images/`:
 * `deno task image:local`, or with names of programs for those alone. With `--load` the harness's
 * node gets them too.
 *
 * @module
 */
import { bundleProgram, PROGRAMS } from "../../../tools/build/programs.ts";
import { DEFAULT_NAME, instanceNamed } from "../harness/instance.ts";
import { loadImage } from "../harness/install/image_archive.ts";
import { programImage, runtimeLayer } from "./program_image.ts";

const root = new URL("../../../", import.meta.url);
const { permissions }: { permissions: Record<string, Record<string, unknown>> } = JSON.parse(
  await Deno.readTextFile(new URL("deno.json", root)),
);
const runtime = await runtimeLayer();
const folder = new URL("build/images/", root);
await Deno.mkdir(folder, { recursive: true });
const named = Deno.args.filter((arg) => !arg.startsWith("-"));
for (const program of PROGRAMS) {
  if (!program.image || (named.length > 0 && !named.includes(program.name))) continue;
  const script = await Deno.readFile(new URL(await bundleProgram(program), root));
  const file = new URL(`${program.name}.tar`, folder);
  const archive = programImage(program, {
    runtime,
    script,
    permissions: permissions[program.permissions] ?? {},
    architecture: Deno.build.arch === "aarch64" ? "arm64" : "amd64",
  });
  await Deno.writeFile(file, archive);
  const megabytes = (archive.length / 1e6).toFixed(1);
  const kilobytes = (script.length / 1e3).toFixed(0);
  console.log(`${program.name}:dev ${file.pathname} ${megabytes} MB, ${kilobytes} kB its own`);
  if (Deno.args.includes("--load")) {
    const name = Deno.env.get("COALLOCATOR_CLUSTER") || DEFAULT_NAME;
    console.log((await loadImage(instanceNamed(name), file.pathname)).trimEnd());
  }
}
