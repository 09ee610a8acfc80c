/**
 * Has this process, and all that it starts, run on when another wakes (`SCHED_BATCH`, sched(7)). More programs than
 * cores that answer each other take turns all the time, and each turn costs the caches: 5 % of a run.
 */
export function runAsBatch(): void {
  const chrt = Bun.which('chrt');
  if (chrt !== null) Bun.spawnSync([chrt, '-b', '-p', '0', String(process.pid)]);
}
