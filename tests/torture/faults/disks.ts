import { existsSync, renameSync } from 'node:fs';
import { canSpoilDisk, DISK_FAULTS, spoilDisk } from '../../support/hostile/disk-faults.ts';
import { type Fault, type FaultPlace, fault } from '../../support/torture/faults/fault.ts';
import { pick } from '../../support/torture/ledger.ts';
import type { World } from '../worlds.ts';

const FILES = ['', '-wal', '-shm'];
const isPossible = await canSpoilDisk();

/** What happens to the disk that the file is on. */
export function diskFaults({ world }: FaultPlace<World>): Fault[] {
  const { members, disk, file } = world;
  if (disk === undefined || file === undefined) return [];
  const kinds = ['syncs fail', 'writes fail', 'the disk is full', 'every sync is late'] as const;
  return [
    ...kinds.map((kind) =>
      fault(
        `${kind} (${DISK_FAULTS[kind].split(':')[1]})`,
        async (draw) => {
          const member = pick(draw, members);
          const pid = member.pid();
          if (pid === undefined) return false;
          const bad = await spoilDisk(pid, kind).catch(() => undefined);
          if (bad === undefined) return false;
          await Bun.sleep(500 + draw.below(2_000));
          // At times it dies of it.
          if (draw.below(3) === 0) await member.end('SIGKILL');
          await bad.heal();
          return true;
        },
        isPossible ? undefined : 'strace may not be used',
      ),
    ),
    fault(
      'the disk is filled to the last byte',
      async (draw) => {
        disk.fill();
        await Bun.sleep(3_000 + draw.below(3_000));
        if (draw.below(3) === 0) await pick(draw, members).end('SIGKILL');
        disk.clear();
      },
      disk.isSmall ? undefined : 'no small disk may be mounted',
    ),
    fault('the files vanish and come back', async (draw) => {
      const names = FILES.map((end) => `${file}${end}`).filter((path) => existsSync(path));
      for (const name of names) renameSync(name, `${name}.gone`);
      await Bun.sleep(500 + draw.below(2_000));
      // What wrote into them meanwhile ends, and so does what was begun in their place.
      const holds = members.map((member) => member.hold());
      await Promise.all(members.map((member) => member.end('SIGTERM')));
      for (const name of names) renameSync(`${name}.gone`, name);
      for (const release of holds) release();
    }),
  ];
}
