/** A disk under a running program that fails as a test says, until it is healed. */
export interface BadDisk {
  heal(): Promise<void>;
}

/** What goes wrong at each third sync or write of a page: an I/O error, a full disk, or 200 ms of waiting; or 20 ms at each. */
export const DISK_FAULTS = {
  'syncs fail': 'fsync,fdatasync:error=EIO:when=2+3',
  'the disk is full': 'pwrite64:error=ENOSPC:when=2+3',
  'writes fail': 'pwrite64:error=EIO:when=2+3',
  'syncs are late': 'fsync,fdatasync:delay_enter=200000:when=2+3',
  'every sync is late': 'fsync,fdatasync:delay_enter=20000',
} as const;

/** Spoils the system calls of a process from below, which needs `strace` and the right to use it. */
export async function spoilDisk(pid: number, fault: keyof typeof DISK_FAULTS): Promise<BadDisk> {
  const injection = DISK_FAULTS[fault];
  const calls = injection.split(':')[0] ?? '';
  const child = Bun.spawn(
    ['strace', '-f', '-o', '/dev/null', '-p', `${pid}`, '-e', `trace=${calls}`, '-e', `inject=${injection}`],
    { stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' },
  );
  const said = child.stderr.getReader();
  const first = new TextDecoder().decode((await said.read()).value);
  if (!first.includes('attached')) throw new Error(`strace: ${first}`);
  return {
    async heal() {
      child.kill('SIGINT');
      await child.exited;
    },
  };
}

/** Whether this machine lets a process spoil the calls of another. */
export async function canSpoilDisk(): Promise<boolean> {
  if (!Bun.which('strace')) return false;
  const victim = Bun.spawn(['sleep', '30']);
  try {
    const disk = await spoilDisk(victim.pid, 'syncs fail');
    await disk.heal();
    return true;
  } catch {
    return false;
  } finally {
    victim.kill();
  }
}
