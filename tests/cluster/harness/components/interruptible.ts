/**
 * Actions that must tidy up before a signal ends the program.
 *
 * @module
 */

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/**
 * Runs an action during which SIGINT and SIGTERM end nothing by themselves: they abort the signal
 * that the action is given, which is to come to its end soon. Throws an `Error` that names the
 * signal when one came, whatever the action's outcome.
 */
export async function interruptible<T>(action: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const listeners = SIGNALS.map((name) => ({
    name,
    listener: (): void => controller.abort(new Error(`Cannot go on: ${name} came`)),
  }));
  for (const { name, listener } of listeners) Deno.addSignalListener(name, listener);
  try {
    const result = await action(controller.signal);
    controller.signal.throwIfAborted();
    return result;
  } catch (error) {
    // How the action failed is a consequence.
    controller.signal.throwIfAborted();
    throw error;
  } finally {
    for (const { name, listener } of listeners) Deno.removeSignalListener(name, listener);
  }
}
