/**
 * Makes the images of agent and controller without Docker, as archives in `build/images/`:
 * `deno task image:local`, or with names of programs for those alone. With `--load` the harness's
 * node gets them too.
 *
 * @module
 */
import { DEFAULT_NAME, instanceNamed } from "../harness/instance.ts";
import { loadImage } from "../harness/install/image_archive.ts";
import { bundleProgram, type Program, PROGRAMS } from "../../../tools/build/programs.ts";
import { sizeText } from "../../../tools/build/compile_program.ts";
import { programImage, runtimeLayer } from "./program_image.ts";

const root = new URL("../../../", import.meta.url);

export interface ImageOptions {
  /** Below the root. */
  readonly folder: string;
  readonly imageName: (program: string) => string;
  /** Those of these names alone. @default {all that have an image} */
  readonly only?: readonly string[];
}

export interface BuiltImage {
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  readonly scriptBytes: number;
}

/** Writes an archive for each program, `PROGRAM.tar`. Throws an `Error` where a program can't be bundled. */
export async function buildImages(options: ImageOptions): Promise<readonly BuiltImage[]> {
  const { folder, imageName, only } = options;
  const { permissions }: { permissions: Record<string, Record<string, unknown>> } = JSON.parse(
    await Deno.readTextFile(new URL("deno.json", root)),
  );
  const runtime = await runtimeLayer();
  const target = new URL(`${folder}/`, root);
  await Deno.mkdir(target, { recursive: true });
  const wanted = ({ name, image }: Program): boolean => image && (only?.includes(name) ?? true);
  const built: BuiltImage[] = [];
  for (const program of PROGRAMS.filter(wanted)) {
    const script = await Deno.readFile(new URL(await bundleProgram(program), root));
    const name = imageName(program.name);
    const archive = programImage(program, {
      ...{ name, runtime, script },
      permissions: permissions[program.permissions] ?? {},
      architecture: Deno.build.arch === "aarch64" ? "arm64" : "amd64",
    });
    const path = new URL(`${program.name}.tar`, target).pathname;
    await Deno.writeFile(path, archive);
    built.push({ name, path, bytes: archive.length, scriptBytes: script.length });
  }
  return built;
}

if (import.meta.main) {
  const named = Deno.args.filter((arg) => !arg.startsWith("-"));
  const images = await buildImages({
    folder: "build/images",
    imageName: (program) => `${program}:dev`,
    ...(named.length > 0 ? { only: named } : {}),
  });
  const cluster = Deno.env.get("COALLOCATOR_CLUSTER") || DEFAULT_NAME;
  for (const { name, path, bytes, scriptBytes } of images) {
    console.log(`${name} ${path} ${sizeText(bytes)}, ${sizeText(scriptBytes)} its own`);
    if (Deno.args.includes("--load")) {
      console.log((await loadImage(instanceNamed(cluster), path)).trimEnd());
    }
  }
}
