import { existsSync, linkSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { MIGRATIONS } from '../../lib/db/schema.ts';
import { beginDraft, type Draft, discard, syncDirectoryBeside } from './durable.ts';
import { READY_MADE } from './ready-made-file.ts';

/** The time that the build gives the migrations: `Vault!`, which is no part of their texts, as the build makes sure. */
export const READY_MADE_AT = 0x5661756c7421;

/** A ready-made database that is on its way to the disk. */
export interface Laying {
  /** Gives it its name, unless there is something by then. */
  finish(): Promise<Laid>;
}

/** What came of it. */
export interface Laid {
  /** How many migrations it brings; 0 where none was put, and then the caller makes the tables. */
  readonly migrations: number;
  /** Until then a loss of power could take the file away. */
  readonly durable: Promise<void>;
}

/**
 * Begins to put a database whose tables are up to date at `path`, where there is nothing yet: making the tables takes a
 * first start several times as long. The disk takes it while the program goes on. The file is complete and on the disk,
 * or absent.
 */
export function beginReadyMade(path: string, now: number, source: string | undefined = READY_MADE): Laying {
  dropSecondNames(path);
  const draft = draftReadyMade(path, now, source);
  return {
    async finish() {
      if (draft === undefined) return NONE;
      try {
        await draft.synced;
        // A link never replaces what another process has put there meanwhile.
        linkSync(draft.name, path);
        draft.drop();
      } catch {
        // There is a file now, or the disk takes none: who opens the database finds the same and explains it.
        draft.drop();
        return NONE;
      }
      return { migrations: MIGRATIONS.length, durable: syncDirectoryBeside(dirname(path)).catch(() => undefined) };
    },
  };
}

const NONE: Laid = { migrations: 0, durable: Promise.resolve() };

function draftReadyMade(path: string, now: number, source: string | undefined): Draft | undefined {
  // SQLite would take the log of a file that is gone for the new one's.
  if (source === undefined || ['', '-wal', '-shm', '-journal'].some((end) => existsSync(path + end))) return undefined;
  const bytes = date(Bun.zstdDecompressSync(readFileSync(source)), now);
  try {
    return beginDraft(path, bytes);
  } catch {
    // The disk takes none.
    return undefined;
  }
}

/**
 * Removes the draft of a process that was killed after it gave the file its name: a second name of the live database,
 * which people would take for a copy.
 */
function dropSecondNames(path: string): void {
  attempt(() => {
    const file = statSync(path, { bigint: true });
    if (file.nlink <= 1n) return;
    const own = `${basename(path)}.`;
    for (const name of readdirSync(dirname(path))) {
      if (!name.startsWith(own) || !DRAFT.test(name.slice(own.length))) continue;
      const other = statSync(join(dirname(path), name), { bigint: true });
      if (other.ino === file.ino && other.dev === file.dev) discard(join(dirname(path), name));
    }
  });
}

/** What `draftOf` adds to a path. */
const DRAFT = /^\d+\.[0-9a-f-]{36}$/;

/** Tidying up: where it fails, the opening of the database is what explains the disk. */
function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // The caller goes on.
  }
}

/** Writes `now` where the build left the marker: in SQLite both are 6 bytes, the greatest first. */
function date(image: Buffer, now: number): Buffer {
  const marker = sixBytes(READY_MADE_AT);
  const time = sixBytes(now);
  for (let at = image.indexOf(marker); at >= 0; at = image.indexOf(marker, at)) time.copy(image, at);
  return image;
}

function sixBytes(time: number): Buffer {
  const bytes = Buffer.alloc(6);
  bytes.writeUIntBE(time, 0, 6);
  return bytes;
}
