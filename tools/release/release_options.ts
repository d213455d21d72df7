/**
 * The flags of both tasks of a release.
 *
 * @module
 */
import { Command } from "commander";
import { parseTaskFlags } from "../../cli/task_flags.ts";
import { type ReleasePlace, releasePlace } from "./release_names.ts";

/** Reads the arguments of the process; ends it for a help text and for a mistake. */
export function releaseOptions(task: "release:dry" | "release:publish"): ReleasePlace {
  const command = new Command(task).helpOption("-h, --help", "show this text");
  const flag = "--repository <owner/name>";
  const about = "on GitHub, for images at ghcr.io; an example's without it";
  if (task === "release:dry") command.option(flag, about);
  else command.requiredOption(flag, about);
  const read = parseTaskFlags<{ readonly repository?: string }>(command, Deno.args);
  if (read.kind === "flags") return releasePlace(read.flags.repository);
  console.error(read.kind === "help" ? read.text : read.message);
  Deno.exit(read.kind === "help" ? 0 : read.exitCode);
}
