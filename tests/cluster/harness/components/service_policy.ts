/**
 * Keeps packages from starting their services while they are installed.
 *
 * @module
 */
import { readIfThere } from "./daemon.ts";
import { lockFile } from "../file_lock.ts";
import type { Progress } from "../progress.ts";
import { isExecutable } from "../shell.ts";

/** Where the policy is, and the lock against concurrent runs. */
export interface PolicyOptions {
  /** The folder of all instances, with the lock of the run that has written a policy. */
  readonly stateRoot: string;
  readonly progress: Progress;
  /** @default {"/usr/sbin/policy-rc.d"} */
  readonly file?: string;
}

/** Asked before a package starts a service; 101 forbids it. Source: invoke-rc.d(8). */
const FILE = "/usr/sbin/policy-rc.d";

/**
 * By this line a policy that a run which was killed left behind is distinguished from the machine's
 * own.
 */
const MARKER = "# CoAllocator's test cluster wrote this and removes it";

/** No instance can have this name. */
const LOCK = "_packages.lock";

/** Does something while no service may be started. A policy of the machine's own stays as it is. */
export async function withoutServices<T>(
  action: () => Promise<T>,
  { stateRoot, progress, file = FILE }: PolicyOptions,
): Promise<T> {
  using lock = await lockFile(`${stateRoot}/${LOCK}`, { progress });
  try {
    await removeMarked(file);
    if (!await isExecutable(file)) {
      const text = `#!/bin/sh\n${MARKER}\nexit 101\n`;
      await Deno.writeTextFile(file, text, { mode: 0o755, createNew: true });
    }
    return await action();
  } finally {
    await removeMarked(file);
    await lock.remove();
  }
}

/** Removes what a run that was killed during {@linkcode withoutServices} left behind. */
export async function removeLeftPolicy(
  { stateRoot, progress, file = FILE }: PolicyOptions,
): Promise<void> {
  const path = `${stateRoot}/${LOCK}`;
  if (await readIfThere(path) === undefined && !await isMarked(file)) return;
  using lock = await lockFile(path, { progress });
  await removeMarked(file);
  await lock.remove();
}

async function isMarked(file: string): Promise<boolean> {
  return (await readIfThere(file) ?? "").split("\n").includes(MARKER);
}

async function removeMarked(file: string): Promise<void> {
  if (await isMarked(file)) await Deno.remove(file);
}
