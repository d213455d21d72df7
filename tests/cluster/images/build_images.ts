/**
 * Builds the images of agent and controller without Docker.
 *
 * @module
 */
import { bundleProgram, type Program, PROGRAMS } from "../../../tools/build/programs.ts";
import { programImage, runtimeLayer } from "./program_image.ts";

const root = new URL("../../../", import.meta.url);

/** Where images go, and what they are called. */
export interface ImageOptions {
  /** Below the root. */
  readonly folder: string;
  /** Repository and tag for a program's name. */
  readonly imageName: (program: string) => string;
  /** Those of these names alone. @default {all that have an image} */
  readonly only?: readonly string[];
}

/** An image that was built. */
export interface BuiltImage {
  /** Repository and tag. */
  readonly name: string;
  /** The archive. */
  readonly path: string;
  readonly bytes: number;
  /** Of the program's own script. */
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
