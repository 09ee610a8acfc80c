// The thread that writes, an entry of its own in the program. Its imports have no effects, and it does nothing before a
// message names the file to open.
import { getPriority, setPriority } from 'node:os';
import { DATABASE_LOCK_TIMEOUT_MS, isDamaged } from '../../lib/db/errors.ts';
import type { Checked } from './check.ts';
import { type Connected, connectAgain, type OpenFile, type Tuning } from './connection.ts';
import { createPrepare, runBatch, runPrepared } from './statements.ts';
import { type ReadOrder, readOrder, toAnswer, toFailure, type WriterOutcome } from './writer-messages.ts';
import type { ToWriter } from './writer-thread.ts';

/** The worker's side of the port. */
declare const self: {
  onmessage: (event: { readonly data: ToWriter }) => void;
  postMessage(message: unknown): void;
};

let opened: Writer | undefined;

self.onmessage = ({ data }) => {
  if (typeof data === 'string') self.postMessage(opened?.run(data));
  else if ('open' in data) self.postMessage(open(data.open, data.sharesCore));
  else if ('check' in data) self.postMessage(check(data.check));
  else {
    opened?.close();
    self.postMessage({ closed: true });
  }
};

interface Writer {
  /** Runs an order, and answers it. */
  run(order: string): ReturnType<typeof toAnswer>;
  close(): void;
}

/** Opens the file, if it is the one that the reader has open. */
function open(file: OpenFile, sharesCore: boolean) {
  try {
    const connected = connectAgain(file);
    // Only writes wait here.
    connected.connection.run(`PRAGMA busy_timeout = ${DATABASE_LOCK_TIMEOUT_MS}`);
    opened = createWriter(connected, file.tuning);
    if (sharesCore) giveWay(NICENESS_ABOVE_LOOP);
    return { ready: true };
  } catch (error) {
    return { failure: toFailure(error) };
  }
}

/**
 * Readers wait for the event loop's thread, writers for the disk: on the only core the loop goes first. A lower
 * priority would lose the thread's share to busy programs beside it. Linux alone counts a thread's niceness for itself.
 * Where the system refuses, only this preference is lost.
 */
function giveWay(niceness: number): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(getPriority() + niceness);
  } catch {}
}

/** Half the weight of the loop's thread. */
const NICENESS_ABOVE_LOOP = 3;

/** Reads the whole file, after all other orders. Answers its damage, if any. */
function check(file: OpenFile): Checked {
  giveWay(NICENESS_OF_CHECK);
  try {
    const { connection } = connectAgain(file);
    try {
      const [[found] = []] = connection.query('PRAGMA quick_check(1)').values();
      return { damage: found === 'ok' ? undefined : String(found) };
    } finally {
      connection.close();
    }
  } catch (error) {
    return isDamaged(error) ? { damage: error.message } : { failure: toFailure(error) };
  }
}

const NICENESS_OF_CHECK = 19;

function createWriter({ connection, checkPlace }: Connected, { checkpoint }: Tuning): Writer {
  const prepare = createPrepare(connection);
  const runOne = ({ sql, args }: ReadOrder['statements'][number]) => runPrepared(prepare(sql), args);

  function outcomeOf({ task, statements }: ReadOrder): WriterOutcome {
    try {
      checkPlace();
      if (task === 'batch') return { results: runBatch(connection, runOne, statements, 'write') };
      const results = statements.map(runOne);
      if (connection.inTransaction) throw new Error('a transaction is one batch');
      return { results };
    } catch (error) {
      if (connection.inTransaction) connection.run('ROLLBACK');
      return { failure: toFailure(error) };
    }
  }

  return {
    run(json) {
      const order = readOrder(json);
      return toAnswer(order.id, outcomeOf(order));
    },
    close() {
      try {
        if (checkpoint !== 'external') connection.run('PRAGMA wal_checkpoint(PASSIVE)');
      } finally {
        connection.close(true);
      }
    },
  };
}
