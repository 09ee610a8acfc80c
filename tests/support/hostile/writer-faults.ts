import { existsSync, readFileSync, rmSync } from 'node:fs';

// Preloaded by a vault under test, and by its writer: at its next order or answer that does what the file says which
// the variable names. Its code is the real one.

/** What the writer does once: before it runs an order, or with an answer, which it gives after the commit. */
export type WriterFault =
  | 'exit before'
  | 'exit after'
  | 'throw after'
  | 'reject after'
  | 'garble after'
  | 'twice'
  | `hang ${number}`;

/** The variable with the path of the file, which is there until the fault is taken. */
export const WRITER_FAULT = 'TEST_WRITER_FAULT';

/** The variable by which a vault's waits of more than ten seconds take a hundredth of their time. */
export const HASTE = 'TEST_HASTE';

type Post = (message: unknown) => void;

declare const self: { postMessage: Post; addEventListener(type: 'message', listener: (event: object) => void): void };

if (process.env[HASTE] !== undefined && Bun.isMainThread) hasten();

const path = process.env[WRITER_FAULT];
if (path !== undefined) {
  if (Bun.isMainThread) preloadInWorkers();
  else misbehave(path);
}

function hasten(): void {
  const real = globalThis.setTimeout;
  const hasty = (fn: () => void, ms = 0) => real(fn, ms > 10_000 ? ms / 100 : ms);
  globalThis.setTimeout = Object.assign(hasty as typeof real, real);
}

function preloadInWorkers(): void {
  const Real = globalThis.Worker;
  globalThis.Worker = class extends Real {
    constructor(url: string | URL, options: WorkerOptions = {}) {
      super(url, { ...options, preload: [import.meta.path] } as WorkerOptions);
    }
  };
}

function misbehave(file: string): void {
  const post = self.postMessage.bind(self);
  // Before the writer's own: it has not been loaded.
  self.addEventListener('message', ({ data }: { data?: unknown }) => {
    if (isOrder(data) && take(file, (fault) => fault === 'exit before')) process.exit(3);
  });
  self.postMessage = (message) => {
    const fault = isOrder(message) ? take(file, (one) => one !== 'exit before') : undefined;
    if (fault === 'exit after') process.exit(3);
    if (fault === 'throw after') throw new Error('thrown by a test');
    if (fault === 'reject after') return void Promise.reject(new Error('rejected by a test'));
    if (fault === 'garble after') return post('{"no');
    if (fault?.startsWith('hang')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(fault.slice(5)));
    if (fault === 'twice') post(message);
    post(message);
  };
}

/** Opening and closing go undisturbed. */
function isOrder(message: unknown): boolean {
  return typeof message === 'string' || Array.isArray(message);
}

const SAID = /^(?:(?:exit|throw|reject|garble) after|exit before|twice|hang \d+)$/;

/** The order in the file, which is then taken. Throws for one that is unknown, as half an order would be. */
function take(file: string, suits: (fault: string) => boolean): string | undefined {
  if (!existsSync(file)) return undefined;
  const fault = readFileSync(file, 'utf8');
  if (!SAID.test(fault)) throw new Error(`no fault of the writer: ${JSON.stringify(fault)}`);
  if (!suits(fault)) return undefined;
  rmSync(file);
  return fault;
}
