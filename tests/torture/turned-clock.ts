import { mmap } from 'bun';

// Preloaded by a vault under torture: its wall clock is off by what a file says, which another process may change at any
// moment. Its code is the real one.

/** The variable with the path of a file of eight bytes: milliseconds as a double. */
export const CLOCK_FILE = 'TORTURE_CLOCK_FILE';

const path = process.env[CLOCK_FILE];
if (path !== undefined) turn(path);

function turn(file: string): void {
  const bytes = mmap(file, { shared: true });
  const offset = new Float64Array(bytes.buffer, bytes.byteOffset, 1);
  const real = Date.now.bind(Date);
  const now = () => real() + (offset[0] ?? 0);
  globalThis.Date = new Proxy(Date, {
    construct: (target, given) => Reflect.construct(target, given.length === 0 ? [now()] : given),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  });
}
