/**
 * The command `kubectl coalloc` in an archive for each platform, and the manifest by which krew installs it.
 *
 * @module
 */
import { gzipSync } from "node:zlib";
import { stringify } from "yaml";
import { compileProgram } from "../build/compile_program.ts";
import { permissionFlags } from "../build/permission_flags.ts";
import { PROGRAMS } from "../build/programs.ts";
import { type Bytes, tar } from "../../tests/cluster/harness/install/image_archive.ts";
import {
  commandArchive,
  type Platform,
  PLATFORMS,
  RELEASE_FOLDER,
  type ReleasePlace,
} from "./release_names.ts";

const root = new URL("../../", import.meta.url);

/** An archive that was written. */
export interface CommandArchive {
  readonly platform: Platform;
  /** A script needs Deno on the PATH. */
  readonly kind: "binary" | "script";
}

/**
 * Writes the archives into the release's folder. Where Deno's runtime can't be downloaded there is one
 * for this machine's platform, with a script in place of the binary.
 */
export async function writeCommandArchives(): Promise<readonly CommandArchive[]> {
  const program = PROGRAMS.find(({ name }) => name === "kubectl-coalloc");
  if (program === undefined) throw new Error("Cannot build kubectl-coalloc: it is no program");
  const { permissions } = JSON.parse(await Deno.readTextFile(new URL("deno.json", root)));
  const license = await Deno.readFile(new URL("LICENSE", root));
  const written: CommandArchive[] = [];
  const own = PLATFORMS.filter(({ target }) => target === Deno.build.target);
  // The own one first: without a runtime for it there is none for the others.
  for (const platform of new Set([...own, ...PLATFORMS])) {
    const { path, kind } = await compileProgram(program, platform.target);
    const built = await Deno.readFile(new URL(path, root));
    const content = kind === "binary"
      ? built
      : script(built, permissionFlags(permissions[program.permissions]));
    const archive = tar([
      { type: "file", path: "kubectl-coalloc", mode: 0o755, content },
      { type: "file", path: "LICENSE", mode: 0o644, content: license },
    ]);
    const file = new URL(`${RELEASE_FOLDER}/${commandArchive(platform)}`, root);
    await Deno.writeFile(file, gzipSync(archive));
    if (kind === "bundle") return [{ platform, kind: "script" }];
    written.push({ platform, kind });
  }
  return written;
}

function script(bundle: Bytes, flags: readonly string[]): Bytes {
  const interpreter = `#!/usr/bin/env -S deno run --quiet --no-config ${flags.join(" ")}\n`;
  return new Uint8Array([...new TextEncoder().encode(interpreter), ...bundle]);
}

/** The contents of krew's manifest. */
export interface KrewContent extends Pick<ReleasePlace, "home"> {
  readonly version: string;
  /** Each platform with the SHA-256 of its archive. */
  readonly archives: readonly { readonly platform: Platform; readonly sha256: string }[];
}

/** The manifest's text. */
export function krewManifest({ home, version, archives }: KrewContent): string {
  return stringify({
    apiVersion: "krew.googlecontainertools.github.com/v1alpha2",
    kind: "Plugin",
    metadata: { name: "coalloc" },
    spec: {
      version: `v${version}`,
      homepage: home,
      shortDescription: "Show, explain and undo CoAllocator's limits",
      description: "Shows what CoAllocator's market gives each pod and why, sets and restores " +
        "limits, and prints recommendations. It works with the rights of its user.",
      platforms: archives.map(({ platform, sha256 }) => ({
        selector: { matchLabels: { os: platform.os, arch: platform.arch } },
        uri: `${home}/releases/download/v${version}/${commandArchive(platform)}`,
        sha256,
        bin: "kubectl-coalloc",
        files: [{ from: "kubectl-coalloc", to: "." }, { from: "LICENSE", to: "." }],
      })),
    },
  });
}
