/**
 * The image of a program, made without Docker: Deno and one JavaScript file in place of a binary.
 *
 * @module
 */
import { permissionFlags, type PermissionSet } from "../../../tools/build/permission_flags.ts";
import { type Program, PROGRAM_ENVIRONMENT, V8_FLAGS } from "../../../tools/build/programs.ts";
import { imageArchive } from "../harness/install/image_archive.ts";
import type { Bytes, TarEntry } from "../harness/install/tar.ts";
import { DENO_PATH } from "./runtime_layer.ts";

/** What goes into the image. */
export interface ProgramImageParts {
  readonly runtime: readonly TarEntry[];
  /** The bundle. */
  readonly script: Bytes;
  /** The program's set in `deno.json`. */
  readonly permissions: PermissionSet;
  readonly architecture: "amd64" | "arm64";
}

/** What starts the program: nothing is fetched, looked up or cached, and nothing is asked. */
export function programEntrypoint(program: Program, permissions: PermissionSet): string[] {
  return [
    DENO_PATH,
    "run",
    "--quiet",
    "--no-config",
    "--no-lock",
    "--no-remote",
    "--no-npm",
    "--no-code-cache",
    V8_FLAGS,
    ...permissionFlags(permissions),
    scriptPath(program),
  ];
}

/** The image as an archive that containerd and `docker load` import, tagged `dev`. */
export function programImage(
  program: Program,
  { runtime, script, permissions, architecture }: ProgramImageParts,
): Bytes {
  return imageArchive({
    name: `${program.name}:dev`,
    base: runtime,
    entries: [
      { type: "file", path: scriptPath(program).slice(1), mode: 0o644, content: script },
    ],
    entrypoint: programEntrypoint(program, permissions),
    env: [
      "PATH=/",
      "NO_COLOR=1",
      "DENO_NO_UPDATE_CHECK=1",
      ...Object.entries(PROGRAM_ENVIRONMENT).map(([name, value]) => `${name}=${value}`),
    ],
    user: "65532:65532",
    architecture,
  });
}

function scriptPath({ name }: Program): string {
  return `/${name}.js`;
}
