import type { Clock } from '../../../lib/base/clock.ts';
import type { Log } from '../../../lib/base/log.ts';
import type { Database } from '../../../lib/db/database.ts';
import type { Env } from '../../../lib/env.ts';
import { createVault, type Vault } from '../../../routes/index.ts';
import type { Draw } from '../../support/draw.ts';
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

/** What a process has beside its ground. */
export interface Own {
  /** The time of day by its clock. */
  readonly now: () => number;
  readonly isPaused: () => boolean;
  readonly log: Log;
}

/** One run of a vault, from its start to its death. */
export interface Life {
  readonly vault: Vault;
  /** Whatever is given to it passes here: it is held while the process is stopped, and lost once it is dead. */
  give(fn: () => void): void;
  /** Hands over what was held. */
  goOn(): void;
  isDead: boolean;
  /** Ends the requests that it has not answered. */
  readonly cut: Set<() => void>;
  isEnding: boolean;
  readonly ended: PromiseWithResolvers<number>;
}

/** Begins one. */
export function beginLife(ground: Ground, own: Own): Life {
  const held: (() => void)[] = [];
  const give = (fn: () => void) => {
    if (life.isDead) return;
    if (own.isPaused()) held.push(fn);
    else fn();
  };
  const life: Life = {
    vault: createVault(envOf(ground, own, give)),
    give,
    goOn() {
      for (const fn of held.splice(0)) fn();
    },
    isDead: false,
    cut: new Set(),
    isEnding: false,
    ended: Promise.withResolvers(),
  };
  return life;
}

/** It is dead from now on: its requests break, and nothing that it waits for comes. */
export function endLife(life: Life, code: number): void {
  if (life.isDead) return;
  life.isDead = true;
  for (const cut of life.cut) cut();
  life.ended.resolve(code);
}

/** Ends it as `serve` does: the streams end, what is under way is answered, and the database is left. */
export async function closeLife(life: Life, time: VirtualTime): Promise<void> {
  life.isEnding = true;
  life.vault.endStreams();
  for (const end = time.now() + GRACE_MS; life.cut.size > 0 && time.now() < end; ) await time.sleep(20);
  await life.vault.close();
  endLife(life, 0);
}

const GRACE_MS = 5_000;

/** What is outside of a life, for it. */
function envOf(ground: Ground, { now, log }: Own, give: Life['give']): Env {
  const { time, draw, upstreams, vars } = ground;
  const clock: Clock = {
    now,
    monotonic: () => time.now(),
    after: (ms, fn) => time.after(ms, () => give(fn)),
  };
  const given =
    <Args extends readonly unknown[], T>(ask: (...args: Args) => Promise<T>) =>
    (...args: Args): Promise<T> =>
      new Promise((resolve, reject) => {
        ask(...args).then(
          (value) => give(() => resolve(value)),
          (error) => give(() => reject(error)),
        );
      });
  return {
    vars,
    database: timedBy({ monotonic: time.wall }, databaseOf(ground, give)),
    clock,
    random: (length) => new Uint8Array(draw.bytes(length)),
    fetch: given(upstreams.fetch),
    webhookFetch: given(upstreams.webhookFetch),
    mail: { send: given(upstreams.post.send) },
    log,
  };
}

/** The way from a process to the database and back. */
function databaseOf({ disk, time, protocol }: Ground, give: Life['give']): Database {
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
