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
  const about = "on GitHub, with images at ghcr.io";
  if (task === "release:publish") command.requiredOption(flag, about);
  else command.option(flag, `${about}; without it an example's`);
  const read = parseTaskFlags<{ readonly repository?: string }>(command, Deno.args);
  if (read.kind === "flags") return releasePlace(read.flags.repository);
  console.error(read.kind === "help" ? read.text : read.message);
  Deno.exit(read.kind === "help" ? 0 : read.exitCode);
}
