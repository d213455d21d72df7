/**
 * A file that only one run of the harness holds at a time.
 *
 * @module
 */
import { readIfThere } from "./components/daemon.ts";
import type { Progress } from "./progress.ts";

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
