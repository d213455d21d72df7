import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { listenForInterrupt } from "./interrupt.ts";

function signals() {
  const listeners = new Set<() => void>();
  return {
    listeners,
    source: {
      addSignalListener: (_signal: Deno.Signal, listener: () => void) =>
        void listeners.add(listener),
      removeSignalListener: (_signal: Deno.Signal, listener: () => void) =>
        void listeners.delete(listener),
    },
    press: () => listeners.forEach((listener) => listener()),
  };
}

pure("listenForInterrupt() aborts at the first Ctrl-C, and leaves the second to the system", () => {
  const { listeners, source, press } = signals();
  const interrupt = listenForInterrupt(source);
  assert.deepEqual([interrupt.signal.aborted, listeners.size], [false, 1]);
  press();
  assert.deepEqual([interrupt.signal.aborted, listeners.size], [true, 0]);
  assert.equal(interrupt.unheard(() => 7), 7);
  assert.equal(listeners.size, 0);
  interrupt.end();
});

pure("listenForInterrupt() leaves Ctrl-C to the system while a question blocks", () => {
  const { listeners, source } = signals();
  const interrupt = listenForInterrupt(source);
  assert.equal(interrupt.unheard(() => listeners.size), 0);
  assert.equal(listeners.size, 1);
  assert.throws(() =>
    interrupt.unheard(() => {
      throw new RangeError("no terminal");
    }), /no terminal/);
  assert.equal(listeners.size, 1);
  interrupt.end();
  assert.equal(listeners.size, 0);
});
