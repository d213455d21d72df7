/**
 * Progress of a run's waits, and the locks that it waits for.
 *
 * @module
 */
import { readIfThere } from "./daemon.ts";
import type { Instance } from "./instance.ts";

export interface Progress {
  readonly say: (line: string) => void;
  /** Milliseconds, never going back. */
  readonly now: () => number;
}

/** Between two lines about the same wait, in ms. */
const REPEAT_MS = 30_000;

/** Says that an action begins, every half minute that it still runs, and how long it took. */
export async function withProgress<T>(
  { say, now }: Progress,
  about: string,
  action: () => Promise<T>,
): Promise<T> {
  const began = now();
  say(`${about} …`);
  const timer = setInterval(() => say(`still ${about}: ${seconds(now() - began)}`), REPEAT_MS);
  try {
    const result = await action();
    say(`done ${about.split(",")[0]}: ${seconds(now() - began)}`);
    return result;
  } finally {
    clearInterval(timer);
  }
}

/** `0.4 s`, `12 s`, `3 min 20 s`. */
export function seconds(ms: number): string {
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  const whole = Math.round(ms / 1000);
  return whole < 120 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** Held until disposed of; the kernel releases it when the process ends in whatever way. */
export interface FileLock extends Disposable {
  /** Removes the file too, while it is still held. */
  remove(): Promise<void>;
}

/** After this long in ms, it is said what is waited for. */
const SAY_AFTER_MS = 500;

/** Waits until no other run holds the file; creates its folder where that is missing. */
export async function lockFile(
  path: string,
  { progress }: { readonly progress: Progress },
): Promise<FileLock> {
  for (;;) {
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    const file = await Deno.open(path, { create: true, write: true });
    try {
      await waitForLock(file, path, progress);
      if (await isAt(path, file)) {
        await file.truncate();
        await file.write(new TextEncoder().encode(`${Deno.pid}\n`));
        return { remove: () => Deno.remove(path), [Symbol.dispose]: () => file.close() };
      }
    } catch (error) {
      file.close();
      throw error;
    }
    // The one that held it has removed it, so the next run would lock another file.
    file.close();
  }
}

async function waitForLock(file: Deno.FsFile, path: string, { say }: Progress): Promise<void> {
  const holder = (await readIfThere(path) ?? "").trim();
  const other = holder === "" ? "another run of the harness" : `process ${holder}`;
  const timer = setTimeout(() => say(`waiting for ${other}, which holds ${path}`), SAY_AFTER_MS);
  try {
    await file.lock(true);
  } finally {
    clearTimeout(timer);
  }
}

async function isAt(path: string, file: Deno.FsFile): Promise<boolean> {
  try {
    const [there, held] = await Promise.all([Deno.stat(path), file.stat()]);
    return there.ino === held.ino && there.dev === held.dev;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

export function lockInstance(
  { stateRoot, name }: Pick<Instance, "stateRoot" | "name">,
  { progress }: { readonly progress: Progress },
): Promise<FileLock> {
  return lockFile(`${stateRoot}/${name}.lock`, { progress });
}
