import { closeSync, existsSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import type { Draw } from '../../support/draw.ts';
import { canSpoilDisk } from '../../support/hostile/disk-faults.ts';
import { type Fault, type FaultPlace, fault } from '../../support/torture/faults/fault.ts';
import type { World } from '../worlds.ts';

const isPossible = await canSpoilDisk();
/** What a disk writes whole or not at all. */
const SECTOR = 512;
const TRIES = 8;
/** Each sync is late by so much: the power mostly goes between a write and its sync. */
const SYNC_US = 30_000;

/** A piece of a file that was written and not synced when the power went. */
export interface Unsynced {
  readonly path: string;
  readonly offset: number;
  readonly length: number;
}

/**
 * The power goes: all processes end at once, and of what was not synced some sectors were written, others not, others
 * hold rubbish. The system calls are recorded for a moment before.
 */
export function powerFaults({ world, monitor }: FaultPlace<World>): Fault[] {
  const { members, file } = world;
  if (file === undefined) return [];
  /** Whether something was under way: a disk that is fast is seldom caught in the midst of a commit. */
  const cut = async (draw: Draw): Promise<boolean> => {
    for (let tries = 0; tries < TRIES; tries++) {
      if (await cutOnce(draw)) return true;
      await monitor.untilReady('the power went');
    }
    return false;
  };
  const cutOnce = async (draw: Draw): Promise<boolean> => {
    const pids = members.flatMap((member) => member.pid() ?? []);
    const records = await Promise.all(pids.map((pid) => record(pid, `${file}.calls-${pid}`)));
    await Bun.sleep(300 + draw.below(1_500));
    const holds = members.map((member) => member.hold());
    await Promise.all(members.map((member) => member.end('SIGKILL')));
    const calls = await Promise.all(records.map((one) => one.end()));
    const lost = unsynced(calls.join('\n')).filter(({ path }) => path === file || path === `${file}-wal`);
    for (const one of lost) tear(one, draw);
    // The index of the log is memory.
    rmSync(`${file}-shm`, { force: true });
    for (const release of holds) release();
    return lost.length > 0;
  };
  return [fault('the power goes and tears writes', cut, isPossible ? undefined : 'strace may not be used')];
}

async function record(pid: number, path: string) {
  const calls = ['-e', 'trace=pwrite64,fsync,fdatasync', '-e', `inject=fsync,fdatasync:delay_enter=${SYNC_US}`];
  const child = Bun.spawn(['strace', '-f', '-ttt', '-y', '-s', '0', '-o', path, '-p', `${pid}`, ...calls], {
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  });
  await child.stderr.getReader().read();
  return {
    async end(): Promise<string> {
      await child.exited;
      const text = readFileSync(path, 'utf8');
      rmSync(path);
      return text;
    },
  };
}

/** What of the recorded writes no sync followed that began after them. */
export function unsynced(calls: string): readonly Unsynced[] {
  const begun = new Map<string, { text: string; at: number }>();
  let open: (Unsynced & { readonly at: number })[] = [];
  const lines = calls.split('\n').map((line) => /^(\d+) +([\d.]+) (.*)$/.exec(line));
  const sorted = lines.flatMap((line) =>
    line ? [{ thread: line[1] ?? '', at: Number(line[2]), text: line[3] ?? '' }] : [],
  );
  for (const { thread, at, text } of sorted.toSorted((a, b) => a.at - b.at)) {
    if (text.endsWith('<unfinished ...>')) {
      begun.set(thread, { text: text.replace(/ *<unfinished \.\.\.>$/, ''), at });
      const write = writeOf(text);
      // Nobody knows how much of it is on the disk.
      if (write) open.push({ ...write, at });
      continue;
    }
    const rest = /^<\.\.\. \w+ resumed>(.*)$/.exec(text)?.[1];
    const first = rest === undefined ? undefined : begun.get(thread);
    const [whole, since] = first ? [first.text + rest, first.at] : [text, at];
    const write = first ? undefined : writeOf(whole);
    if (write) open.push({ ...write, at });
    const synced = /^f(?:data)?sync\(\d+<([^>]*)>\) += 0/.exec(whole)?.[1];
    if (synced !== undefined) open = open.filter((one) => one.path !== synced || one.at >= since);
  }
  return open;
}

function writeOf(text: string): Unsynced | undefined {
  const found = /^pwrite64\(\d+<([^>]*)>, .*, (\d+), (\d+)/.exec(text);
  return found ? { path: found[1] ?? '', length: Number(found[2]), offset: Number(found[3]) } : undefined;
}

function tear({ path, offset, length }: Unsynced, draw: Draw): void {
  if (!existsSync(path)) return;
  const file = openSync(path, 'r+');
  for (let at = offset; at < offset + length; at += SECTOR) {
    const size = Math.min(SECTOR, offset + length - at);
    const kind = draw.below(3);
    if (kind > 0) writeSync(file, kind === 1 ? new Uint8Array(size) : draw.bytes(size), 0, size, at);
  }
  closeSync(file);
}
