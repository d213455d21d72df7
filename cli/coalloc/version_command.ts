/**
 * `version`: the versions of command, programs and server.
 *
 * @module
 */
import { VERSION } from "../../shared/version.ts";
import type { ClusterVersions, CommandContext } from "./ports.ts";
import { type OutputFormat, structuredOutput } from "./output.ts";

/** The version that needs no cluster. */
export function clientVersion(output: OutputFormat = "table"): string {
  return structuredOutput({ client: VERSION }, output) ?? `Client: ${VERSION}\n`;
}

/** Shows the versions. Resolves with the exit code. */
export async function versionCommand({ cluster, world, output }: CommandContext): Promise<number> {
  const found = await cluster.reader.versions();
  const { server, controllerImage } = found;
  const versions = { client: VERSION, server, controller: controllerImage ?? null };
  world.out(
    structuredOutput(versions, output) ??
      `Client: ${VERSION}\nServer: ${server}\nController: ${controllerText(found)}\n`,
  );
  return 0;
}

function controllerText({ controllerImage, controllerIsVisible }: ClusterVersions): string {
  if (!controllerIsVisible) return "not known, you may not read the installation";
  return controllerImage ?? "not installed";
}
