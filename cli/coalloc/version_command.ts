/**
 * `version`: who talks to whom.
 *
 * @module
 */
import type { CommandContext } from "./command_context.ts";
import { structuredOutput } from "./structured_output.ts";
import { VERSION } from "./version.ts";

/** Shows the versions. Resolves with the exit code. */
export async function versionCommand({ cluster, world, output }: CommandContext): Promise<number> {
  const { server, controllerImage } = await cluster.reader.versions();
  const versions = { client: VERSION, server, controller: controllerImage ?? null };
  world.out(
    structuredOutput(versions, output) ??
      `Client: ${VERSION}\nServer: ${server}\nController: ${controllerImage ?? "not installed"}\n`,
  );
  return 0;
}
