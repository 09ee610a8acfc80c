import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mmap } from 'bun';
import { type Program, startProgram } from '../support/program.ts';
import { CLOCK_FILE } from './turned-clock.ts';

/** A vault process that comes back whenever it ends, as under any service manager. */
export interface Member {
  readonly name: string;
  /** Where it listens now, or where nothing does. */
  url(): string;
  /** Undefined while it is down. */
  pid(): number | undefined;
  /** How often it ended without a signal of ours. */
  ownEndings(): number;
  /** Whether it was stopped with SIGSTOP. */
  isPaused: boolean;
  /** Whether its clock is off, or was within the last seconds. */
  isOff(): boolean;
  /** Sends a signal; resolves with the exit code when the process has ended. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | undefined>;
  /** Down until the returned function is called. */
  hold(): () => void;
  pause(): void;
  resume(): void;
  turnClock(ms: number): void;
  /** So much time passes, as for all others: its clock is not off. */
  passTime(ms: number): void;
  /** The lines of its log that have a word. */
  said(word: string): string;
  /** Ends it for good; the exit code of the last process. */
  stop(): Promise<number | undefined>;
}

/** Where it runs, with what settings and which program. */
export interface MemberOptions {
  readonly name: string;
  readonly dir: string;
  readonly vars: Readonly<Record<string, string>>;
  readonly binary: string;
}

/** Where nothing listens. */
export const NOWHERE = 'http://127.0.0.1:1';
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
    url: () => program?.url ?? NOWHERE,
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
