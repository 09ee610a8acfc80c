import { openDatabase } from '../../commands/storage/database.ts';
import { systemClock } from '../../lib/base/clock.ts';
import { createMetrics } from '../../lib/base/metrics.ts';
import { migrate } from '../../lib/db/migrations.ts';
import { fenceHeld, withRow } from '../../lib/db/row-lock.ts';
import { createStore } from '../../lib/db/store.ts';

/** Another process of the vault's, doing one task on a database; they talk in lines. */
export interface Other {
  /** The next line it prints; throws when it ended instead. */
  line(): Promise<string>;
  /** Every line it has printed that was not asked for, once it has ended. */
  rest(): Promise<string[]>;
  send(line: string): void;
  kill(): Promise<void>;
}

/**
 * Starts a process: `migrate` prints what it applied after one line sent; `append` prints the number of every row once
 * acknowledged; `hold` takes a row, prints its fence and, after one line sent, what its fenced write changed; `lock`
 * keeps the write lock until one line is sent.
 */
export function startOther(task: keyof typeof TASKS, url: string): Other {
  const child = Bun.spawn([process.execPath, import.meta.path, task, url], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const lines = linesOf(child.stdout);
  return {
    async line() {
      const { value, done } = await lines.next();
      if (done) throw new Error(`the process "${task}" ended`);
      return value;
    },
    rest: () => Array.fromAsync(lines),
    send(line) {
      child.stdin.write(`${line}\n`);
      child.stdin.flush();
    },
    async kill() {
      child.kill('SIGKILL');
      await child.exited;
    },
  };
}

async function* linesOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string, undefined> {
  let text = '';
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (text + chunk).split('\n');
    text = lines.pop() ?? '';
    yield* lines;
  }
  return undefined;
}

const APPENDERS = 16;

const TASKS = {
  async migrate(url: string) {
    await told();
    const database = await openDatabase({ url, maxConnections: 1 });
    const applied = await migrate(database, systemClock);
    say(applied.map(({ version }) => version).join());
    database.close();
  },
  async append(url: string) {
    const store = await openStore(url);
    let next = 0;
    const append = async () => {
      for (;;) {
        const number = next++;
        await store.write({
          sql: 'INSERT INTO tallies (name, value) VALUES (:name, :number)',
          args: { name: `row ${number}`, number },
        });
        say(String(number));
      }
    };
    await Promise.all(Array.from({ length: APPENDERS }, append));
  },
  async hold(url: string) {
    const store = await openStore(url);
    await withRow({ db: store, clock: systemClock }, 'key', async (fence) => {
      say(String(fence.fence));
      await told();
      const held = fenceHeld(fence, systemClock.now());
      const write = {
        sql: `UPDATE tallies SET value = value + 1 WHERE name = 'linked_sessions' AND ${held.sql}`,
        args: held.args,
      };
      say(String((await store.write(write))[0]?.rowsAffected));
    });
  },
  async lock(url: string) {
    const { openSqlite } = await import('../../commands/storage/sqlite.ts');
    const database = openSqlite(url.slice('file:'.length));
    await database.execute({ sql: 'BEGIN IMMEDIATE', args: {} });
    say('locked');
    await told();
    await database.execute({ sql: 'COMMIT', args: {} });
    say('free');
  },
};

async function openStore(url: string) {
  const database = await openDatabase({ url, maxConnections: 4 });
  return createStore({ database, clock: systemClock, metrics: createMetrics(), maxConnections: 4 });
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Waits for one line of the starter, and ends with it. */
async function told(): Promise<void> {
  for await (const _ of console) return;
  process.exit(1);
}

if (import.meta.main) {
  const [task, url] = process.argv.slice(2);
  await TASKS[task as keyof typeof TASKS](url as string);
  process.exit(0);
}
