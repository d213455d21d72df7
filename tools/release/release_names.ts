/**
 * Names of a release's files and images, and its addresses.
 *
 * @module
 */
import { Command } from "commander";
import { parseTaskFlags } from "../../lab/task/task_flags.ts";
import { VERSION } from "../../shared/version.ts";

/** Where all of it is made, below the root. */
export const RELEASE_FOLDER = "build/release";

/** The repository of the project; the one place to change it, beside the URLs of `alerts.yaml`. */
export const REPOSITORY = "https://github.com/coallocator/coallocator";

/** The page of the alerts' runbooks. */
export const RUNBOOKS = `${REPOSITORY}/blob/main/docs/alerts.md`;

/** In the manifests and the chart: each user has a registry of its own. */
export const EXAMPLE_REGISTRY = "registry.example.com/coallocator";

/** Where releases are published. */
export interface ReleasePlace {
  /** The registry of images and the chart: `ghcr.io/owner/name`. */
  readonly registry: string;
  /** `https://github.com/owner/name`. */
  readonly home: string;
}

/** The place of a GitHub repository, `owner/name`; without one this project's, with the example's registry. */
export function releasePlace(repository: string | undefined): ReleasePlace {
  return repository === undefined ? { registry: EXAMPLE_REGISTRY, home: REPOSITORY } : {
    registry: `ghcr.io/${repository.toLowerCase()}`,
    home: `https://github.com/${repository}`,
  };
}

/** Reads the arguments of the process; ends it for a help text and for a mistake. */
export function releaseOptions(task: "release:dry" | "release:publish"): ReleasePlace {
  const command = new Command(task).helpOption("-h, --help", "show this text");
  const flag = "--repository <owner/name>";
  const about = "on GitHub, with images at ghcr.io";
  if (task === "release:publish") command.requiredOption(flag, about);
  else command.option(flag, `${about}; without it an example's`);
  const read = parseTaskFlags<{ readonly repository?: string }>(command, Deno.args);
  if (read.kind === "flags") return releasePlace(read.flags.repository);
  console.error(read.kind === "help" ? read.text : read.message);
  Deno.exit(read.kind === "help" ? 0 : 2);
}

/** Repository and tag of a program's image. */
export function imageName({ registry }: Pick<ReleasePlace, "registry">, program: string): string {
  return `${registry}/${program}:${VERSION}`;
}

/** The chart's file. */
export const CHART_FILE = `coallocator-${VERSION}.tgz`;

/** A platform that the command is built for. */
export interface Platform {
  readonly os: "linux" | "darwin";
  readonly arch: "amd64" | "arm64";
  /** As `deno compile --target` names it. */
  readonly target: string;
}

/** All of them. */
export const PLATFORMS: readonly Platform[] = [
  { os: "linux", arch: "amd64", target: "x86_64-unknown-linux-gnu" },
  { os: "linux", arch: "arm64", target: "aarch64-unknown-linux-gnu" },
  { os: "darwin", arch: "amd64", target: "x86_64-apple-darwin" },
  { os: "darwin", arch: "arm64", target: "aarch64-apple-darwin" },
];

/** The archive of the command for a platform. */
export function commandArchive({ os, arch }: Platform): string {
  return `kubectl-coalloc-${os}-${arch}.tar.gz`;
}
