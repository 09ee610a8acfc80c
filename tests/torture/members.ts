import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mmap } from 'bun';
import { type Program, startProgram } from '../support/program.ts';
import type { Member } from '../support/torture/place.ts';
import { CLOCK_FILE } from './turned-clock.ts';

/** Where it runs, with what settings and which program. */
export interface MemberOptions {
  readonly name: string;
  readonly dir: string;
  readonly vars: Readonly<Record<string, string>>;
  readonly binary: string;
}

/** Where nothing listens. */
const NOWHERE = 'http://127.0.0.1:1';
const PAUSE_MS = 50;
/** A clock that was set right counts as off for so long: requests and turns that began before are under way. */
const OFF_MS = 5_000;

/** Starts one and waits until it listens. */
export async function startMember({ name, dir, vars, binary }: MemberOptions): Promise<Member> {
  const clockFile = join(dir, `clock-${name}`);
  writeFileSync(clockFile, new Uint8Array(8));
  const { buffer, byteOffset } = mmap(clockFile, { shared: true });
  const offset = new Float64Array(buffer, byteOffset, 1);
  const preload = join(import.meta.dir, 'turned-clock.ts');
  let program: Program | undefined;
  let [isOver, holds, ours, ownEndings] = [false, 0, false, 0];
  let clock = { ms: 0, setAt: Number.NEGATIVE_INFINITY };
  const first = Promise.withResolvers<void>();

  async function live(): Promise<void> {
    while (!isOver) {
      if (holds > 0) await Bun.sleep(PAUSE_MS);
      else await once();
    }
  }

  async function once(): Promise<void> {
    ours = false;
    const started = await startProgram({ ...vars, [CLOCK_FILE]: clockFile }, { cwd: dir, binary, preload }).catch(note);
    if (started === undefined) return Bun.sleep(PAUSE_MS);
    program = started;
    first.resolve();
    await started.exited;
    program = undefined;
    member.isPaused = false;
    if (!ours) ownEndings++;
    if (!isOver) await Bun.sleep(PAUSE_MS);
  }

  function note(): undefined {
    ownEndings++;
  }

  async function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | undefined> {
    const ending = program;
    ours = true;
    return ending?.stop(signal);
  }

  const member: Member = {
    name,
    fetch(path, init = {}, limitMs) {
      const signal = limitMs === undefined ? {} : { signal: AbortSignal.timeout(limitMs) };
      return fetch((program?.url ?? NOWHERE) + path, { ...init, ...signal });
    },
    pid: () => program?.pid,
    ownEndings: () => ownEndings,
    isPaused: false,
    isOff: () => clock.ms !== 0 || performance.now() < clock.setAt + OFF_MS,
    end,
    hold() {
      holds++;
      return () => void holds--;
    },
    pause() {
      if (program) process.kill(program.pid, 'SIGSTOP');
      member.isPaused = program !== undefined;
    },
    resume() {
      if (program) process.kill(program.pid, 'SIGCONT');
      member.isPaused = false;
    },
    turnClock(ms) {
      clock = { ms, setAt: performance.now() };
      offset[0] = ms;
    },
    passTime(ms) {
      offset[0] = ms;
    },
    said: (word) =>
      (program?.output() ?? '')
        .split('\n')
        .filter((line) => line.includes(word))
        .join('\n'),
    async stop() {
      isOver = true;
      member.resume();
      const code = await end('SIGTERM');
      await living;
      return code;
    },
  };
  const living = live();
  await first.promise;
  return member;
}
