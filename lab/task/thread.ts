/**
 * A module that answers questions in a thread of its own.
 *
 * @module
 */

/** The thread. */
export interface Thread<Question> {
  /** One at a time. Rejects where the module throws; `onNote` is called with each note before. */
  ask<Answer>(question: Question, onNote?: () => void): Promise<Answer>;
  /** For what has no answer. */
  send(question: Question): void;
  end(): void;
}

type Message<Answer> = { readonly answer: Answer } | { readonly note: true };

/** Starts it. */
export function startThread<Question>(module: URL): Thread<Question> {
  const worker = new Worker(module, { type: "module" });
  const send = (question: Question): void => worker.postMessage(question);
  return {
    send,
    ask<Answer>(question: Question, onNote?: () => void) {
      const { promise, resolve, reject } = Promise.withResolvers<Answer>();
      worker.onmessage = ({ data }: MessageEvent<Message<Answer>>) =>
        "answer" in data ? resolve(data.answer) : onNote?.();
      worker.onerror = (event) => {
        event.preventDefault();
        reject(new Error(`Cannot go on in a thread: ${event.message}`));
      };
      send(question);
      return promise;
    },
    end: () => worker.terminate(),
  };
}

/** Answers the thread that started this module; undefined is no answer. */
export function answerInThread<Question>(
  answer: (question: Question, note: () => void) => unknown,
): void {
  const scope = self as unknown as {
    onmessage: (event: MessageEvent<Question>) => Promise<void>;
    postMessage(message: Message<unknown>): void;
  };
  scope.onmessage = async ({ data }) => {
    const given = await answer(data, () => scope.postMessage({ note: true }));
    if (given !== undefined) scope.postMessage({ answer: given });
  };
}

/** Does all work in order, each worker the next when it has done one; the results in that order. */
export async function workThrough<Work, Result>(
  all: readonly Work[],
  workers: readonly ((work: Work) => Promise<Result>)[],
): Promise<Result[]> {
  const results: Result[] = [];
  const entries = all.entries();
  await Promise.all(workers.map(async (work) => {
    for (const [index, one] of entries) results[index] = await work(one);
  }));
  return results;
}
