/**
 * Messages about files of the user.
 *
 * @module
 */

/** A file can't be used; the program then ends with code 1. */
export class FileProblem extends Error {
  override readonly name = "FileProblem";
}

/** Why a trace can't be played. A fault of the program is thrown on: it shows where it is. */
export function traceProblem(path: string | undefined, cause: unknown): FileProblem {
  const message = cause instanceof SyntaxError || cause instanceof RangeError
    ? cause.message
    : `Cannot read trace "${path}": ${readFault(cause)}`;
  return new FileProblem(message, { cause });
}

/** Why a report can't be written, and what helps; as {@linkcode traceProblem}. */
export function reportProblem(path: string, cause: unknown): FileProblem {
  return new FileProblem(`Cannot write report "${path}": ${writeFault(cause)}`, { cause });
}

function writeFault(cause: unknown): string {
  const { IsADirectory, NotADirectory, NotCapable, NotFound, PermissionDenied } = Deno.errors;
  if (cause instanceof NotFound) {
    return "its folder is not there; create the folder or give another path";
  }
  if (cause instanceof IsADirectory) return "it is a directory; give the path of a file in it";
  if (cause instanceof NotADirectory) {
    return "a file stands where its folder should be; give another path";
  }
  if (cause instanceof PermissionDenied) {
    return "you may not write there, see ls -l; give another path";
  }
  return cause instanceof NotCapable
    ? "the task may write below the project and /tmp only; give another path"
    : systemMessage(cause);
}

/** Why a file can't be read, and what helps. Throws what is no error of the system's. */
export function readFault(cause: unknown): string {
  if (cause instanceof Deno.errors.NotFound) return "there is no such file; check the path";
  if (cause instanceof Deno.errors.IsADirectory) {
    return "it is a directory; give the path of a file in it";
  }
  return cause instanceof Deno.errors.PermissionDenied || cause instanceof Deno.errors.NotCapable
    ? "you may not read it; see ls -l"
    : systemMessage(cause);
}

/** The system's message without its number: `No space left on device (os error 28), write 'x'`. */
function systemMessage(cause: unknown): string {
  const known = Object.values(Deno.errors).some((kind) => cause instanceof kind);
  if (!known || !(cause instanceof Error)) throw cause;
  return cause.message.replace(/ \(os error \d+\).*$/s, "");
}
