import { WORK_INTERVAL_MS, WORK_TURN_MS } from '../../../commands/serve/serve.ts';
import type { LogEntry } from '../../../lib/base/log.ts';
import type { Member } from '../../support/torture/place.ts';
import { beginLife, closeLife, endLife, type Ground, type Life } from './life.ts';
import { request } from './requests.ts';

const [START_MS, PAUSE_MS, OFF_MS] = [200, 50, 5_000];

/** Starts a process that comes back whenever it ends. */
export function startMember(name: string, ground: Ground): Member {
  const { time, draw, say } = ground;
  const entries: LogEntry[] = [];
  let life: Life | undefined;
  let [isOver, holds, lives] = [false, 0, 0];
  let clock = { ms: 0, setAt: Number.NEGATIVE_INFINITY };
  let offset = 0;
  const now = () => time.wall() + offset;

  async function live(): Promise<void> {
    while (!isOver) {
      await time.sleep(PAUSE_MS + draw.below(START_MS));
      if (holds > 0 || isOver) continue;
      const own = { now, isPaused: () => member.isPaused, log: (entry: LogEntry) => void entries.push(entry) };
      const begun = beginLife(ground, own);
      life = begun;
      lives++;
      say(`${name} started`);
      const work = () => {
        if (begun.isDead || begun.isEnding) return;
        void begun.vault.work(now() + WORK_TURN_MS);
        time.after(WORK_INTERVAL_MS, () => begun.give(work));
      };
      work();
      say(`${name} ended with ${await begun.ended.promise}`);
      life = undefined;
      member.isPaused = false;
    }
  }

  const member: Member = {
    name,
    fetch: (path, init = {}, limitMs) => {
      const to = life;
      if (to === undefined || to.isEnding) return Promise.reject(new Error('nothing listens'));
      return request(ground, to, { path, init, limitMs });
    },
    pid: () => (life && !life.isEnding ? lives : undefined),
    ownEndings: () => 0,
    isPaused: false,
    isOff: () => clock.ms !== 0 || time.now() < clock.setAt + OFF_MS,
    async end(signal) {
      const ending = life;
      if (ending === undefined) return undefined;
      if (signal === 'SIGKILL') endLife(ending, 137);
      else if (!ending.isEnding) void closeLife(ending, time);
      return ending.ended.promise;
    },
    hold() {
      holds++;
      return () => void holds--;
    },
    pause() {
      member.isPaused = life !== undefined;
      say(`${name} stops`);
    },
    resume() {
      member.isPaused = false;
      say(`${name} goes on`);
      life?.goOn();
    },
    turnClock(ms) {
      clock = { ms, setAt: time.now() };
      offset = ms;
      say(`the clock of ${name} is off by ${ms / 1000} s`);
    },
    passTime(ms) {
      offset = ms;
    },
    said: (word) =>
      entries
        .map((entry) => JSON.stringify(entry))
        .filter((line) => line.includes(word))
        .join('\n'),
    async stop() {
      isOver = true;
      member.resume();
      const code = await member.end('SIGTERM');
      await living;
      return code;
    },
  };
  const living = live();
  return member;
}
