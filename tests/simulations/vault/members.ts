import { WORK_INTERVAL_MS, WORK_TURN_MS } from '../../../commands/serve/serve.ts';
import type { Clock } from '../../../lib/base/clock.ts';
import type { LogEntry } from '../../../lib/base/log.ts';
import type { Env } from '../../../lib/context.ts';
import type { Database } from '../../../lib/db/database.ts';
import { createVault, type Vault } from '../../../routes/index.ts';
import type { Draw } from '../../support/draw.ts';
import type { Member } from '../../support/torture/place.ts';
import { timedBy } from '../../support/vault.ts';
import type { Disk } from './disk.ts';
import type { VirtualTime } from './time.ts';
import type { Upstreams } from './upstreams.ts';

/** What a simulated process runs on. */
export interface Ground {
  readonly time: VirtualTime;
  readonly draw: Draw;
  readonly disk: Disk;
  readonly upstreams: Upstreams;
  readonly vars: Readonly<Record<string, string>>;
  /** `http` where the database is a server. */
  readonly protocol: string | undefined;
  readonly say: (line: string) => void;
}

/** One run of a vault, from its start to its death. Whatever is given to it passes `give`: it may be stopped, or dead. */
interface Life {
  readonly vault: Vault;
  isDead: boolean;
  /** What it is given once it goes on. */
  readonly held: (() => void)[];
  /** Ends the requests that it has not answered. */
  readonly cut: Set<() => void>;
  isEnding: boolean;
  readonly ended: PromiseWithResolvers<number>;
}

const [START_MS, PAUSE_MS, OFF_MS, GRACE_MS] = [200, 50, 5_000, 5_000];
/** Where the vaults think they are. */
export const BASE_URL = 'http://localhost:8787';

/** Starts a process that comes back whenever it ends. */
export function startMember(name: string, ground: Ground): Member {
  const { time, draw, say } = ground;
  const entries: LogEntry[] = [];
  let life: Life | undefined;
  let [isOver, holds, lives] = [false, 0, 0];
  let clock = { ms: 0, setAt: Number.NEGATIVE_INFINITY };
  let offset = 0;

  const give = (to: Life, fn: () => void) => {
    if (to.isDead) return;
    if (member.isPaused) to.held.push(fn);
    else fn();
  };

  /** What is outside of a life, for it. */
  function envOf(of: () => Life): Env {
    const own: Clock = {
      now: () => time.wall() + offset,
      monotonic: () => time.now(),
      after: (ms, fn) => time.after(ms, () => give(of(), fn)),
    };
    const given =
      <Args extends readonly unknown[], T>(ask: (...args: Args) => Promise<T>) =>
      (...args: Args): Promise<T> =>
        new Promise((resolve, reject) => {
          ask(...args).then(
            (value) => give(of(), () => resolve(value)),
            (error) => give(of(), () => reject(error)),
          );
        });
    const { upstreams, vars } = ground;
    return {
      vars,
      database: timedBy(
        { monotonic: time.wall },
        databaseOf(ground, (fn) => give(of(), fn)),
      ),
      clock: own,
      random: (length) => new Uint8Array(draw.bytes(length)),
      fetch: given(upstreams.fetch),
      webhookFetch: given(upstreams.webhookFetch),
      mail: { send: given(upstreams.post.send) },
      log: (entry) => void entries.push(entry),
    };
  }

  async function live(): Promise<void> {
    while (!isOver) {
      await time.sleep(PAUSE_MS + draw.below(START_MS));
      if (holds > 0 || isOver) continue;
      const begun: Life = {
        vault: createVault(envOf(() => begun)),
        isDead: false,
        held: [],
        cut: new Set(),
        isEnding: false,
        ended: Promise.withResolvers(),
      };
      life = begun;
      lives++;
      say(`${name} started`);
      const work = () => {
        if (begun.isDead || begun.isEnding) return;
        void begun.vault.work(time.wall() + offset + WORK_TURN_MS);
        time.after(WORK_INTERVAL_MS, () => give(begun, work));
      };
      work();
      await begun.ended.promise;
      life = undefined;
      member.isPaused = false;
    }
  }

  function die(of: Life, code: number): void {
    if (of.isDead) return;
    of.isDead = true;
    for (const cut of of.cut) cut();
    say(`${name} ended with ${code}`);
    of.ended.resolve(code);
  }

  /** As `serve` does: the streams end, what is under way is answered, and the database is left. */
  async function close(of: Life): Promise<void> {
    of.isEnding = true;
    of.vault.endStreams();
    for (const end = time.now() + GRACE_MS; of.cut.size > 0 && time.now() < end; ) await time.sleep(20);
    await of.vault.close();
    die(of, 0);
  }

  const member: Member = {
    name,
    fetch: (path, init = {}, limitMs) => {
      const to = life;
      if (to === undefined || to.isEnding) return Promise.reject(new Error('nothing listens'));
      return request(ground, { life: to, give: (fn) => give(to, fn) }, { path, init, limitMs });
    },
    pid: () => (life && !life.isEnding ? lives : undefined),
    ownEndings: () => 0,
    isPaused: false,
    isOff: () => clock.ms !== 0 || time.now() < clock.setAt + OFF_MS,
    async end(signal) {
      const ending = life;
      if (ending === undefined) return undefined;
      if (signal === 'SIGKILL') die(ending, 137);
      else if (!ending.isEnding) void close(ending);
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
      for (const fn of life?.held.splice(0) ?? []) fn();
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

/** The way from a process to the database and back. */
function databaseOf({ disk, time, protocol }: Ground, give: (fn: () => void) => void): Database {
  const ask = (...asked: Parameters<Disk['run']>) =>
    new Promise<ReturnType<Disk['run']>>((resolve, reject) => {
      const [there, back] = disk.delays();
      const answer = () => {
        let settle: () => void;
        try {
          const results = disk.run(...asked);
          settle = () => resolve(results);
        } catch (error) {
          settle = () => reject(error);
        }
        time.after(back, () => give(settle));
      };
      time.after(there, () => give(answer));
    });
  return {
    ...(protocol === undefined ? {} : { protocol }),
    execute: async (statement) => (await ask([statement], 'alone'))[0] as Awaited<ReturnType<Database['execute']>>,
    batch: (statements, mode) => ask(statements, mode),
  };
}

interface Asked {
  readonly path: string;
  readonly init: RequestInit;
  readonly limitMs: number | undefined;
}

/** A request of a client, which has no answer where the process dies first. */
function request(
  { time, draw }: Ground,
  { life, give }: { readonly life: Life; readonly give: (fn: () => void) => void },
  { path, init, limitMs }: Asked,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const way = () => draw.below(4);
    const cut = () =>
      void time.after(
        way(),
        end(() => reject(new Error('the connection broke'))),
      );
    const late = limitMs === undefined ? () => {} : time.after(limitMs, () => cut());
    const end = (fn: () => void) => () => {
      life.cut.delete(cut);
      late();
      fn();
    };
    life.cut.add(cut);
    const { signal, ...rest } = init;
    const length = typeof init.body === 'string' ? { 'Content-Length': String(init.body.length) } : {};
    const headers = { ...(init.headers as Record<string, string>), ...length };
    const serve = async () => {
      const response = await life.vault.fetch(new Request(BASE_URL + path, { ...rest, headers }), {
        peer: '127.0.0.1',
      });
      const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
      const whole = isStream ? undefined : await response.text();
      const { status, headers: answered } = response;
      give(() => {
        time.after(
          way(),
          end(() => {
            if (whole !== undefined) resolve(new Response(whole === '' ? null : whole, { status, headers: answered }));
            else
              resolve(
                new Response(streamed(life, response, { time, draw, signal, give }), { status, headers: answered }),
              );
          }),
        );
      });
    };
    time.after(way(), () => give(() => void serve()));
  });
}

interface Reading {
  readonly time: VirtualTime;
  readonly draw: Draw;
  readonly signal: AbortSignal | null | undefined;
  readonly give: (fn: () => void) => void;
}

/** The stream as its reader gets it: at times late, and cut off where the process dies. */
function streamed(life: Life, { body }: Response, { time, draw, signal, give }: Reading): ReadableStream<Uint8Array> {
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  return new ReadableStream<Uint8Array>({
    start(controller) {
      let isOver = false;
      const over = (end: () => void) => () => {
        if (isOver) return;
        isOver = true;
        life.cut.delete(cut);
        end();
      };
      const cut = over(() => controller.error(new Error('the connection broke')));
      life.cut.add(cut);
      signal?.addEventListener('abort', () => {
        cut();
        void reader.cancel();
      });
      const next = () => {
        if (isOver) return;
        reader.read().then(({ done, value }) => {
          time.after(draw.below(draw.below(4) === 0 ? 200 : 3), () =>
            give(() => {
              if (done) over(() => controller.close())();
              else if (!isOver) {
                controller.enqueue(value);
                next();
              }
            }),
          );
        }, cut);
      };
      next();
    },
  });
}
